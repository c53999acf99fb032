/// An object that is notified when a lookup might give a different answer than before.
///
/// A watcher learns only that something has changed; its consumer then repeats the lookup. This design has three
/// advantages: a slow consumer costs no memory, nothing is looked up unless a consumer waits, and a superfluous
/// notification does no harm.
final class Watcher: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock or by `lock`.

  /// The key that is looked up. The watcher holds it, so that its id cannot be given to another key.
  let key: KeyIdentity
  /// The direction that the caller has given for the lookup; nil if none was given.
  let search: UDISearch?

  /// The nodes where the watcher is entered. Its lookup begins at the first of them. Guarded by the tree lock.
  var nodes: [Node] = []
  /// The direction of the lookup, which is either `search` or the context's own search. Guarded by the tree lock.
  var direction = UDISearch.lineage
  /// Whether a factory performs the lookup, which therefore passes over what it would find below. `direction` is then
  /// `lineage`. Guarded by the tree lock.
  var looksOnlyUp = false
  /// The thread that is running the watcher's lookup now; 0 if there is none. Guarded by the tree lock.
  var looker: UInt = 0
  /// Whether the watcher is included in `count`. Guarded by the tree lock.
  var isEntered = false
  /// The number of watchers that are entered at some node. Guarded by the tree lock.
  @exclusivity(unchecked) nonisolated(unsafe) static var count = 0

  let lock = Lock()
  /// The change that the consumer has not seen yet. A new watcher has such a change, so that the consumer performs a
  /// lookup at once. Guarded by `lock`.
  private var change: ChangeKind? = .answer
  /// Whether the context is gone or closed. Guarded by `lock`.
  private var hasEnded = false
  /// Whether the consumer has waited long enough. Guarded by `lock`.
  private var isLate = false
  /// The continuations of the waiting tasks, by their tickets. There can be several, because iterators can be copied.
  /// Guarded by `lock`.
  private(set) var waiting: [UInt: CheckedContinuation<Void, Never>] = [:]
  /// The ticket that was given out last. Guarded by `lock`.
  private var lastTicket: UInt = 0

  init(_ key: KeyIdentity, _ search: UDISearch?) {
    self.key = key
    self.search = search
  }
}

// MARK: - Waiting

extension Watcher {
  /// Waits until there is a change that the consumer has not seen.
  ///
  /// - Returns: The kind of change; nil if the context is gone or closed, or if the task is cancelled.
  nonisolated(nonsending) func nextChange() async -> ChangeKind? {
    while true {
      await wait()
      if Task.isCancelled { return nil }
      let (change, hasEnded, isLate) = lock.withLock { (self.change.take(), self.hasEnded, self.isLate) }
      if hasEnded { return nil }
      if let change { return change }
      if isLate { return nil }
      // Another copy of the iterator has taken the change. Wait for the next one.
    }
  }

  nonisolated(nonsending) private func wait() async {
    let ticket = lock.withLock {
      lastTicket += 1
      return lastTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Schedule.reached(.awaitsChange)
        let mustWait = lock.withLock {
          // A task is marked as cancelled before its cancellation handlers are called. If this check does not see the
          // mark yet, the handler will therefore run later and find the ticket.
          guard change == nil, !hasEnded, !isLate, !Task.isCancelled else { return false }
          waiting[ticket] = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      lock.withLock { waiting.removeValue(forKey: ticket) }?.resume()
    }
  }

  /// Records a change and resumes the waiting tasks. Do not call this while holding a lock.
  func notify(of kind: ChangeKind) {
    let continuations = lock.withLock {
      if change != .answer { change = kind }
      defer { waiting = [:] }
      return waiting.values
    }
    for continuation in continuations { continuation.resume() }
  }

  /// Ends the waiting, because the consumer has waited long enough. Do not call this under a lock.
  func expire() {
    let continuations = lock.withLock {
      isLate = true
      defer { waiting = [:] }
      return waiting.values
    }
    for continuation in continuations { continuation.resume() }
  }

  /// Records that the context is gone or closed.
  func end() { lock.withLock { hasEnded = true } }
}
