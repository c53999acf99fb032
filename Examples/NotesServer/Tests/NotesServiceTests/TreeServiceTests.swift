import InMemoryLogging
import ServiceLifecycle
import Synchronization
import Testing
import UDI

@testable import NotesService

/// The tree and the server as one service.
@Suite(.timeLimit(.minutes(10))) struct TreeServiceTests {
  private struct Broken: Error {}
  private final class Index: Sendable {}

  private let log = InMemoryLogHandler()
  private var steps: [String] { log.entries.map { "\($0.message)" } }
  private static let openings = ["Opened the database", "Opened the store"]
  private static let closings = ["Closed the store", "Closed the database", "Closed"]

  @Test func theServerRunsWhileEverythingIsOpen() async throws {
    let root = makeRoot(log)
    try await TreeService(root: root, logger: logger(log)) {
      #expect(steps == Self.openings + ["Warmed up"])
      #expect(root.link((any NoteStore).self) != nil)
      #expect(root.link(NoteLimits.self) != nil)
    }.run()
    #expect(steps == Self.openings + ["Warmed up"] + Self.closings)
    #expect(root.link((any NoteStore).self) == nil)
  }

  @Test func whatCannotBeMadeIsOneError() async {
    let root = makeRoot(log)
    root.register(NoteLimits.self, lifetime: .context, replaces: true) { () -> NoteLimits in throw Broken() }
    root.register(Index.self, lifetime: .context) { () async throws -> Index in throw Broken() }
    let service = TreeService(root: root, logger: logger(log)) { Issue.record("The server ran.") }
    let error = await #expect(throws: UDIWarmUpError.self) { try await service.run() }
    #expect(error?.failures.count == 2)
    #expect(error?.failures.allSatisfy { $0.error is Broken } == true)
    #expect(steps == Self.openings + Self.closings)
  }

  @Test func aServerThatFailsLeavesNothingOpen() async {
    let service = TreeService(root: makeRoot(log), logger: logger(log)) { throw Broken() }
    await #expect(throws: Broken.self) { try await service.run() }
    #expect(steps == Self.openings + ["Warmed up"] + Self.closings)
  }

  @Test func aCancelledServerLeavesNothingOpen() async {
    let never = Gate()
    let service = TreeService(root: makeRoot(log), logger: logger(log)) { try await never.pass() }
    let running = Task { try await service.run() }
    await never.waitForArrivals(1)
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    #expect(steps == Self.openings + ["Warmed up"] + Self.closings)
  }

  @Test func whatCannotBeClosedIsAnError() async {
    let root = makeRoot(log)
    root.provide(Index()) { _ in throw Broken() }
    let service = TreeService(root: root, logger: logger(log)) {}
    let error = await #expect(throws: UDICloseError.self) { try await service.run() }
    #expect(error?.failures.count == 1)
    #expect(steps == Self.openings + ["Warmed up", "Closed the store", "Closed the database"])
  }

  @Test func theErrorOfTheServerIsThrownAndThatOfClosingIsLogged() async {
    let root = makeRoot(log)
    root.provide(Index()) { _ in throw Broken() }
    let service = TreeService(root: root, logger: logger(log)) { throw CancellationError() }
    await #expect(throws: CancellationError.self) { try await service.run() }
    #expect(log.entries.last?.error is UDICloseError)
  }

  @Test func stopsWhileItWarmsUp() async throws {
    let never = Gate()
    let root = makeRoot(log)
    root.register(Index.self, lifetime: .context) {
      try await never.pass()
      return Index()
    }
    let services = ServiceGroup(
      services: [TreeService(root: root, logger: logger(log)) { Issue.record("The server ran.") }],
      logger: logger())
    async let running: Void = services.run()
    await never.waitForArrivals(1)
    await services.triggerGracefulShutdown()
    try await running
    #expect(steps.last == "Closed")
    #expect(!steps.contains("Warmed up"))
  }
}
