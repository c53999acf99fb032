/// The edges of the tree. Everything here runs under the tree lock.
extension Node {
  func child(tagged tag: String) -> Node? {
    guard childrenByTag.isEmpty else { return childrenByTag.find(tag)?.element.node }
    var next = firstChild
    while let child = next {
      if child.tag == tag { return child }
      next = child.nextSibling
    }
    return nil
  }

  /// Up to this many children are found by their tags without a table.
  private static var fewChildren: Int { 8 }

  private var hasMoreThanFewChildren: Bool {
    var next = firstChild
    for _ in 0..<Self.fewChildren {
      guard let child = next else { return false }
      next = child.nextSibling
    }
    return next != nil
  }

  /// Calls `body` with each child, in the order in which they were added.
  func forEachChild(_ body: (Node) -> Void) {
    var next = firstChild
    while let child = next {
      next = child.nextSibling
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
    if child == self || child.hasChildren && isBelow(child) {
      throw .cycle(child: child.fullPath, parent: fullPath)
    }
    remember(context)
    // Needed by lookups that find something below: see `isHandedToFactoryUnchecked`.
    PerThread.prepare()
    if isInert { child.isInert = true }

    let (old, oldSequence) = (child.parent, child.sequence)
    let newSequence = nextChildSequence
    nextChildSequence += 1
    guard newSequence < Rank.sequenceLimit else {
      fatalError("a context can have only \(Rank.sequenceLimit) children in its lifetime")
    }
    defer {
      if child.pendingSetUps.isEmpty { child.notifyWatchersAboveOfSetUps() } else { child.notifyWatchersOfSetUp() }
      if child.isWatched { child.notifyWatchersOfMove() }
    }
    if old == self {
      child.announce(to: self, from: oldSequence, to: newSequence)
      unlink(child)
      child.sequence = newSequence
      link(child)
      return
    }
    // First it becomes known above the new parent, then it is taken out above the old one: no lookup misses it in
    // between. Until the sequence number is set, other changes use the old one with the old parent's slots; afterwards,
    // the new one with the new parent's.
    child.announce(to: self, from: nil, to: newSequence)
    let leaving = child.sequence
    old?.unlink(child)
    child.sequence = newSequence
    if isNew { child.parent = self } else { child.lock.withLock { child.parent = self } }
    child.hasLostParent = false
    link(child)
    if let old {
      child.announce(to: old, from: leaving, to: nil)
    } else {
      child.heldContext = childContext
    }
  }

  /// Takes `child` out of this node's children.
  func disown(_ child: Node, _ garbage: inout Garbage) {
    child.lock.withLock { child.parent = nil }
    child.hasLostParent = true
    child.announce(to: self, from: child.sequence, to: nil)
    unlink(child)
    if child.isWatched { child.notifyWatchersOfMove() }
    // Rounded up to the steps in which a table grows. Larger tables do not count, because they are of another kind.
    var keys = child.slots.count
    if !child.pendingSetUps.isEmpty { keys -= child.setUpSlotCount }
    expectedKeys = keys <= 1 ? 1 : keys <= 4 ? 4 : 8
    if let context = child.heldContext.take() {
      child.rememberWithoutParent(context)
      garbage.add(context)
    }
  }

  var hasChildren: Bool { firstChild != nil }

  private var hasHadChildren: Bool { nextChildSequence > 0 }

  /// Notes the context of a node that has, or gets, children or providers, and may later have no parent.
  func remember(_ context: UDIContext) {
    guard noting != .done else { return }
    noting = .done
    rootContext = context
  }

  /// Notes the context of a node that was just taken out of its parent, if it will be needed.
  private func rememberWithoutParent(_ context: UDIContext) {
    if hasChildren || noting == .withoutParent { remember(context) }
  }

  /// Makes sure that the context is known as long as it lives, wherever the node is moved. To be called only on nodes
  /// that a parent holds or that have noted their context.
  func keepTrackOfContext() {
    if noting == .never { noting = .withoutParent }
  }

  /// Whether this node is somewhere below another one.
  private func isBelow(_ other: Node) -> Bool {
    var next = parent
    while let node = next {
      if node == other { return true }
      next = node.parent
    }
    return false
  }

  private func link(_ child: Node) {
    child.previousSibling = lastChild
    child.nextSibling = nil
    if let last = lastChild { last.nextSibling = child } else { firstChild = child }
    lastChild = child
    if !childrenByTag.isEmpty {
      childrenByTag.insert(TaggedNode(node: child))
    } else if hasMoreThanFewChildren {
      forEachChild { childrenByTag.insert(TaggedNode(node: $0), initialCapacity: 16) }
    }
  }

  private func unlink(_ child: Node) {
    let (previous, next) = (child.previousSibling, child.nextSibling)
    if let previous = previous { previous.nextSibling = next } else { firstChild = next }
    if let next = next { next.previousSibling = previous } else { lastChild = previous }
    child.previousSibling = nil
    child.nextSibling = nil
    if !childrenByTag.isEmpty { childrenByTag.remove(child.tag) }
  }

  /// The tags from the root to this node, the root's first.
  var fullPath: [String] {
    var path = [tag]
    var next = parent
    while let node = next {
      path.append(node.tag)
      next = node.parent
    }
    return path.reversed()
  }
}

// MARK: - The end of a context

/// A teardown that a thread is running.
struct Teardown {
  let thread: UInt
  /// Children of contexts that went away, to be released next.
  var pending: [UDIContext] = []
}

extension Node {
  /// Takes the node of a dying context out of everything that refers to it. Not to be called under a lock.
  ///
  /// Releasing a child may end that context too, and so on down a chain of any length. So that this needs no stack, a
  /// teardown that begins inside another one on the same thread only hands its children to the outer one, which
  /// releases them one after the other.
  func dismantle() {
    var bindings = WeakValueDictionary<BoundKey, AnyObject>()
    var storages: [DroppedStorage]?
    var isOutermost = false
    Tree.change { garbage in
      swap(&bindings, &self.bindings)
      bindings.forEachEntry { entry in
        entry.binding.node = nil
        entry.binding.delist()
      }
      if !providers.isEmpty { storages = dropProviders(&garbage) }
      if hasExtras { dropExtras(&garbage) }
      if hasChildren { isOutermost = handOver(orphanChildren()) }
      if hasHadChildren {
        // Waits for lookups that climbed from a child before it was cut off.
        lock.withLock { slots = CompactTable() }
      }
      // Otherwise nobody can get here any more, because nobody holds the context. Then `free` releases the slots, which
      // needs no lock.
    }
    bindings.releaseEntries()
    storages?.forEach { $0.reset() }
    guard isOutermost else { return }
    while let next = Self.nextPending(currentThread()) { _ = consume next }
  }

  /// Drops what only few contexts have.
  private func dropExtras(_ garbage: inout Garbage) {
    if let setUp {
      setUp.node = nil
      garbage.add(setUp)
    }
    setUp = nil
    if isWatched { endWatching() }
    if hasOverrides { for substitute in overrides { substitute.node = nil } }
  }

  /// Hands children to the outermost teardown on this thread, which releases them.
  ///
  /// - Returns: Whether this teardown is the outermost one.
  private func handOver(_ children: [UDIContext]) -> Bool {
    let thread = currentThread()
    if let index = unsafe Tree.teardowns.firstIndex(where: { $0.thread == thread }) {
      unsafe Tree.teardowns[index].pending += children
      return false
    }
    unsafe Tree.teardowns.append(Teardown(thread: thread, pending: children))
    return true
  }

  private static func nextPending(_ thread: UInt) -> UDIContext? {
    Tree.change { _ in
      guard let index = unsafe Tree.teardowns.firstIndex(where: { $0.thread == thread }) else { return nil }
      if let next = unsafe Tree.teardowns[index].pending.popLast() { return next }
      unsafe Tree.teardowns.remove(at: index)
      return nil
    }
  }

  private func orphanChildren() -> [UDIContext] {
    var children: [UDIContext] = []
    forEachChild { child in
      child.lock.withLock { child.parent = nil }
      child.hasLostParent = true
      child.previousSibling = nil
      child.nextSibling = nil
      if child.isWatched { child.notifyWatchersOfMove() }
      if let context = child.heldContext.take() {
        child.rememberWithoutParent(context)
        children.append(context)
      }
    }
    firstChild = nil
    lastChild = nil
    if !childrenByTag.isEmpty { childrenByTag = CompactTable() }
    return children.reversed()
  }
}
