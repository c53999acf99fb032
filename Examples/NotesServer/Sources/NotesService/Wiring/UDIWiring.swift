import Hummingbird
import Logging
import UDI

/// Lets a tree of contexts do the wiring. The root has what the application owns, and what each request's scope makes for
/// itself is registered there, too.
public struct UDIWiring: Wiring {
  private let root: UDIContext

  /// Makes the wiring.
  ///
  /// - Parameter root: The parent of the requests' scopes. It is passed in rather than looked up later, because a
  ///   server's tasks need not be those in which ``UDI/AppContext`` was replaced.
  public init(root: UDIContext = AppContext) { self.root = root }

  /// Runs an operation with a scope below the root that is given the request, and closes the scope afterwards.
  public func withScope<Value: Sendable>(
    of request: RequestIdentity, logger: Logger, _ operation: (any RequestScope) async throws -> Value
  ) async throws -> Value {
    try await root.withScope(tag: request.id, kind: "request") { context in
      context.provide(request)
      context.provide(logger)
      return try await operation(UDIRequestScope(context: context))
    }
  }
}

/// Makes handlers that find what they declare from the request's context.
private struct UDIRequestScope: RequestScope {
  let context: UDIContext

  func notesHandler() -> any NotesHandling { NotesHandler().attached(to: context) }
  func healthHandler() -> any HealthHandling { HealthHandler().attached(to: context) }
}
