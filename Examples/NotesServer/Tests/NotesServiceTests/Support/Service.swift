import Hummingbird
import HummingbirdTesting
import InMemoryLogging
import Logging
import Testing
import UDI

@testable import NotesService

/// Which wiring the service under test uses. Clients must not notice a difference.
enum WiringUnderTest: String, CaseIterable, Sendable {
  case udi, hand
}

/// Runs the service with a tree of the test's own.
///
/// - Parameters:
///   - setup: In process, or behind a socket.
///   - root: The root of that tree. What a test has put into it replaces what the application would use.
///   - log: Where the log goes.
///   - test: What to do with the service.
func withService<Value: Sendable>(
  _ setup: TestingSetup = .router, in root: UDIContext, log: InMemoryLogHandler = InMemoryLogHandler(),
  _ test: @escaping @Sendable (any TestClientProtocol) async throws -> Value
) async throws -> Value {
  let application = withAppContext(root) {
    makeApplication(NotesConfiguration(), wiring: UDIWiring(), logger: logger(log))
  }
  try await root.warmUp()
  let value = try await application.test(setup) { client in try await test(client) }
  // Nothing is left of the requests.
  #expect(root.children.isEmpty)
  try await root.close()
  return value
}

/// Runs the service with either wiring and a clock that stands still.
func withService<Value: Sendable>(
  wiring: WiringUnderTest, _ test: @escaping @Sendable (any TestClientProtocol) async throws -> Value
) async throws -> Value {
  switch wiring {
  case .udi:
    let root = makeRoot()
    root.register((any WallClock).self, replaces: true) { FixedClock() }
    return try await withService(in: root, test)
  case .hand:
    let store = try await SQLiteNoteStore.open(database: openDatabase(.memory), clock: FixedClock())
    let application = makeApplication(
      NotesConfiguration(), wiring: HandWiring(store: store, limits: NoteLimits()), logger: logger())
    return try await application.test(.router) { client in try await test(client) }
  }
}

/// A root like the application's, with the notes in memory.
///
/// - Parameter log: Where what is opened and closed is logged.
func makeRoot(_ log: InMemoryLogHandler = InMemoryLogHandler()) -> UDIContext {
  let root = UDIContext(tag: "Test")
  root.install(AppModule(NotesConfiguration(), logger: logger(log)))
  return root
}

func logger(_ log: InMemoryLogHandler = InMemoryLogHandler()) -> Logger {
  Logger(label: "Test", factory: { _ in log })
}
