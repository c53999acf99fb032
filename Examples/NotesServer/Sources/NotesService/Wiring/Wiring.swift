import Logging

/// Separates what the service does from who makes the objects that do it.
///
/// Routes, handlers, store and errors are the same with ``UDIWiring`` and with ``HandWiring``.
public protocol Wiring: Sendable {
  /// Runs an operation with a scope that belongs to one request only, and removes the scope however the operation ends.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - logger: The request's logger.
  ///   - operation: What to do with the scope.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws, or an error if the scope cannot be made.
  func withScope<Value: Sendable>(
    of request: RequestIdentity, logger: Logger, _ operation: (any RequestScope) async throws -> Value
  ) async throws -> Value
}

/// Makes the handlers of one request.
public protocol RequestScope: Sendable {
  /// Makes the handler of `/notes`.
  func notesHandler() -> any NotesHandling
  /// Makes the handler of `/health`.
  func healthHandler() -> any HealthHandling
}
