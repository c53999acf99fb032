import InMemoryLogging
import Logging
import ServiceLifecycle
import Testing
import UDI

@testable import NotesService

/// The tree and the server as one service.
@Suite(.timeLimit(.minutes(10))) struct TreeServiceTests {
  private struct Broken: Error {}
  private final class Index: Sendable {}

  private let log = InMemoryLogHandler()
  /// What the service itself has logged: the rest is debug output of service groups.
  private var steps: [String] { log.entries.filter { $0.level >= .info }.map { "\($0.message)" } }
  private static let start = ["Opened the database", "Opened the store", "Warmed up"]
  private static let end = ["Closed the store", "Closed the database"]
  private let begun = Gate()

  /// A server that answers until it is to stop.
  private var server: TestServer {
    TestServer { [begun] in
      await begun.open()
      try await gracefulShutdown()
    }
  }

  private func service(_ root: UDIContext, server: TestServer) -> TreeService {
    TreeService(root: root, server: server, logger: logger(log))
  }

  /// Runs a service, and tells it to stop as soon as something has happened.
  private func run(_ service: TreeService, until event: () async throws -> Void) async throws {
    let services = ServiceGroup(services: [service], logger: logger())
    async let running: Void = services.run()
    try await event()
    await services.triggerGracefulShutdown()
    try await running
  }

  @Test func theServerRunsWhileEverythingIsOpen() async throws {
    let root = makeRoot(log)
    let server = TestServer { [begun] in
      #expect(steps == Self.start)
      await begun.open()
      try await gracefulShutdown()
      #expect(root.link((any NoteStore).self) != nil)
      #expect(root.link(NoteLimits.self) != nil)
    }
    try await run(service(root, server: server)) { try await begun.pass() }
    #expect(steps == Self.start + ["Stopping", "Draining"] + Self.end)
    #expect(root.link((any NoteStore).self) == nil)
  }

  @Test func whatCannotBeMadeIsOneError() async {
    let root = makeRoot(log)
    root.register(NoteLimits.self, replaces: true) { () -> NoteLimits in throw Broken() }
    root.register(Index.self) { () async throws -> Index in throw Broken() }
    let service = service(root, server: TestServer { Issue.record("The server ran.") })
    let error = await #expect(throws: UDIWarmUpError.self) { try await service.run() }
    #expect(error?.failures.count == 2)
    #expect(error?.failures.allSatisfy { $0.error is Broken } == true)
    #expect(steps == Self.start.dropLast() + Self.end)
  }

  @Test func aServerThatFailsLeavesNothingOpen() async {
    let service = service(makeRoot(log), server: TestServer { throw Broken() })
    let failure = await #expect(throws: UDIFailure.self) { try await service.run() }
    #expect(failure?.error is Broken)
    #expect(steps.filter { $0 != "Service threw error. Cancelling group." } == Self.start + Self.end)
  }

  @Test func aServerThatEndsByItselfHasFailed() async {
    let service = service(makeRoot(log), server: TestServer {})
    let failure = await #expect(throws: UDIFailure.self) { try await service.run() }
    #expect((failure?.error as? ServiceGroupError)?.errorCode == .serviceFinishedUnexpectedly)
    #expect(steps.suffix(2) == Self.end)
  }

  @Test func aCancelledServerLeavesNothingOpen() async throws {
    let service = service(makeRoot(log), server: server)
    let running = Task { try await service.run() }
    try await begun.pass()
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    #expect(steps == Self.start + ["Draining"] + Self.end)
  }

  @Test func whatCannotBeClosedIsAnError() async throws {
    let root = makeRoot(log)
    root.provide(Index()).onClose { _ in throw Broken() }
    let error = await #expect(throws: UDICloseError.self) {
      try await run(service(root, server: server)) { try await begun.pass() }
    }
    #expect(error?.failures.count == 1)
    #expect(steps == Self.start + ["Stopping", "Draining"] + Self.end + ["Not everything was closed"])
  }

  @Test func theErrorOfTheServerIsThrownAndThatOfClosingIsLogged() async {
    let root = makeRoot(log)
    root.provide(Index()).onClose { _ in throw Broken() }
    let service = service(root, server: TestServer { throw CancellationError() })
    let failure = await #expect(throws: UDIFailure.self) { try await service.run() }
    #expect(failure?.error is CancellationError)
    #expect(log.entries.last?.error is UDICloseError)
  }

  @Test func aServerThatDoesNotStopIsLeftBehind() async throws {
    let never = Gate()
    let server = TestServer { try await never.pass() }
    let root = makeRoot(log)
    let service = TreeService(root: root, server: server, logger: logger(log), limit: .zero)
    let error = await #expect(throws: UDICloseError.self) {
      try await run(service) { await never.waitForArrivals(1) }
    }
    #expect(error?.failures.first?.error is UDIUntimelyEnd)
    // Without any time, what the root closes may be left behind, too, and end later.
    #expect(throws: UDITreeError.self) { try root.makeChild(tag: "late") }
    await never.open()
  }

  @Test func stopsWhileItWarmsUp() async throws {
    let never = Gate()
    let root = makeRoot(log)
    root.register(Index.self) {
      try await never.pass()
      return Index()
    }
    try await run(service(root, server: TestServer { Issue.record("The server ran.") })) {
      await never.waitForArrivals(1)
    }
    #expect(throws: UDITreeError.self) { try root.makeChild(tag: "late") }
    #expect(!steps.contains("Warmed up"))
  }
}
