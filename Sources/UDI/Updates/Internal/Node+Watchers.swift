/// Enters watchers at nodes, and notifies those that a change might concern. Call everything here under the tree lock.
extension Node {
  /// The lookups that are entered at one node under one key. They are not retained: one that is released leaves first.
  final class Lookouts {
    // Guarded by the tree lock.
    @safe @exclusivity(unchecked) fileprivate var set = ObjectSet()

    fileprivate func forEach(_ body: (Lookout) -> Void) {
      set.forEach { $0.read { body(unsafe unsafeDowncast($0, to: Lookout.self)) } }
    }
  }

  typealias Follower = Watcher

  static func stop(_ followers: [Watcher]) { for watcher in followers { watcher.stop() } }

  func noteNeed(_ key: @autoclosure () -> KeyIdentity, _ search: UDISearch?, findsAll: Bool) {
    Resolution.present?.read(\.watcherOfNeeds)?.object.noteNeed(key(), search, findsAll: findsAll, from: self)
  }

  /// Notes a lookup if it is a need that the watcher knows, and that has not changed. Do not call this under the tree
  /// lock.
  ///
  /// - Returns: False for any other need, and if another thread is changing the tree; true also if the lookup is no
  ///   need. (If a need changes before the lookup, the watcher is notified, and looks again.)
  @inline(never)
  func meetsNeed(_ key: UInt64, _ search: UDISearch?) -> Bool {
    guard let thread = Resolution.present, let watcher = thread.read(\.watcherOfNeeds) else { return true }
    // Nobody waits here, because this may run under an attachment's lock, for which a thread that holds the tree lock
    // may wait.
    guard Tree.lock.lockIfFree() else { return false }
    defer { Tree.lock.unlock() }
    let isHanded = search == nil && (thread.read { $0.hasHanded(self) } || AsyncCall.hasHanded(self))
    return watcher.read { $0.meets(key, search ?? (isHanded ? .ancestors : shared.search), from: self) }
  }

  func noteScope(_ key: KeyIdentity) { Watcher.present?.noteNeed(key, .ancestors, from: self) }

  /// Enters a watcher whose lookup begins at this node. It is entered here and at each node above that the lookup might
  /// climb to. If its lookup goes down, changes below this node are passed up to it. The nodes above notify it only of
  /// changes at themselves.
  func enter(_ watcher: Watcher) {
    if treeLocked.state.isEnding, !watcher.goesOnAbove { return watcher.notify(of: .end) }
    // While a factory runs, its lookups only go up (see `direction(of:)`). Once it has ended, the consumer's lookups
    // might go down, too.
    watcher.looksOnlyUp = watcher.request.search == nil && isHandedToFactory
    watcher.direction = watcher.looksOnlyUp ? .lineage : watcher.request.search ?? shared.search
    enter(watcher as Lookout)
  }

  /// Enters a lookup that begins at this node, and whose `direction` has been set.
  func enter(_ lookout: Lookout) {
    if lookout.isEntered { lookout.leave() }
    lookout.hasMoved = false
    func enter(at node: Node) {
      let extras = node.treeLocked.ensureExtras()
      let watchers = extras.followers[lookout.id] ?? Lookouts()
      // None that is entered is empty, so this one is new.
      if watchers.set.isEmpty { extras.followers[lookout.id] = watchers }
      watchers.set.insert(Unretained(lookout))
      node.treeLocked.isWatched = true
      if lookout.isEntered { lookout.nodesAbove.append(node) } else { lookout.start = node }
      lookout.isEntered = true
    }
    visitAll(lookout.direction, branch: enter, alone: enter)
  }

  /// Notifies the watchers that are entered at this node, and whose lookup gets as far as the change, that something
  /// has changed under the given key.
  ///
  /// - Parameter isBelow: Whether it has done so below this node, and not at this node itself. That concerns only
  ///   lookups that begin here and go down.
  @inline(never)
  func tellFollowers(of kind: ChangeKind, to key: UInt64, isBelow: Bool = false) {
    treeLocked.extras?.followers[key]?.forEach {
      let getsThere = isBelow ? $0.start == self && $0.direction.looks.below : !$0.finds(before: self, orThere: false)
      if getsThere { $0.notify(of: kind) } else if kind == .renewed { $0.forgetFindings() }
    }
  }

  /// Notifies all watchers that might find a provider under the given key at this node that it gives something else.
  package func tellFollowersHereAndAbove(of key: KeyIdentity) {
    if unsafe Tree.followerCount == 0 { return }
    let kind = Tree.isLooking ? ChangeKind.keptOnly : .renewed
    tellFollowersHereAndAbove(of: kind, to: key.id)
    tellFollowersHereAndAbove(of: kind, to: key.type.idOfAllKeys)
  }

  /// Notifies the watchers that find all dependencies of a type that an entry of the type has come, gone or moved.
  ///
  /// - Parameter isBelow: Whether it has done so below this node, and not at this node itself.
  @inline(never)
  func tellFollowersOfAll(of kind: ChangeKind, _ entry: Unretained<Entry>, isBelow: Bool = false) {
    let type = entry.read { $0.key.type }
    if unsafe type.followers > 0 { tellFollowersHereAndAbove(of: kind, to: type.idOfAllKeys, isBelow: isBelow) }
  }

  /// Notifies the watchers that are entered here, and those whose lookup begins above and goes down to this node; with
  /// `isBelow`, only those whose lookup begins here or above and goes further down.
  private func tellFollowersHereAndAbove(of kind: ChangeKind, to key: UInt64, isBelow: Bool = false) {
    for node in sequence(first: self, next: \.parentThatSeesThis) where node.treeLocked.isWatched {
      node.tellFollowers(of: kind, to: key, isBelow: isBelow || node != self)
    }
  }

  /// After this node has got a new parent or lost its parent, notifies the watchers whose lookup passes upwards through
  /// this node.
  @inline(never)
  func tellFollowersOfMove() {
    let kind = Tree.isLooking ? ChangeKind.keptOnly : .answer
    for lookout in allLookouts where lookout.direction.looks.above {
      lookout.hasMoved = true
      if !lookout.finds(before: self, orThere: true) { lookout.notify(of: kind) }
      // A need is not notified of a move that a look makes, so it is entered here along its new path.
      if Tree.isLooking, lookout.watcher != nil, let start = lookout.start { start.enter(lookout) }
    }
  }

  /// After the context's search has changed, notifies those whose lookups begin here and named no search. Needs do not
  /// know whether they named one, so for all of them there is another look.
  func tellFollowersOfSearch() {
    for lookout in allLookouts where lookout.start == self && (lookout as? Watcher)?.request.search == nil {
      if lookout.watcher != nil { lookout.forgetFindings() }
      lookout.notify(of: .answer)
    }
  }

  /// Removes all watchers from this node, because its context has ended or is being closed. Ends those whose lookup
  /// begins here, unless they go on above, and notifies the others.
  ///
  /// - Parameter isGone: Whether the context is going away.
  @inline(never)
  func endFollowing(isGone: Bool = false) {
    let lookouts = allLookouts
    for watcher in lookouts {
      let endsHere = watcher.start == self
      watcher.hasMoved = true
      watcher.notify(of: endsHere && (watcher as? Watcher)?.goesOnAbove == false ? .end : .answer)
      // A long chain of contexts is dismantled from the top down. Its topmost node is the last one in the array, so it
      // is found, and removed, in one step.
      if endsHere { watcher.leave() }
      if let index = watcher.nodesAbove.lastIndex(of: self) { watcher.nodesAbove.remove(at: index) }
    }
    treeLocked.extras?.followers = ObjectTable()
    treeLocked.isWatched = false
    // Lookups from a closed context go on, so needs do, too.
    if !isGone { for need in lookouts where need.watcher != nil && !need.isEntered { enter(need) } }
  }

  /// The lookups that are entered at this node.
  var allLookouts: [Lookout] {
    var all: [Lookout] = []
    treeLocked.extras?.followers.forEach { $0.forEach { all.append($0) } }
    return all
  }
}

extension Lookout {
  /// Whether the lookup ends before it gets to a node at which it is entered, because it finds something.
  ///
  /// - Parameter orThere: Whether to consider that node, too.
  fileprivate final func finds(before end: Node, orThere includesEnd: Bool) -> Bool {
    guard !findsAll, let start else { return false }
    for node in [start] + nodesAbove {
      if node == end, !includesEnd { return false }
      if let slot = node.shared.slots.find(key.id) {
        let looksBelow = direction.looks.below && !looksOnlyUp && node == start
        if looksBelow || slot.element.state.depth == 0 { return true }
      }
      if node == end { return false }
    }
    return false
  }

  /// Removes the lookup from all nodes where it is entered.
  final func leave() {
    guard isEntered, let start else { return }
    for node in [start] + nodesAbove {
      guard let extras = node.treeLocked.extras, let watchers = extras.followers[id] else { continue }
      watchers.set.remove(Unretained(self))
      if watchers.set.isEmpty { extras.followers[id] = nil }
      node.treeLocked.isWatched = !extras.followers.isEmpty
    }
    (isEntered, nodesAbove) = (false, [])
  }
}
