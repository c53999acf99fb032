/// The end of a context.
extension Node {
  /// Removes the node of a dying context from everything that refers to it. Do not call this under a lock.
  ///
  /// Releasing a child's context can end that context, too, and so on down a chain of any length, which could exhaust
  /// the stack. To prevent this, a teardown that begins inside another one on the same thread does not release the
  /// children. It hands them over to the outermost teardown, which releases them one after the other.
  func dismantle() {
    var bindings = WeakValueDictionary<Unretained<KeyIdentity>, AnyObject>()
    var providers = CompactTable<Source>()
    let outermost = Tree.change { garbage -> Unretained<ThreadState>? in
      if treeLocked.hasLostParent, shared.parent != nil { goOn(at: nil) }
      if treeLocked.extras != nil { abandonActivities(&garbage) }
      let children = empty(into: &bindings, &providers, goingOnAt: nil, isGone: true, &garbage)
      if children.isEmpty { return nil }
      let thread = ThreadState.here
      let isOutermost = thread.read { $0.orphans == nil }
      if isOutermost { thread.read { $0.orphans = [] } }
      // Nothing else may hold the children when the thread releases them.
      thread.read { $0.orphans?.append(contentsOf: children as [AnyObject]) }
      return isOutermost ? thread : nil
    }
    _ = consume bindings
    _ = consume providers
    guard let outermost else { return }
    while let next = outermost.read({ $0.orphans?.popLast() }) { _ = consume next }
    outermost.read { $0.orphans = nil }
  }

  /// Ends a context that might still be held: removes it from its parent, empties it, and separates its children from
  /// it. Do not call this under a lock.
  ///
  /// - Parameter atOnce: Whether to leave the context as it is if `close()` would have to wait for something.
  /// - Returns: Whether this call has ended the context.
  @inline(never)
  func end(onlyIfAtOnce atOnce: Bool) -> Bool {
    var bindings = WeakValueDictionary<Unretained<KeyIdentity>, AnyObject>()
    var providers = CompactTable<Source>()
    var children: [UDIContext] = []
    let isNew = Tree.change { garbage in
      if treeLocked.state == .closed { return false }
      if atOnce, isEnding || hasChildren || hasOpenEnds { return false }
      // If the same run has closed the parent, `above` is already the node where lookups from the parent go on.
      let above = shared.parent
      let beginsNow = !treeLocked.state.isEnding
      if beginsNow { beginEnd(&garbage) }
      parent?.disown(self, &garbage)
      goOn(at: above)
      // Only a context without children begins to end here, so it fills all of its slots itself.
      if beginsNow { lock.withLock { swap(&treeLocked.formerSlots, &shared.slots) } }
      treeLocked.state = .closed
      wakeForEnd()
      children = empty(into: &bindings, &providers, goingOnAt: above, &garbage)
      return true
    }
    _ = consume bindings
    _ = consume providers
    withExtendedLifetime(children) {}
    return isNew
  }

  /// Removes everything that the context contains, moves out its bindings and providers, and lets lookups that went on
  /// upwards here go on at another node. Call this under the tree lock.
  ///
  /// - Parameters:
  ///   - above: The node where lookups that went on here go on from now on; nil if there is none.
  ///   - isGone: Whether the context is going away.
  /// - Returns: The children, the last one first.
  private func empty(
    into bindings: inout WeakValueDictionary<Unretained<KeyIdentity>, AnyObject>,
    _ providers: inout CompactTable<Source>, goingOnAt above: Node?, isGone: Bool = false,
    _ garbage: inout Garbage
  ) -> [UDIContext] {
    swap(&bindings, &treeLocked.bindings)
    bindings.forEachEntry { entry in
      entry.binding.node = nil
      entry.binding.delist()
    }
    swap(&providers, &treeLocked.providers)
    if let extras = treeLocked.extras {
      if treeLocked.isWatched { endFollowing(isGone: isGone) }
      let elsewhere = extras.bindingsElsewhere.map { unsafe unsafeDowncast($0.object, to: Binding.self) }
      for binding in elsewhere { binding.withdraw(ifAlive: .withdrawn, &garbage) }
      endOverrides(&garbage)
      if extras.hasRemovedBindings { removeRecords() }
    }
    var orphans: [UDIContext] = []
    if hasChildren || treeLocked.extras?.lastClosed != nil {
      let past = pastForThoseBelow
      for child in children {
        if let context = child.loseParent({ child.goOn(at: above, past: past) }) { orphans.append(context) }
      }
      orphans.reverse()
      (treeLocked.firstChild, treeLocked.lastChild) = (nil, nil)
      if !treeLocked.childrenByTag.isEmpty { treeLocked.childrenByTag = CompactTable() }
      while let closed = treeLocked.extras?.lastClosed { closed.goOn(at: above, past: past) }
    }
    // If a context that is going away never had children, no lookup can still get here, because nothing holds the
    // context. In that case, `free` releases the slots without a lock.
    if !isGone || treeLocked.nextChildSequence > 0 {
      // Taking the lock waits for lookups that climbed here from a child before that child lost its parent.
      lock.withLockInlined {
        shared.slots = CompactTable()
        // If the context above is closed later, its former keys must not be looked up further up. Only `locate` sees to
        // that.
        shared.needsTreeLock = above != nil
      }
    }
    if !providers.isEmpty { drop(&providers, &garbage) }
    return orphans
  }

  // MARK: - Where lookups from closed contexts go on

  /// If this context is closed or being closed, the path of the outermost context that is, of this one and those where
  /// its lookups go on; otherwise nil. Called under the tree lock.
  var endingPath: [String]? {
    guard isEnding else { return nil }
    if let path = treeLocked.extras?.closedPath { return path }
    var outermost = self
    while let above = outermost.shared.parent, above.isEnding { outermost = above }
    return outermost.fullPath
  }

  /// Whether the context is ending, and it or a closed context above had something under a key.
  func hadKey(_ key: UInt64) -> Bool {
    isEnding && (treeLocked.formerSlots.find(key) != nil || past.contains { $0.keys.contains(key) })
  }

  /// What closed contexts above had when they began to end.
  var past: [ClosedPast] { treeLocked.extras?.past.map { Array(sequence(first: $0, next: \.above)) } ?? [] }

  /// What lookups from contexts below do not look for further up, once this context has ended.
  var pastForThoseBelow: ClosedPast? {
    let above = treeLocked.extras?.past
    if !isEnding || treeLocked.formerSlots.isEmpty && scopeKind == nil { return above }
    return ClosedPast(treeLocked.formerSlots.map(\.key), scopeKind, above: above)
  }

  /// Prepares a context that begins to end: from now on, a dead binding is not taken for one that the context had, and
  /// lookups need the tree lock.
  @inline(never) func beginEnd(_ garbage: inout Garbage) {
    var dead: [Binding] = []
    treeLocked.bindings.forEachEntry { if !$0.binding.isThere(&garbage) { dead.append($0.binding) } }
    for binding in dead { binding.withdraw(&garbage) }
    goOnPast(nil)
  }

  /// Notes what a closed context above had. Lookups from here do not look for that further up.
  @inline(never)
  func goOnPast(_ above: ClosedPast?) {
    // This is needed even if no closed context above had anything: one that is closed later might.
    lock.withLock { shared.needsTreeLock = true }
    guard let above else { return }
    treeLocked.ensureExtras().past = past.reversed().reduce(above) { ClosedPast($1.keys, $1.scopeKind, above: $0) }
  }

  /// Lets lookups from this node go on at another node, instead of at the one that is going away. If that one has been
  /// closed, its former keys, and the instances of its scope, are not looked for further up.
  func goOn(at above: Node?, past: ClosedPast?) {
    goOnPast(past)
    goOn(at: above)
  }

  /// Lets lookups from this node, which has no parent, go on at another node, or end here if that is nil. Called under
  /// the tree lock.
  func goOn(at above: Node?) {
    if let former = shared.parent, let extras = former.treeLocked.extras {
      let (previous, next) = (treeLocked.previousSibling, treeLocked.nextSibling)
      previous?.treeLocked.nextSibling = next
      if let next { next.treeLocked.previousSibling = previous } else { extras.lastClosed = previous }
    }
    (treeLocked.previousSibling, treeLocked.nextSibling) = (nil, nil)
    lock.withLockInlined { shared.parent = above }
    guard let extras = above?.treeLocked.ensureExtras() else { return }
    treeLocked.previousSibling = extras.lastClosed
    extras.lastClosed?.treeLocked.nextSibling = self
    extras.lastClosed = self
  }
}

/// What a context had when it began to end. Contexts that were below share it.
final class ClosedPast {
  let keys: [UInt64]
  /// The kind of the scope; nil if it was none.
  let scopeKind: String?
  /// What closed contexts above had.
  fileprivate var above: ClosedPast?

  init(_ keys: [UInt64], _ scopeKind: String?, above: ClosedPast?) {
    (self.keys, self.scopeKind, self.above) = (keys, scopeKind, above)
  }

  // A long chain is not released recursively.
  deinit {
    var next = above.take()
    while isKnownUniquelyReferenced(&next) { next = next?.above.take() }
  }
}
