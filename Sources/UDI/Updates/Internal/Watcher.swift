/// Notices when a lookup may give another answer than before.
///
/// It is told *that* something has changed, never *what*: it counts changes, and whoever waits looks up again. So a slow consumer costs no
/// memory, nothing is looked up unless somebody asks, and being told once too often does no harm.
final class Watcher: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock, or by the watcher's own.

  /// What is looked up. Held, so that its id is given to no other key.
  let key: KeyIdentity
  /// The direction it takes, as the lookup names it.
  let search: UDISearch?

  /// Under the tree lock: where it is entered. The first is where its lookup begins.
  fileprivate var places: [Node] = []
  /// Under the tree lock: the direction that the lookup takes.
  fileprivate var direction = UDISearch.lineage
  /// Under the tree lock: the thread that looks up for it now, 0 where none does.
  var looker: UInt = 0
  /// Under the tree lock: whether it counts.
  fileprivate var isEntered = false
  /// Under the tree lock: how many are entered somewhere.
  @exclusivity(unchecked) nonisolated(unsafe) static var count = 0

  fileprivate let lock = Lock()
  /// How often it has been told of a change, and how often of something else that is there.
  struct Told: Equatable {
    var changes: UInt = 0
    var keepings: UInt = 0
  }

  /// Guarded by `lock`. The first change is that there is something to look up at all.
  private var told = Told(changes: 1)
  /// Guarded by `lock`: whether the context is gone.
  private var hasEnded = false
  /// Guarded by `lock`: several may wait, because iterators can be copied.
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
  /// - Parameter seen: What it was told of and has seen.
  /// - Returns: What it has been told now; nil if the context is gone, or the task cancelled.
  nonisolated(nonsending) func nextChange(after seen: Told) async -> Told? {
    let ticket = lock.withLock {
      lastTicket += 1
      return lastTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = lock.withLock {
          // A task is marked as cancelled before its handlers are called: so either this sees it, or the handler finds the ticket.
          guard told == seen, !hasEnded, !Task.isCancelled else { return false }
          waiting[ticket] = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      lock.withLock { waiting.removeValue(forKey: ticket) }?.resume()
    }
    return lock.withLock { hasEnded || Task.isCancelled ? nil : told }
  }

  /// Wakes those who wait. Not under a lock.
  func wake(_ tidings: Tidings) {
    let continuations = lock.withLock {
      if tidings == .keeping { told.keepings += 1 } else { told.changes += 1 }
      let continuations = waiting
      waiting = [:]
      return continuations
    }
    for continuation in continuations.values { continuation.resume() }
  }

  /// The context is gone.
  fileprivate func end() { lock.withLock { hasEnded = true } }
}

// MARK: - In the tree. Everything here runs under the tree lock

/// Who watches one node, by the key's id.
typealias Watchers = [UInt64: [ObjectIdentifier: Watcher]]

extension Watcher {
  /// Whether its lookup comes to a node that it is entered at: nothing is found before.
  fileprivate func comes(to node: Node) -> Bool { places.first == node || !finds(upTo: places.prefix { $0 != node }) }

  /// Whether its lookup goes on above a node that it is entered at.
  fileprivate func climbs(beyond node: Node) -> Bool {
    direction.looksAbove && !finds(upTo: places.prefix { $0 != node } + [node])
  }

  private func finds(upTo places: some Sequence<Node>) -> Bool {
    places.contains { place in
      guard let slot = place.slots.find(key.id) else { return false }
      return slot.element.depth == 0 || direction.looksBelow && place == self.places.first
    }
  }
}

extension Node {
  /// Enters a watcher whose lookup begins here wherever something can happen that changes the answer.
  func enter(_ watcher: Watcher) {
    watcher.leave()
    unsafe Watcher.count += 1
    watcher.isEntered = true
    watcher.direction = watcher.search ?? search
    watchers[watcher.key.id, default: [:]][ObjectIdentifier(watcher)] = watcher
    isWatched = true
    watcher.places.append(self)
    var next = watcher.direction.looksAbove ? parent : nil
    while let node = next {
      node.climbers[watcher.key.id, default: [:]][ObjectIdentifier(watcher)] = watcher
      node.isWatched = true
      watcher.places.append(node)
      next = node.parent
    }
  }

  /// Where something has changed, seen from a watched node.
  enum Whereabouts {
    case here
    case below
  }

  /// Tells those who watch a key here that what is found from here has changed.
  @inline(never)
  func tellWatchers(of key: UInt64, _ place: Whereabouts) {
    if let concerned = watchers[key] {
      for watcher in concerned.values where place == .here || watcher.direction.looksBelow { Tree.tell(watcher) }
    }
    guard place == .here, let concerned = climbers[key] else { return }
    for watcher in concerned.values where watcher.comes(to: self) { Tree.tell(watcher) }
  }

  /// Tells those whose lookup goes up through this node, which has got another parent.
  @inline(never)
  func tellWatchersOfMove() {
    Tree.telling(Tree.isLooking ? .keeping : .change) {
      for all in [watchers, climbers] {
        for concerned in all.values {
          for watcher in concerned.values where watcher.climbs(beyond: self) { Tree.tell(watcher) }
        }
      }
    }
  }

  /// Tells those whose lookup begins here and takes the context's own search, which has changed.
  func tellWatchersOfSearch() {
    for concerned in watchers.values {
      for watcher in concerned.values where watcher.search == nil { Tree.tell(watcher) }
    }
  }

  /// Tells those who watch a key here, and those further up whose lookups may find it here.
  func tellWatchersHereAndAbove(of key: UInt64) {
    if unsafe Watcher.count == 0 { return }
    if isWatched { tellWatchers(of: key, .here) }
    var next = parentThatSeesThis
    while let node = next {
      if node.isWatched { node.tellWatchers(of: key, .below) }
      next = node.parentThatSeesThis
    }
  }

  /// Tells those whose lookup comes here, whatever they look for: a set-up block has been added that may bind it.
  func tellWatchersOfSetUp() {
    if unsafe Watcher.count == 0 { return }
    Tree.telling(Tree.isLooking ? .keeping : .change) {
      if isWatched {
        for concerned in watchers.values { for watcher in concerned.values { Tree.tell(watcher) } }
        for concerned in climbers.values {
          for watcher in concerned.values where watcher.comes(to: self) { Tree.tell(watcher) }
        }
      }
      tellWatchersAboveOfSetUps()
    }
  }

  /// Tells those whose lookup goes down from above this node to where set-up blocks are pending: this node has got another place, so one of
  /// the blocks may come before what is found now.
  func tellWatchersAboveOfSetUps() {
    if unsafe Watcher.count == 0 { return }
    var next = parentThatSeesThis
    while let node = next {
      if node.isWatched, node.pendingSetUps.contains(.below) {
        for concerned in node.watchers.values {
          for watcher in concerned.values where watcher.direction.looksBelow { Tree.tell(watcher) }
        }
      }
      next = node.parentThatSeesThis
    }
  }

  /// Lets go of the watchers when the context goes.
  @inline(never)
  func endWatching() {
    for concerned in watchers.values {
      for watcher in concerned.values {
        watcher.end()
        leave(watcher)
      }
    }
    for concerned in climbers.values { for watcher in concerned.values { leave(watcher) } }
    watchers = [:]
    climbers = [:]
    isWatched = false
  }

  private func leave(_ watcher: Watcher) {
    // A chain of contexts goes from the top down, and the top is the last place.
    if watcher.places.last == self { watcher.places.removeLast() } else { watcher.places.removeAll { $0 == self } }
    Tree.tell(watcher)
  }
}

extension Watcher {
  /// Takes it out wherever it is entered.
  func leave() {
    if isEntered { unsafe Watcher.count -= 1 }
    isEntered = false
    for node in places {
      remove(from: &node.watchers)
      remove(from: &node.climbers)
      node.isWatched = !node.watchers.isEmpty || !node.climbers.isEmpty
    }
    places = []
  }

  private func remove(from watchers: inout Watchers) {
    guard watchers[key.id]?.removeValue(forKey: ObjectIdentifier(self)) != nil else { return }
    if watchers[key.id]?.isEmpty == true { watchers[key.id] = nil }
  }
}

#if DEBUG
  /// For tests: the state of those who watch from here.
  extension UDIContext {
    /// Whether all of them have seen every change, and wait for the next one.
    package var consumersAreWaiting: Bool {
      ownWatchers.allSatisfy { watcher in watcher.lock.withLock { !watcher.waiting.isEmpty } }
    }

    /// At how many contexts each of them is entered.
    package var placesOfWatchers: [Int] {
      let watchers = ownWatchers
      return Tree.change { _ in watchers.map(\.places.count) }
    }

    private var ownWatchers: [Watcher] {
      change { node, _ in
        guard node.isWatched else { return [] }
        return node.watchers.values.flatMap(\.values)
      }
    }
  }
#endif
