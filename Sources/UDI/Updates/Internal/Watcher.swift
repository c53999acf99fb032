/// An object that is notified when a lookup might give another answer than before.
///
/// A watcher learns only that something has changed; its consumer then looks up again. This has three advantages: a
/// slow consumer costs no memory, nothing is looked up unless somebody waits, and a superfluous notification does no
/// harm.
final class Watcher: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock or by `lock`.

  /// The key that is looked up. The watcher holds it, so that its id cannot be given to another key.
  let key: KeyIdentity
  /// The direction that the caller has given for the lookup; nil if none was given.
  let search: UDISearch?

  /// Guarded by the tree lock: the nodes where the watcher is entered. Its lookup begins at the first of them.
  var nodes: [Node] = []
  /// Guarded by the tree lock: the direction of the lookup, which is either `search` or the context's own search.
  var direction = UDISearch.lineage
  /// Guarded by the tree lock: the thread that is running the watcher's lookup now; 0 if there is none.
  var looker: UInt = 0
  /// Guarded by the tree lock: whether the watcher is included in `count`.
  var isEntered = false
  /// Guarded by the tree lock: the number of watchers that are entered at some node.
  @exclusivity(unchecked) nonisolated(unsafe) static var count = 0

  let lock = Lock()
  /// Guarded by `lock`: the change that the consumer has not seen yet. A new watcher has such a change, so that the
  /// consumer looks up at once.
  private var change: ChangeKind? = .answer
  /// Guarded by `lock`: whether the context is gone or closed.
  private var hasEnded = false
  /// Guarded by `lock`: whether the consumer has waited long enough.
  private var isLate = false
  /// Guarded by `lock`: the continuations of the waiting tasks, by their tickets. There can be several, because
  /// iterators can be copied.
  private(set) var waiting: [UInt: CheckedContinuation<Void, Never>] = [:]
  /// Guarded by `lock`: the ticket that was given out last.
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
      // The change has been taken on behalf of a copy of the iterator.
    }
  }

  nonisolated(nonsending) private func wait() async {
    let ticket = lock.withLock {
      lastTicket += 1
      return lastTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = lock.withLock {
          // A task is marked as cancelled before its cancellation handlers are called. So if this check does not see
          // the mark yet, the handler runs later and finds the ticket.
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
