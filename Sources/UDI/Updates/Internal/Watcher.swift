/// Notices when a lookup may find something else than before.
///
/// A watcher is notified *that* something has changed, never *what*. It counts changes, and its consumers look up
/// again. So a slow consumer costs no memory, nothing is looked up unless somebody asks, and one notification too many
/// does no harm.
final class Watcher: @unchecked Sendable {
  // Unchecked: everything mutable is guarded by the tree lock, or by the watcher's own lock.

  /// The key that is looked up. The watcher holds it, so that no other key gets its id.
  let key: KeyIdentity
  /// The direction that the lookup names; nil if it names none.
  let search: UDISearch?

  /// Under the tree lock: the nodes where the watcher is entered. The first is where its lookup begins.
  fileprivate var nodes: [Node] = []
  /// Under the tree lock: the direction that the lookup takes.
  fileprivate var direction = UDISearch.lineage
  /// Under the tree lock: the thread that is looking up for the watcher now, or 0 if there is none.
  var looker: UInt = 0
  /// Under the tree lock: whether the watcher is included in `count`.
  fileprivate var isEntered = false
  /// Under the tree lock: how many watchers are entered anywhere.
  @exclusivity(unchecked) nonisolated(unsafe) static var count = 0

  fileprivate let lock = Lock()
  /// How often the watcher has been notified of changes of each kind.
  struct ChangeCounts: Equatable {
    var answer: UInt = 0
    var keptOnly: UInt = 0
  }

  /// Guarded by `lock`. The first change is that there is something to look up in the first place.
  private var counts = ChangeCounts(answer: 1)
  /// Guarded by `lock`: whether the context is gone.
  private var hasEnded = false
  /// Guarded by `lock`. Several consumers may wait, because iterators can be copied.
  fileprivate var waiting: [UInt: CheckedContinuation<Void, Never>] = [:]
  /// Guarded by `lock`.
  private var lastTicket: UInt = 0

  init(_ key: KeyIdentity, _ search: UDISearch?) {
    self.key = key
    self.search = search
  }
}

// MARK: - Waiting

extension Watcher {
  /// Waits until there is a change that the caller has not seen.
  ///
  /// - Parameter seen: The counts that the caller has seen.
  /// - Returns: The counts now; nil if the context is gone or the task is cancelled.
  nonisolated(nonsending) func nextChange(after seen: ChangeCounts) async -> ChangeCounts? {
    let ticket = lock.withLock {
      lastTicket += 1
      return lastTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = lock.withLock {
          // A task is marked as cancelled before its handlers are called. So either this check sees the mark, or the
          // handler finds the ticket.
          guard counts == seen, !hasEnded, !Task.isCancelled else { return false }
          waiting[ticket] = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      lock.withLock { waiting.removeValue(forKey: ticket) }?.resume()
    }
    return lock.withLock { hasEnded || Task.isCancelled ? nil : counts }
  }

  /// Wakes the consumers that wait. Do not call this while holding a lock.
  func notify(of kind: ChangeKind) {
    let continuations = lock.withLock {
      if kind == .keptOnly { counts.keptOnly += 1 } else { counts.answer += 1 }
      let continuations = waiting
      waiting = [:]
      return continuations
    }
    for continuation in continuations.values { continuation.resume() }
  }

  /// Records that the context is gone.
  fileprivate func end() { lock.withLock { hasEnded = true } }
}

// MARK: - In the tree. Everything here runs under the tree lock

/// The watchers of one node, by the key's id.
typealias Watchers = [UInt64: [ObjectIdentifier: Watcher]]

extension Watcher {
  /// Whether the watcher's lookup reaches a node where the watcher is entered: it finds nothing before.
  fileprivate func comes(to node: Node) -> Bool { nodes.first == node || !finds(upTo: nodes.prefix { $0 != node }) }

  /// Whether the watcher's lookup goes on above a node where the watcher is entered.
  fileprivate func climbs(beyond node: Node) -> Bool {
    direction.looksAbove && !finds(upTo: nodes.prefix { $0 != node } + [node])
  }

  private func finds(upTo nodes: some Sequence<Node>) -> Bool {
    nodes.contains { node in
      guard let slot = node.shared.slots.find(key.id) else { return false }
      return slot.element.depth == 0 || direction.looksBelow && node == self.nodes.first
    }
  }
}

extension Node {
  /// Enters a watcher whose lookup begins here at every node where something can change its answer.
  func enter(_ watcher: Watcher) {
    watcher.leave()
    unsafe Watcher.count += 1
    watcher.isEntered = true
    watcher.direction = watcher.search ?? shared.search
    treeLocked.ensureExtras().watchers[watcher.key.id, default: [:]][ObjectIdentifier(watcher)] = watcher
    treeLocked.isWatched = true
    watcher.nodes.append(self)
    var next = watcher.direction.looksAbove ? shared.parent : nil
    while let node = next {
      node.treeLocked.ensureExtras().climbers[watcher.key.id, default: [:]][ObjectIdentifier(watcher)] = watcher
      node.treeLocked.isWatched = true
      watcher.nodes.append(node)
      next = node.shared.parent
    }
  }

  /// Where a change happened, as seen from a watched node.
  enum Whereabouts {
    case here
    case below
  }

  /// Notifies the watchers of a key that are entered here of a change to what a lookup from here finds.
  @inline(never)
  func notifyWatchers(of key: UInt64, _ whereabouts: Whereabouts) {
    guard let extras = treeLocked.extras else { return }
    if let concerned = extras.watchers[key] {
      for watcher in concerned.values where whereabouts == .here || watcher.direction.looksBelow {
        Tree.notify(watcher)
      }
    }
    guard whereabouts == .here, let concerned = extras.climbers[key] else { return }
    for watcher in concerned.values where watcher.comes(to: self) { Tree.notify(watcher) }
  }

  /// Notifies the watchers whose lookup goes up through this node, which has a new parent.
  @inline(never)
  func notifyWatchersOfMove() {
    guard let extras = treeLocked.extras else { return }
    Tree.notifying(Tree.isLooking ? .keptOnly : .answer) {
      for all in [extras.watchers, extras.climbers] {
        for concerned in all.values {
          for watcher in concerned.values where watcher.climbs(beyond: self) { Tree.notify(watcher) }
        }
      }
    }
  }

  /// Notifies the watchers whose lookup begins here and uses the context's own search, which has changed.
  func notifyWatchersOfSearch() {
    guard let extras = treeLocked.extras else { return }
    for concerned in extras.watchers.values {
      for watcher in concerned.values where watcher.search == nil { Tree.notify(watcher) }
    }
  }

  /// Notifies the watchers of a key here, and those of contexts above whose lookups may find it here.
  func notifyWatchersHereAndAbove(of key: UInt64) {
    if unsafe Watcher.count == 0 { return }
    if treeLocked.isWatched { notifyWatchers(of: key, .here) }
    var next = parentThatSeesThis
    while let node = next {
      if node.treeLocked.isWatched { node.notifyWatchers(of: key, .below) }
      next = node.parentThatSeesThis
    }
  }

  /// Notifies the watchers whose lookup reaches this node, whatever they look for: a set-up block has been added that
  /// may bind it.
  func notifyWatchersOfSetUp() {
    if unsafe Watcher.count == 0 { return }
    Tree.notifying(Tree.isLooking ? .keptOnly : .answer) {
      if treeLocked.isWatched, let extras = treeLocked.extras {
        for concerned in extras.watchers.values { for watcher in concerned.values { Tree.notify(watcher) } }
        for concerned in extras.climbers.values {
          for watcher in concerned.values where watcher.comes(to: self) { Tree.notify(watcher) }
        }
      }
      notifyWatchersAboveOfSetUps()
    }
  }

  /// Notifies the watchers whose lookup goes down from above this node to contexts with pending set-ups: this node has
  /// moved, so one of the set-up blocks may now run before the lookup reaches what it finds at present.
  func notifyWatchersAboveOfSetUps() {
    if unsafe Watcher.count == 0 { return }
    var next = parentThatSeesThis
    while let node = next {
      if node.treeLocked.isWatched, node.shared.pendingSetUps.contains(.below), let extras = node.treeLocked.extras {
        for concerned in extras.watchers.values {
          for watcher in concerned.values where watcher.direction.looksBelow { Tree.notify(watcher) }
        }
      }
      next = node.parentThatSeesThis
    }
  }

  /// Removes all watchers when the context goes.
  @inline(never)
  func endWatching() {
    guard let extras = treeLocked.extras else { return }
    for concerned in extras.watchers.values {
      for watcher in concerned.values {
        watcher.end()
        leave(watcher)
      }
    }
    for concerned in extras.climbers.values { for watcher in concerned.values { leave(watcher) } }
    extras.watchers = [:]
    extras.climbers = [:]
    treeLocked.isWatched = false
  }

  private func leave(_ watcher: Watcher) {
    // A chain of contexts is dismantled from the top down, and the top is the last node.
    if watcher.nodes.last == self { watcher.nodes.removeLast() } else { watcher.nodes.removeAll { $0 == self } }
    Tree.notify(watcher)
  }
}

extension Watcher {
  /// Removes the watcher from all nodes where it is entered.
  func leave() {
    if isEntered { unsafe Watcher.count -= 1 }
    isEntered = false
    for node in nodes {
      let extras = node.treeLocked.ensureExtras()
      remove(from: &extras.watchers)
      remove(from: &extras.climbers)
      node.treeLocked.isWatched = !extras.watchers.isEmpty || !extras.climbers.isEmpty
    }
    nodes = []
  }

  private func remove(from watchers: inout Watchers) {
    guard watchers[key.id]?.removeValue(forKey: ObjectIdentifier(self)) != nil else { return }
    if watchers[key.id]?.isEmpty == true { watchers[key.id] = nil }
  }
}

#if DEBUG
  /// For tests: the state of the consumers that watch from here.
  extension UDIContext {
    /// Whether all consumers have seen every change and are waiting for the next one.
    package var consumersAreWaiting: Bool {
      ownWatchers.allSatisfy { watcher in watcher.lock.withLock { !watcher.waiting.isEmpty } }
    }

    /// The number of contexts where each watcher is entered.
    package var nodeCountsOfWatchers: [Int] {
      let watchers = ownWatchers
      return Tree.change { _ in watchers.map(\.nodes.count) }
    }

    private var ownWatchers: [Watcher] {
      change { node, _ in
        node.treeLocked.extras?.watchers.values.flatMap(\.values) ?? []
      }
    }
  }
#endif
