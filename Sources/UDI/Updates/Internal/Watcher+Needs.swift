import Synchronization

/// The needs of a watcher: the lookups that factories make in its looks.
///
/// A lookup that a factory makes in a look leaves the fast path (`Node.attempt`). It is entered at the nodes of its
/// search under the same hold of the tree lock under which it looks, so no change is missed in between. If a context
/// owns an instance, later looks find it without its factory, so the lookups of that factory are no needs, unless it
/// has failed.
extension Provider { typealias Looker = Watcher }

extension Watcher {
  /// The watcher whose look this thread performs, in a factory or not; nil if it performs none.
  static var present: Watcher? { Tree.areLooking ? Resolution.present?.read { unsafe $0.watcher?.object } : nil }

  /// Runs a part of a look that can change the tree. For the watcher itself, these changes count only as `.keptOnly`,
  /// and the entries that are added are marked; see `ChangeKind`. Do not call this under a lock.
  ///
  /// - Parameters:
  ///   - isForFactory: Whether the body looks something up on behalf of a factory.
  ///   - isWhole: Whether the body is a whole look.
  // Inlined, without its parts: a specialisation for each closure would take 4 KiB of a client.
  @inline(__always)
  func looking<Result>(
    isForFactory: Bool = false, isWhole: Bool = false, _ body: () throws -> Result
  ) rethrows -> Result {
    beginPart()
    defer { endPart(isWhole) }
    return try Resolution.current.object.looking(for: self, isForFactory: isForFactory, body)
  }

  @inline(never) private func beginPart() {
    Tree.change { _ in
      (lookingThread, needs.next) = (currentThread(), 0)
      Tree.looks.add(1, ordering: .relaxed)
    }
  }

  @inline(never) private func endPart(_ isWhole: Bool) {
    Tree.change { garbage in
      lookingThread = 0
      Tree.looks.subtract(1, ordering: .relaxed)
      if isWhole { noteFindings(&garbage) }
      // If this was a further read, the one before may have found something else.
      if isWhole, needsHaveChanged { note(.renewed) }
    }
  }

  // MARK: - Under the tree lock, unless it says otherwise

  /// Notes what the lookups have found, when a look has ended.
  ///
  /// - Parameter isKeptOnly: Whether the look considered existing instances only.
  func noteFindings(isKeptOnly: Bool = false, _ garbage: inout Garbage) {
    let made = madeWeakly
    for index in 0..<min(needs.count, needs.all.count) { needs.all[index].noteFindings(madeWeakly: made, &garbage) }
    if isKeptOnly, let change, change >= .answer {
      // It is not known whether the look came before or after that change.
      forgetFindings()
    } else if isKeptOnly {
      (isPending, isOutOfDate) = (true, true)
    }
    noteFindings(madeWeakly: isKeptOnly ? nil : made, &garbage)
  }

  /// Begins a new look. Do not call this under a lock.
  func beginLook() { Tree.change { _ in (needs.count, madeWeakly, isPending, isOutOfDate) = (0, [], true, true) } }

  /// How many needs have been noted so far. Do not read this under a lock.
  var notedNeeds: Int { Tree.change { _ in needs.count } }

  /// Forgets the needs that were noted after a number of others. Do not call this under a lock.
  func forgetNeeds(after count: Int) { Tree.change { _ in needs.count = min(count, needs.count) } }

  /// Drops the needs at and after a place.
  func dropNeeds(from first: Int, _ garbage: inout Garbage) {
    while needs.all.count > first {
      let need = needs.all.removeLast()
      if need.findsAll { need.countFollower(-1) }
      need.leave()
      garbage.add(need)
    }
  }

  /// Notes a lookup of one dependency that a factory makes, if the watcher knows it, and nothing has changed since.
  func meets(_ id: UInt64, _ direction: UDISearch, from node: Node) -> Bool {
    guard let index = place(of: id, direction, from: node), !needs.all[index].isOutOfDate else { return false }
    meet(index)
    return true
  }

  /// Notes a lookup that a factory makes as a need. Its findings are noted at the end of the look.
  ///
  /// - Parameters:
  ///   - search: The direction that the lookup names.
  ///   - node: Where it begins.
  @inline(never)
  func noteNeed(_ key: KeyIdentity, _ search: UDISearch?, findsAll: Bool = false, from node: Node) {
    if isStopped { return }
    var (start, direction) = (node, node.direction(of: search))
    while start.treeLocked.comesFromLook {
      guard direction.looks.above, let above = start.shared.parent else { return }
      (start, direction) = (above, .ancestors)
    }
    let index = place(of: findsAll ? key.type.idOfAllKeys : key.id, direction, from: start)
    let need = index.map { needs.all[$0] } ?? Lookout(key, findsAll: findsAll, direction, from: start, for: self)
    if need.hasMoved { start.enter(need) }
    if index == nil {
      // To enlarge an array later costs more than a lookup.
      if needs.all.isEmpty { needs.all.reserveCapacity(3) }
      needs.all.append(need)
      if findsAll { need.countFollower(1) }
    }
    meet(index ?? needs.all.count - 1)
  }

  /// The place of a need; nil if the watcher does not know it.
  @inline(__always)
  private func place(of id: UInt64, _ direction: UDISearch, from node: Node) -> Int? {
    let next = needs.next
    if next < needs.all.count && needs.all[next].isLookup(of: id, direction, from: node) { return next }
    return needs.all.firstIndex { $0.isLookup(of: id, direction, from: node) }
  }

  /// Counts the need at a place among those that have been noted.
  @inline(__always)
  private func meet(_ index: Int) {
    needs.next = index + 1
    if index < needs.count { return }
    if index > needs.count { needs.all.swapAt(index, needs.count) }
    needs.all[needs.count].isPending = true
    needs.count += 1
  }
}
