import Metrics
import Tracing
import UDI

/// Returns an observer that makes a span for each instance that is made or closed, and counts the lookups that find
/// nothing.
///
/// - Parameters:
///   - tracer: Receives the spans. By default, this is the tracer that the program has bootstrapped.
///   - metrics: Receives the counts. By default, these are the metrics that the program has bootstrapped.
public func telemetry(
  tracer: any Tracer = InstrumentationSystem.tracer, metrics: any MetricsFactory = MetricsSystem.factory
) -> UDIObserver {
  UDIObserver { event in
    switch event {
    case .made(let made):
      span("make \(made.typeName)", lasting: made.duration, in: made.fullPath, tracer) { span in
        span.attributes["udi.lifetime"] = made.lifetime
        if !made.askers.isEmpty { span.attributes["udi.for"] = made.askers.joined(separator: " → ") }
      }
    case .closed(let closed):
      span("close \(closed.typeName ?? "context")", lasting: closed.duration, in: closed.fullPath, tracer) { span in
        if let failure = closed.failure { span.setStatus(SpanStatus(code: .error, message: failure)) }
      }
    case .missed(let missed):
      let dimensions = [("type", missed.typeName), ("required", "\(missed.isRequired)")]
      Counter(label: "udi.misses", dimensions: dimensions, factory: metrics).increment()
    @unknown default: break
    }
  }
}

/// Makes a span of something that has just ended. It belongs to the span of the task: the request's, for example.
private func span(
  _ name: String, lasting duration: Duration, in path: [String], _ tracer: some Tracer,
  _ describe: (any Span) -> Void
) {
  let end = DefaultTracerClock.now.nanosecondsSinceEpoch
  let (seconds, attoseconds) = duration.components
  let start = end - UInt64(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  let span = tracer.startSpan(name, at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start))
  span.attributes["udi.context"] = path.joined(separator: " / ")
  describe(span)
  span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end))
}
