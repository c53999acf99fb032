import UDI

/// What everything else rests on: time, logs, analytics.
struct BaseModule: UDIModule {
  func register(in context: UDIContext) {
    context.register((any WallClock).self) { SystemClock() }
    context.register { IDSource() }
    context.register { Metrics() }
    context.register(using: Log.init(clock:))
    context.register(using: ErrorReports.init(log:ids:))

    // Two sinks, told apart by their names. Whoever wants them all asks with `linkAll`.
    context.register((any AnalyticsSink).self, named: "log", using: LogSink.init(log:))
    context.register((any AnalyticsSink).self, named: "metrics", using: MetricsSink.init(metrics:))
    context.register((any Analytics).self) { context in
      try AppAnalytics(sinks: context.linkAll((any AnalyticsSink).self), settings: context.require())
    }
  }
}
