/// A node's edges to its parent and children. Everything here is called under the tree lock.
extension Node: CompactTableElement {
  func child(tagged tag: String) -> Node? {
    guard treeLocked.childrenByTag.isEmpty else { return treeLocked.childrenByTag.find(tag)?.element }
    return children.first { $0.tag == tag }
  }

  /// As long as there have not been more children than this, they are searched for a tag one by one. Then a table is
  /// made.
  private static var fewChildren: Int { 8 }

  /// The children, in the order in which they were added. A child that has been returned may be removed.
  var children: UnfoldSequence<Node, Node?> {
    sequence(state: treeLocked.firstChild) { next in
      defer { next = next?.treeLocked.nextSibling }
      return next
    }
  }

  /// Makes `child` the last child of this node, wherever it was before. Everything below the child moves with it.
  ///
  /// - Parameters:
  ///   - childContext: The child's context.
  ///   - isNew: Whether no other code can reach the child yet.
  ///   - context: This node's context.
  func adopt(_ child: Node, _ childContext: UDIContext, isNew: Bool = false, context: UDIContext) throws(UDITreeError) {
    if let other = self.child(tagged: child.tag), other != child { throw .duplicateTag(child.tag, parent: fullPath) }
    if child == self || child.hasChildren && ancestors.contains(child) {
      throw .cycle(child: child.fullPath, parent: fullPath)
    }
    if let path = endingPath ?? child.endingPath { throw .closed(path, child: child.fullPath, parent: fullPath) }
    // What is below an inert context is inert.
    if treeLocked.state == .inert { child.treeLocked.state = .inert }
    remember(context)

    let (old, oldSequence) = (child.parent, child.treeLocked.sequence)
    let newSequence = treeLocked.nextChildSequence
    treeLocked.nextChildSequence += 1
    guard newSequence < Rank.sequenceLimit else {
      fatalError("a context can have only \(Rank.sequenceLimit) children in its lifetime")
    }
    defer { if child.treeLocked.isWatched { child.tellFollowersOfMove() } }
    // The child is announced to the new parent before it is removed from the old one; otherwise a lookup could miss it
    // in between. Either announcement can climb as far as the other parent. The first one might reach the old parent,
    // which still lists the child by its old sequence number. The second one might reach the new parent, which lists
    // the child by its new number. That is why the child gets its new number between the two announcements. If both
    // parents are the same, the child is listed under both numbers in between.
    child.announce(to: self, from: nil, to: newSequence)
    old?.unlink(child)
    child.treeLocked.sequence = newSequence
    if isNew { child.shared.parent = self } else { child.lock.withLockInlined { child.shared.parent = self } }
    child.treeLocked.hasLostParent = false
    link(child)
    guard let old else { return child.treeLocked.heldContext = childContext }
    child.announce(to: old, from: oldSequence, to: nil)
  }

  /// Removes `child` from this node's children.
  func disown(_ child: Node, _ garbage: inout Garbage) {
    let context = child.loseParent {
      child.announce(to: self, from: child.treeLocked.sequence, to: nil)
      unlink(child)
    }
    if let context { garbage.add(context) }
  }

  /// Takes the node's parent away.
  ///
  /// - Parameter leave: Called once the node has no parent, to remove it from the parent or to let its lookups go on
  ///   elsewhere.
  /// - Returns: The context, if the parent held it.
  @inline(__always)
  func loseParent(_ leave: () -> Void) -> UDIContext? {
    lock.withLockInlined { shared.parent = nil }
    treeLocked.hasLostParent = true
    leave()
    if treeLocked.isWatched { tellFollowersOfMove() }
    guard let context = treeLocked.heldContext.take() else { return nil }
    // The context is remembered only if it will be needed.
    if hasChildren || hasProvidersHeldElsewhere { remember(context) }
    return context
  }

  var hasChildren: Bool { treeLocked.firstChild != nil }

  /// Stores a weak reference to the node's context, so that `context` returns it also while the node has no parent.
  /// Call this, for example, when the node gets children, or providers while it has no parent.
  func remember(_ context: UDIContext) {
    if treeLocked.remembersContext { return }
    treeLocked.remembersContext = true
    treeLocked.rootContext = context
  }

  private func link(_ child: Node) {
    child.treeLocked.previousSibling = treeLocked.lastChild
    child.treeLocked.nextSibling = nil
    if let last = treeLocked.lastChild { last.treeLocked.nextSibling = child } else { treeLocked.firstChild = child }
    treeLocked.lastChild = child
    if !treeLocked.childrenByTag.isEmpty {
      treeLocked.childrenByTag.insert(child)
    } else if children.dropFirst(Self.fewChildren).contains(child) {
      for child in children { treeLocked.childrenByTag.insert(child, initialCapacity: 16) }
    }
  }

  private func unlink(_ child: Node) {
    let (previous, next) = (child.treeLocked.previousSibling, child.treeLocked.nextSibling)
    if let previous = previous { previous.treeLocked.nextSibling = next } else { treeLocked.firstChild = next }
    if let next = next { next.treeLocked.previousSibling = previous } else { treeLocked.lastChild = previous }
    (child.treeLocked.previousSibling, child.treeLocked.nextSibling) = (nil, nil)
    if !treeLocked.childrenByTag.isEmpty { treeLocked.childrenByTag.remove(child.tag) }
  }

  /// The tags from the root to this node, the root's first.
  package var fullPath: [String] { andAncestors.map(\.tag).reversed() }

  // MARK: - The elements of `childrenByTag`

  var key: String { tag }
  static func hash(_ key: String) -> UInt { scrambled(UInt(bitPattern: key.hashValue)) }
}
