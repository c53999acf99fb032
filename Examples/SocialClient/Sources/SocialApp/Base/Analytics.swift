/// Is told what people do with the app.
protocol Analytics: Sendable { func track(_ event: String) }

/// Somewhere that events go.
protocol AnalyticsSink: Sendable { func receive(_ event: String) }

/// Passes events on to all sinks, unless the person has said no.
struct AppAnalytics: Analytics {
  let sinks: [any AnalyticsSink]
  let settings: Settings

  func track(_ event: String) {
    guard settings[.sharesUsage] else { return }
    for sink in sinks { sink.receive(event) }
  }
}

/// Writes events to the log.
struct LogSink: AnalyticsSink {
  let log: Log
  func receive(_ event: String) { log.write("event \(event)") }
}

/// Counts events.
struct MetricsSink: AnalyticsSink {
  let metrics: Metrics
  func receive(_ event: String) { metrics.increment(event) }
}

/// Decorates the app's analytics: says in which session something was done, without the person's name.
struct SessionAnalytics: Analytics {
  let session: Int
  let next: any Analytics
  func track(_ event: String) { next.track("session.\(event)") }
}
