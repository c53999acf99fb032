/// Is notified when a lookup might give another answer than before.
///
/// A watcher is notified only that something has changed, not of what has changed; its consumer then looks up again.
/// This has three advantages: a slow consumer costs no memory, nothing is looked up unless somebody waits for it, and
/// one notification too many does no harm.
final class Watcher: @unchecked Sendable {
  // Unchecked: all mutable state is guarded by the tree lock or by the watcher's own lock.

  /// The key that is looked up. The watcher holds the key, so that its id cannot be given to another key.
  let key: KeyIdentity
  /// The direction that was named for the lookup; nil if none was named.
  let search: UDISearch?

  /// Under the tree lock: the nodes where the watcher is entered. Its lookup begins at the first of them.
  var nodes: [Node] = []
  /// Under the tree lock: the direction that the lookup takes, whether it was named or is that of the context.
  var direction = UDISearch.lineage
  /// Under the tree lock: the thread that is running the watcher's lookup now; 0 if there is none.
  var looker: UInt = 0
  /// Under the tree lock: whether the watcher is included in `count`.
  var isEntered = false
  /// Under the tree lock: how many watchers are entered anywhere.
  @exclusivity(unchecked) nonisolated(unsafe) static var count = 0

  let lock = Lock()
  /// Guarded by `lock`: the change that the consumer has not seen yet. At the beginning, there is such a change, so
  /// that the consumer looks up at once.
  private var change: ChangeKind? = .answer
  /// Guarded by `lock`: whether the context is gone or closed.
  private var hasEnded = false
  /// Guarded by `lock`: the continuations of those who wait, by their tickets. There can be several, because iterators
  /// can be copied.
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
      let (change, hasEnded) = lock.withLock { (self.change.take(), self.hasEnded) }
      if hasEnded { return nil }
      if let change { return change }
      // A copy of the iterator has taken the change first.
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
          // A task is marked as cancelled before its cancellation handlers are called. If this check does not see the
          // mark yet, the handler runs later and finds the ticket.
          guard change == nil, !hasEnded, !Task.isCancelled else { return false }
          waiting[ticket] = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      lock.withLock { waiting.removeValue(forKey: ticket) }?.resume()
    }
  }

  /// Records a change and wakes those who wait. Do not call this while holding a lock.
  func notify(of kind: ChangeKind) {
    let continuations = lock.withLock {
      if change != .answer { change = kind }
      defer { waiting = [:] }
      return waiting.values
    }
    for continuation in continuations { continuation.resume() }
  }

  /// Records that the context is gone or closed.
  func end() { lock.withLock { hasEnded = true } }
}
