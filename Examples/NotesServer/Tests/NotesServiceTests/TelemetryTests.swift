import HTTPTypes
import Hummingbird
import HummingbirdTesting
import InMemoryTracing
import MetricsTestKit
import Testing
import Tracing
import UDI

@testable import NotesService

/// What the service tells tracing and metrics about its tree.
@Suite(.timeLimit(.minutes(10))) struct TelemetryTests {
  @Test func spansForWhatIsMadeAndClosed() async throws {
    let (tracer, metrics) = (InMemoryTracer(), TestMetrics())
    let root = makeRoot()
    try await withObserver(telemetry(tracer: tracer, metrics: metrics)) {
      try await withService(in: root) { client in
        let status = try await client.get("/notes").status
        #expect(status == .ok)
      }
    }
    let spans = tracer.finishedSpans
    let store = try #require(spans.first { $0.operationName == "make NotesService.NoteStore" })
    #expect(store.attributes["udi.context"]?.toSpanAttribute() == .string("Test"))
    #expect(store.attributes["udi.lifetime"]?.toSpanAttribute() == .string("context"))
    #expect(store.endInstant.nanosecondsSinceEpoch >= store.startInstant.nanosecondsSinceEpoch)
    #expect(spans.contains { $0.operationName == "close NotesService.NoteStore" })
    #expect(spans.last?.operationName == "close context")
    #expect(metrics.counterTotal(label: "udi.misses") == 0)
  }

  @Test func spansBelongToTheSpanOfTheTask() throws {
    let tracer = InMemoryTracer()
    let root = makeRoot()
    let parent = tracer.startSpan("request")
    ServiceContext.withValue(parent.context) {
      withObserver(telemetry(tracer: tracer, metrics: TestMetrics())) { _ = root.link((any WallClock).self) }
    }
    parent.end()
    let made = try #require(tracer.finishedSpans.first)
    #expect(made.operationName == "make NotesService.WallClock")
    #expect(made.spanContext.parentSpanID == parent.spanID)
  }

  @Test func missesAreCounted() throws {
    let metrics = TestMetrics()
    withObserver(telemetry(tracer: InMemoryTracer(), metrics: metrics)) {
      let root = UDIContext(tag: "Test")
      _ = root.link((any NoteStore).self)
      _ = try? root.require((any NoteStore).self)
      _ = root.link((any NoteStore).self)
    }
    func count(required: String) -> Int64 {
      metrics.counterTotal(
        label: "udi.misses", dimensions: [("type", "NotesService.NoteStore"), ("required", required)])
    }
    #expect(count(required: "false") == 2 && count(required: "true") == 1)
  }
}
