import Logging
import Synchronization
import UDI

@testable import NotesService

/// Remembers objects weakly, and says which ones are still alive.
final class Survivors: Sendable {
  private struct Reference: Sendable {
    weak let object: (any AnyObject & Sendable)?
  }

  private let references = Mutex<[Reference]>([])

  func watch(_ object: any AnyObject & Sendable) {
    references.withLock { $0.append(Reference(object: object)) }
  }

  var watched: Int { references.withLock { $0.count } }
  var alive: Int { references.withLock { $0.count { $0.object != nil } } }
}

/// Wires as the library does, and watches the objects of each request.
struct WatchingWiring: Wiring {
  let base: UDIWiring
  let survivors: Survivors

  func withScope<Value: Sendable>(
    of request: RequestIdentity, logger: Logger, _ operation: (any RequestScope) async throws -> Value
  ) async throws -> Value {
    try await base.withScope(of: request, logger: logger) { scope in
      try await operation(WatchingScope(base: scope, survivors: survivors))
    }
  }
}

private struct WatchingScope: RequestScope {
  let base: any RequestScope
  let survivors: Survivors

  func notesHandler() -> any NotesHandling {
    let handler = base.notesHandler()
    survivors.watch(handler.work)
    if let object = handler as? any UDIObject { watch(object) }
    return handler
  }

  func healthHandler() -> any HealthHandling { base.healthHandler() }

  private func watch(_ object: any UDIObject) {
    // A handler cannot be watched from many threads. But only the handler holds its attachment, and the attachment can
    // be watched.
    survivors.watch(object._attachedContext)
    if let context = object.attachedContext { survivors.watch(context) }
  }
}
