/// Notices when a lookup may find something else than before.
///
/// A watcher is notified *that* something has changed, never *what*; its consumer then looks up again. So a slow
/// consumer costs no memory, nothing is looked up unless somebody asks, and one notification too many does no harm.
final class Watcher: @unchecked Sendable {
  // Unchecked: everything mutable is guarded by the tree lock, or by the watcher's own lock.

  /// The key that is looked up. The watcher holds it, so that no other key gets its id.
  let key: KeyIdentity
  /// The direction that the lookup names; nil if it names none.
  let search: UDISearch?

  /// Under the tree lock: the nodes where the watcher is entered. The first is where its lookup begins.
  var nodes: [Node] = []
  /// Under the tree lock: the direction that the lookup takes.
  var direction = UDISearch.lineage
  /// Under the tree lock: the thread that is looking up for the watcher now, or 0 if there is none.
  var looker: UInt = 0
  /// Under the tree lock: whether the watcher is included in `count`.
  var isEntered = false
  /// Under the tree lock: how many watchers are entered anywhere.
  @exclusivity(unchecked) nonisolated(unsafe) static var count = 0

  let lock = Lock()
  /// Guarded by `lock`: the change that the consumer has not seen yet. The first one is that there is something to look
  /// up in the first place.
  private var change: ChangeKind? = .answer
  /// Guarded by `lock`: whether the context is gone.
  private var hasEnded = false
  /// Guarded by `lock`: those who wait, by their tickets. There may be several, because iterators can be copied.
  private(set) var waiting: [UInt: CheckedContinuation<Void, Never>] = [:]
  /// Guarded by `lock`.
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
  /// - Returns: The kind of change; nil if the context is gone or the task is cancelled.
  nonisolated(nonsending) func nextChange() async -> ChangeKind? {
    while true {
      await wait()
      if Task.isCancelled { return nil }
      let (change, hasEnded) = lock.withLock { (self.change.take(), self.hasEnded) }
      if hasEnded { return nil }
      if let change { return change }
      // A copy of the iterator has seen it first.
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
          // A task is marked as cancelled before its handlers are called. So either this check sees the mark, or the
          // handler finds the ticket.
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

  /// Wakes those who wait. Do not call this while holding a lock.
  func notify(of kind: ChangeKind) {
    let continuations = lock.withLock {
      if change != .answer { change = kind }
      defer { waiting = [:] }
      return waiting.values
    }
    for continuation in continuations { continuation.resume() }
  }

  /// Records that the context is gone.
  func end() { lock.withLock { hasEnded = true } }
}
