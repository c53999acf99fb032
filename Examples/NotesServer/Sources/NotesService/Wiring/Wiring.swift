import Logging

/// The seam between what the service does and who makes the objects that do it.
///
/// Routes, handlers, store and errors stand on the one side and are the same whatever is on the other: ``UDIWiring`` or ``HandWiring``.
public protocol Wiring: Sendable {
  /// The notes, which the application closes in the end.
  var store: any NoteStore { get }

  /// Runs an operation with a scope that belongs to one request alone and is gone afterwards, however the operation ends.
  ///
  /// - Parameters:
  ///   - request: Which request it is.
  ///   - logger: The request's logger.
  ///   - operation: What to do in the scope.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws, or why there is no scope.
  func withScope<Value: Sendable>(
    of request: RequestIdentity, logger: Logger, _ operation: (any RequestScope) async throws -> Value
  ) async throws -> Value
}

/// What makes the handlers of one request.
public protocol RequestScope: Sendable {
  /// Makes the handler of `/notes`.
  func notesHandler() -> any NotesHandling
  /// Makes the handler of `/health`.
  func healthHandler() -> any HealthHandling
}
