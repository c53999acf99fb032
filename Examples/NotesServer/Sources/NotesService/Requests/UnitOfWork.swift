import Logging
import Synchronization

/// One request's use of the store. Every read and write goes through it, and is counted and logged for the request.
public final class UnitOfWork: Sendable {
  /// How often the request used the store.
  struct Tally: Equatable {
    var reads = 0
    var writes = 0
  }

  /// The request whose work this is.
  let request: RequestIdentity
  private let store: any NoteStore
  private let logger: Logger
  private let counted = Mutex(Tally())

  init(request: RequestIdentity, store: any NoteStore, logger: Logger) {
    self.request = request
    self.store = store
    self.logger = logger
  }

  /// The uses so far, including those that failed.
  var tally: Tally { counted.withLock { $0 } }

  func read<Value: Sendable>(_ operation: (any NoteStore) async throws -> Value) async throws -> Value {
    count(\.reads)
    return try await operation(store)
  }

  func write<Value: Sendable>(_ operation: (any NoteStore) async throws -> Value) async throws -> Value {
    count(\.writes)
    return try await operation(store)
  }

  private func count(_ kind: WritableKeyPath<Tally, Int>) {
    let tally = counted.withLock { tally in
      tally[keyPath: kind] += 1
      return tally
    }
    logger.debug("Uses the store", metadata: ["reads": "\(tally.reads)", "writes": "\(tally.writes)"])
  }
}
