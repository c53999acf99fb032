/// Where watchers are entered, and which of them a change concerns. Everything here runs under the tree lock.
extension Node {
  /// Enters a watcher whose lookup begins here at every node where something can change its answer.
  func enter(_ watcher: Watcher) {
    watcher.leave()
    unsafe Watcher.count += 1
    watcher.isEntered = true
    watcher.direction = watcher.search ?? shared.search
    func enter(at node: Node) {
      let extras = node.treeLocked.ensureExtras()
      let watchers = node == self ? \NodeExtras.watchers : \.climbers
      extras[keyPath: watchers][watcher.key.id, default: [:]][ObjectIdentifier(watcher)] = watcher
      node.treeLocked.isWatched = true
      watcher.nodes.append(node)
    }
    visitAll(watcher.direction, branch: enter, alone: enter)
  }

  /// Notifies the watchers that are entered here of a change to what this node itself has for a key.
  @inline(never)
  func notifyWatchers(of key: UInt64) {
    for watcher in watchers[key, default: [:]].values { Tree.notify(watcher) }
    for watcher in climbers[key, default: [:]].values where watcher.comes(to: self) { Tree.notify(watcher) }
  }

  /// Notifies the watchers whose lookup begins here of a change to what it finds below for a key.
  @inline(never)
  func notifyWatchers(ofChangeBelowTo key: UInt64) {
    for watcher in watchers[key, default: [:]].values where watcher.direction.looks.below { Tree.notify(watcher) }
  }

  /// Notifies the watchers of a key here, and those of contexts above whose lookups may find it here.
  func notifyWatchersHereAndAbove(of key: UInt64) {
    if unsafe Watcher.count == 0 { return }
    if treeLocked.isWatched { notifyWatchers(of: key) }
    for node in ancestorsThatSeeThis where node.treeLocked.isWatched { node.notifyWatchers(ofChangeBelowTo: key) }
  }

  /// Notifies the watchers whose lookup goes up through this node, which has a new parent.
  @inline(never)
  func notifyWatchersOfMove() {
    Tree.notifying(Tree.isLooking ? .keptOnly : .answer) {
      for watcher in watchers.all + climbers.all where watcher.climbs(beyond: self) { Tree.notify(watcher) }
    }
  }

  /// Notifies the watchers whose lookup begins here and uses the context's own search, which has changed.
  func notifyWatchersOfSearch() {
    for watcher in watchers.all where watcher.search == nil { Tree.notify(watcher) }
  }

  /// Notifies the watchers whose lookup reaches this node, whatever they look for: a set-up block has been added that
  /// may bind it.
  func notifyWatchersOfSetUp() {
    if unsafe Watcher.count == 0 { return }
    Tree.notifying(Tree.isLooking ? .keptOnly : .answer) {
      for watcher in watchers.all { Tree.notify(watcher) }
      for watcher in climbers.all where watcher.comes(to: self) { Tree.notify(watcher) }
      notifyWatchersAboveOfSetUps()
    }
  }

  /// Notifies the watchers whose lookup goes down from above this node to contexts with pending set-ups: this node has
  /// moved, so one of the set-up blocks may now run before the lookup reaches what it finds at present.
  func notifyWatchersAboveOfSetUps() {
    if unsafe Watcher.count == 0 { return }
    for node in ancestorsThatSeeThis where node.treeLocked.isWatched && node.shared.pendingSetUps.contains(.below) {
      for watcher in node.watchers.all where watcher.direction.looks.below { Tree.notify(watcher) }
    }
  }

  /// Removes all watchers when the context goes.
  @inline(never)
  func endWatching() {
    for watcher in watchers.all { watcher.end() }
    for watcher in watchers.all + climbers.all {
      // A chain of contexts is dismantled from the top down, and the top is the last node.
      if watcher.nodes.last == self { watcher.nodes.removeLast() } else { watcher.nodes.removeAll { $0 == self } }
      Tree.notify(watcher)
    }
    treeLocked.extras?.watchers = [:]
    treeLocked.extras?.climbers = [:]
    treeLocked.isWatched = false
  }
}

extension Node {
  fileprivate var watchers: Watchers { treeLocked.extras?.watchers ?? [:] }
  fileprivate var climbers: Watchers { treeLocked.extras?.climbers ?? [:] }
}

/// The watchers that are entered at one node, by the ids of their keys.
typealias Watchers = [UInt64: [ObjectIdentifier: Watcher]]

extension Watchers {
  fileprivate var all: [Watcher] { values.flatMap(\.values) }
}

extension Watcher {
  /// Whether the watcher's lookup reaches a node where the watcher is entered: it finds nothing before.
  fileprivate func comes(to node: Node) -> Bool { nodes.first == node || !finds(upTo: nodes.prefix { $0 != node }) }

  /// Whether the watcher's lookup goes on above a node where the watcher is entered.
  fileprivate func climbs(beyond node: Node) -> Bool {
    direction.looks.above && !finds(upTo: nodes.prefix { $0 != node } + [node])
  }

  private func finds(upTo nodes: some Sequence<Node>) -> Bool {
    nodes.contains { node in
      guard let slot = node.shared.slots.find(key.id) else { return false }
      return slot.element.state.depth == 0 || direction.looks.below && node == self.nodes.first
    }
  }

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
    watchers[key.id]?[ObjectIdentifier(self)] = nil
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
      change { node, _ in node.watchers.all }
    }
  }
#endif
