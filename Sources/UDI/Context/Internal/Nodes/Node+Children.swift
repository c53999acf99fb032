/// The edges of the tree. Everything here runs under the tree lock.
extension Node {
  func child(tagged tag: String) -> Node? {
    guard treeLocked.childrenByTag.isEmpty else { return treeLocked.childrenByTag.find(tag)?.element.node }
    var next = treeLocked.firstChild
    while let child = next {
      if child.tag == tag { return child }
      next = child.treeLocked.nextSibling
    }
    return nil
  }

  /// Up to this many children are found by their tags without a table.
  private static var fewChildren: Int { 8 }

  private var hasMoreThanFewChildren: Bool {
    var next = treeLocked.firstChild
    for _ in 0..<Self.fewChildren {
      guard let child = next else { return false }
      next = child.treeLocked.nextSibling
    }
    return next != nil
  }

  /// Calls `body` with each child, in the order in which they were added.
  func forEachChild(_ body: (Node) -> Void) {
    var next = treeLocked.firstChild
    while let child = next {
      next = child.treeLocked.nextSibling
      body(child)
    }
  }

  /// Moves `child`, with everything below it, from wherever it is to the end of this node's children.
  ///
  /// - Parameters:
  ///   - childContext: The child's context.
  ///   - isNew: Whether nobody else knows the child yet.
  ///   - context: This node's context.
  func adopt(
    _ child: Node, _ childContext: UDIContext, isNew: Bool = false, context: UDIContext
  ) throws(UDITreeError) {
    if let other = self.child(tagged: child.tag), other != child {
      throw .duplicateTag(child.tag, parent: fullPath)
    }
    if child == self || child.hasChildren && ancestors.contains(child) {
      throw .cycle(child: child.fullPath, parent: fullPath)
    }
    if treeLocked.state != .open || child.treeLocked.state != .open { try inheritState(to: child) }
    remember(context)
    // From now on, lookups can find something below this node. They need the thread key: see
    // `isHandedToFactoryUnchecked`.
    PerThread.prepare()

    let (old, oldSequence) = (child.shared.parent, child.treeLocked.sequence)
    let newSequence = treeLocked.nextChildSequence
    treeLocked.nextChildSequence += 1
    guard newSequence < Rank.sequenceLimit else {
      fatalError("a context can have only \(Rank.sequenceLimit) children in its lifetime")
    }
    defer {
      if child.shared.pendingSetUps.isEmpty {
        child.notifyWatchersAboveOfSetUps()
      } else {
        child.notifyWatchersOfSetUp()
      }
      if child.treeLocked.isWatched { child.notifyWatchersOfMove() }
    }
    if old == self {
      child.announce(to: self, from: oldSequence, to: newSequence)
      unlink(child)
      child.treeLocked.sequence = newSequence
      link(child)
      return
    }
    // The child first becomes known to the new parent, and is then taken out of the old one, so that no lookup misses
    // it in between. The sequence number changes between the two announcements: the first one might climb to the old
    // parent, which still lists the child by its old number, and the second one to the new parent, which lists it by
    // its new number.
    child.announce(to: self, from: nil, to: newSequence)
    let leaving = child.treeLocked.sequence
    old?.unlink(child)
    child.treeLocked.sequence = newSequence
    if isNew { child.shared.parent = self } else { child.lock.withLock { child.shared.parent = self } }
    child.treeLocked.hasLostParent = false
    link(child)
    if let old {
      child.announce(to: old, from: leaving, to: nil)
    } else {
      child.treeLocked.heldContext = childContext
    }
  }

  /// Makes a child inert if this node is.
  ///
  /// - Throws: `UDITreeError.closed` if one of the two is being closed, or is closed.
  @inline(never)
  private func inheritState(to child: Node) throws(UDITreeError) {
    for node in [self, child] where node.treeLocked.state.isEnding {
      throw .closed(node.fullPath, child: child.fullPath, parent: fullPath)
    }
    if treeLocked.state == .inert { child.treeLocked.state = .inert }
  }

  /// Takes `child` out of this node's children.
  func disown(_ child: Node, _ garbage: inout Garbage) {
    child.lock.withLock { child.shared.parent = nil }
    child.treeLocked.hasLostParent = true
    child.announce(to: self, from: child.treeLocked.sequence, to: nil)
    unlink(child)
    if child.treeLocked.isWatched { child.notifyWatchersOfMove() }
    // Rounded up to the capacities of small tables. Larger numbers do not count, because large tables are of another
    // kind.
    var keys = child.shared.slots.count
    if !child.shared.pendingSetUps.isEmpty { keys -= child.setUpSlotCount }
    treeLocked.expectedKeys = keys <= 1 ? 1 : keys <= 4 ? 4 : 8
    if let context = child.treeLocked.heldContext.take() {
      child.rememberWithoutParent(context)
      garbage.add(context)
    }
  }

  var hasChildren: Bool { treeLocked.firstChild != nil }

  var hasHadChildren: Bool { treeLocked.nextChildSequence > 0 }

  /// Notes the context of a node that has or gets children or providers, in case the node has no parent later.
  func remember(_ context: UDIContext) {
    guard treeLocked.noting != .done else { return }
    treeLocked.noting = .done
    treeLocked.rootContext = context
  }

  /// Notes the context of a node that was just taken out of its parent, if the context will be needed.
  func rememberWithoutParent(_ context: UDIContext) {
    if hasChildren || treeLocked.noting == .withoutParent || hasProvidersHeldElsewhere { remember(context) }
  }

  /// Makes sure that the node's context is known as long as it lives, wherever it is moved. Call this only on nodes
  /// whose context is held by a parent or has been noted.
  func keepTrackOfContext() {
    if treeLocked.noting == .never { treeLocked.noting = .withoutParent }
  }

  private func link(_ child: Node) {
    child.treeLocked.previousSibling = treeLocked.lastChild
    child.treeLocked.nextSibling = nil
    if let last = treeLocked.lastChild { last.treeLocked.nextSibling = child } else { treeLocked.firstChild = child }
    treeLocked.lastChild = child
    if !treeLocked.childrenByTag.isEmpty {
      treeLocked.childrenByTag.insert(TaggedNode(node: child))
    } else if hasMoreThanFewChildren {
      forEachChild { treeLocked.childrenByTag.insert(TaggedNode(node: $0), initialCapacity: 16) }
    }
  }

  private func unlink(_ child: Node) {
    let (previous, next) = (child.treeLocked.previousSibling, child.treeLocked.nextSibling)
    if let previous = previous { previous.treeLocked.nextSibling = next } else { treeLocked.firstChild = next }
    if let next = next { next.treeLocked.previousSibling = previous } else { treeLocked.lastChild = previous }
    child.treeLocked.previousSibling = nil
    child.treeLocked.nextSibling = nil
    if !treeLocked.childrenByTag.isEmpty { treeLocked.childrenByTag.remove(child.tag) }
  }

  /// The tags from the root to this node, the root's first.
  var fullPath: [String] { andAncestors.map(\.tag).reversed() }
}

/// An entry in the table of a parent's children by tag.
struct TaggedNode: CompactTableElement {
  let node: Node
  var key: String { node.tag }
  static func hash(_ key: String) -> UInt { scrambled(UInt(bitPattern: key.hashValue)) }
}
