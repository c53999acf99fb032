import GRDB
import ServiceLifecycle

/// Does by hand what ``TreeService`` does with a tree: makes everything, runs the server, and closes everything in the
/// reverse order.
public struct HandService: Service {
  private let configuration: NotesConfiguration
  private let server: @Sendable (HandWiring) async throws -> Void

  /// Makes the service.
  ///
  /// - Parameters:
  ///   - configuration: The operator's settings.
  ///   - server: Runs the server with the wiring until it has answered its last request.
  public init(_ configuration: NotesConfiguration, server: @escaping @Sendable (HandWiring) async throws -> Void) {
    self.configuration = configuration
    self.server = server
  }

  /// Makes everything, runs the server, and closes everything.
  ///
  /// - Throws: The first error.
  public func run() async throws {
    let limits = try configuration.readLimits()
    let database = try openDatabase(configuration.storage)
    try await perform {
      let store = try await SQLiteNoteStore.open(database: database, clock: SystemClock())
      try await perform {
        try await server(HandWiring(store: store, limits: limits))
      } close: {
        try await store.close()
      }
    } close: {
      try database.close()
    }
  }

  /// Performs an operation, and closes something after it, however the operation ends.
  private func perform(_ operation: () async throws -> Void, close: () async throws -> Void) async throws {
    do { try await operation() } catch {
      try? await close()
      throw error
    }
    try await close()
  }
}
