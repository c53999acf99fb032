import Logging

/// Does the same with initialisers only. The library's wiring is compared with this one.
public struct HandWiring: Wiring {
  let store: any NoteStore
  let limits: NoteLimits

  /// Runs an operation with the objects that one request needs.
  public func withScope<Value: Sendable>(
    of request: RequestIdentity, logger: Logger, _ operation: (any RequestScope) async throws -> Value
  ) async throws -> Value {
    try await operation(
      HandWiredScope(work: UnitOfWork(request: request, store: store, logger: logger), limits: limits, logger: logger))
  }
}

/// Makes handlers from its own properties.
private struct HandWiredScope: RequestScope {
  let work: UnitOfWork
  let limits: NoteLimits
  let logger: Logger

  func notesHandler() -> any NotesHandling { HandWiredNotesHandler(work: work, limits: limits) }
  func healthHandler() -> any HealthHandling { HandWiredHealthHandler(work: work, logger: logger) }
}

private struct HandWiredNotesHandler: NotesHandling {
  let work: UnitOfWork
  let limits: NoteLimits
}

private struct HandWiredHealthHandler: HealthHandling {
  let work: UnitOfWork
  let logger: Logger
}
