/// The end of a context.
extension Node {
  /// Removes the node of a dying context from everything that refers to it. Do not call this under a lock.
  ///
  /// Releasing a child's context can end that context, too, and so on down a chain of any length, which could exhaust
  /// the stack. To prevent this, a teardown that begins inside another one on the same thread does not release the
  /// children. It hands them over to the outermost teardown, which releases them one after the other.
  func dismantle() {
    var bindings = WeakValueDictionary<Unretained<KeyIdentity>, AnyObject>()
    var providers = CompactTable<ProviderEntry>()
    var isOutermost = false
    Tree.change { garbage in
      takeContent(&bindings, &providers, &garbage)
      if treeLocked.hasLostParent, shared.parent != nil { goOn(at: nil) }
      if hasChildren { isOutermost = handOver(orphanChildren()) }
      sendClosed(to: nil)
      if hasHadChildren {
        // Taking the lock waits for lookups that climbed here from a child before that child lost its parent.
        lock.withLock { shared.slots = CompactTable() }
      }
      // If the context never had children, no lookup can still get here, because nothing holds the context. In that
      // case, `free` releases the slots without a lock.
      if !providers.isEmpty { drop(&providers, &garbage) }
    }
    bindings.releaseEntries()
    _ = consume providers
    guard isOutermost else { return }
    while let next = Self.nextPending(currentThread()) { _ = consume next }
  }

  /// Ends a context that might still be held: removes it from its parent, empties it, and separates its children from
  /// it. Do not call this under a lock.
  ///
  /// - Parameter condition: Whether to end the context now. Called under the tree lock.
  /// - Returns: Whether the context has ended, now or before.
  func end(where condition: (Node) -> Bool) -> Bool {
    var bindings = WeakValueDictionary<Unretained<KeyIdentity>, AnyObject>()
    var providers = CompactTable<ProviderEntry>()
    var children: [UDIContext] = []
    let hasEnded = Tree.change { garbage in
      guard condition(self) else { return false }
      if treeLocked.state == .closed { return true }
      // A context above, which was closed by the same run, has left its place to this one.
      let above = shared.parent
      parent?.disown(self, &garbage)
      goOn(at: above)
      treeLocked.state = .closed
      takeContent(&bindings, &providers, &garbage)
      if hasChildren { children = orphanChildren(goingOnAt: above) }
      sendClosed(to: above)
      lock.withLock {
        shared.slots = CompactTable()
        shared.isRecorded = false
      }
      if !providers.isEmpty { drop(&providers, &garbage) }
      return true
    }
    bindings.releaseEntries()
    _ = consume providers
    withExtendedLifetime(children) {}
    return hasEnded
  }

  /// Removes everything that the context contains, except its children. Moves the bindings and the providers to the
  /// caller's variables. Call this under the tree lock.
  @inline(__always)
  private func takeContent(
    _ bindings: inout WeakValueDictionary<Unretained<KeyIdentity>, AnyObject>,
    _ providers: inout CompactTable<ProviderEntry>, _ garbage: inout Garbage
  ) {
    swap(&bindings, &self.treeLocked.bindings)
    bindings.forEachEntry { entry in
      let binding = Unretained(entry.binding)
      binding.read { $0.node = nil }
      binding.delist()
    }
    swap(&providers, &self.treeLocked.providers)
    if let extras = treeLocked.extras { drop(extras, &garbage) }
  }

  /// Clears the references to this node that its extras have, withdraws the bindings in other contexts that end with
  /// this one, and ends the overrides.
  private func drop(_ extras: NodeExtras, _ garbage: inout Garbage) {
    if treeLocked.isWatched { endWatching() }
    if !extras.bindingsElsewhere.isEmpty { withdrawBindingsElsewhere(&garbage) }
    if hasOverrides { endOverrides(in: extras, &garbage) }
  }

  /// Hands children over to the outermost teardown on this thread, which releases them.
  ///
  /// - Returns: Whether this teardown is the outermost one.
  private func handOver(_ children: [UDIContext]) -> Bool {
    let thread = currentThread()
    let isOutermost = unsafe Tree.teardowns[thread] == nil
    unsafe Tree.teardowns[thread, default: []] += children
    return isOutermost
  }

  private static func nextPending(_ thread: UInt) -> UDIContext? {
    Tree.change { _ in
      if let next = unsafe Tree.teardowns[thread]?.popLast() { return next }
      unsafe Tree.teardowns[thread] = nil
      return nil
    }
  }

  /// - Parameter above: The node where lookups from the children go on; nil if they end there.
  private func orphanChildren(goingOnAt above: Node? = nil) -> [UDIContext] {
    var children: [UDIContext] = []
    forEachChild { child in
      child.lock.withLock { child.shared.parent = nil }
      child.treeLocked.hasLostParent = true
      child.treeLocked.previousSibling = nil
      child.treeLocked.nextSibling = nil
      child.goOn(at: above)
      if child.treeLocked.isWatched { child.notifyWatchersOfMove() }
      if let context = child.treeLocked.heldContext.take() {
        child.rememberWithoutParent(context)
        children.append(context)
      }
    }
    treeLocked.firstChild = nil
    treeLocked.lastChild = nil
    if !treeLocked.childrenByTag.isEmpty { treeLocked.childrenByTag = CompactTable() }
    return children.reversed()
  }
}

// MARK: - Where lookups from closed contexts go on

extension Node {
  /// Lets lookups from this node, which has no parent any more, go on at another node, or end here if that is nil.
  /// Called under the tree lock.
  func goOn(at above: Node?) {
    if let former = shared.parent, let extras = former.treeLocked.extras {
      let (previous, next) = (treeLocked.previousSibling, treeLocked.nextSibling)
      previous?.treeLocked.nextSibling = next
      if let next { next.treeLocked.previousSibling = previous } else { extras.lastClosed = previous }
    }
    (treeLocked.previousSibling, treeLocked.nextSibling) = (nil, nil)
    lock.withLock { shared.parent = above }
    guard let extras = above?.treeLocked.ensureExtras() else { return }
    treeLocked.previousSibling = extras.lastClosed
    extras.lastClosed?.treeLocked.nextSibling = self
    extras.lastClosed = self
  }

  /// Lets lookups from the closed contexts that go on at this node go on at another one instead. Called under the tree
  /// lock.
  private func sendClosed(to above: Node?) {
    while let closed = treeLocked.extras?.lastClosed { closed.goOn(at: above) }
  }
}
