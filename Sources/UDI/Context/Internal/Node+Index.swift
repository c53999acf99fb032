/// Keeping the slots true to the bindings. Everything here runs under the tree lock.
extension Node {
  /// Makes the slot for a key say what this node itself has for it, and corrects the nodes above.
  ///
  /// - Parameters:
  ///   - entry: What the node answers with now, or nil.
  ///   - initialCapacity: How many slots to make room for if this is the first.
  /// - Complexity: O(log siblings) for each level whose answer changes.
  @inline(__always)
  func setEntry(_ entry: Entry?, forKey key: UInt64, initialCapacity: Int = 1) {
    // Apart, so that where there is none nothing is counted.
    if hasOverrides, let substitute = override(key) {
      put(substitute, forKey: key, initialCapacity: initialCapacity)
    } else {
      put(entry, forKey: key, initialCapacity: initialCapacity)
    }
  }

  @inline(never)
  private func put(_ entry: Entry?, forKey key: UInt64, initialCapacity: Int) {
    let (before, after) = lock.withLock { () -> (SlotState?, SlotState?) in
      guard let slot = slots.find(key) else {
        guard let entry else { return (nil, nil) }
        let new = Slot(key: key, best: Unretained(entry), children: .none, depth: 0, isSingle: true)
        slots.insert(new, initialCapacity: initialCapacity)
        return (nil, new.state)
      }
      let before = slot.element.state
      guard let entry else { return (before, followChildren(slot)) }
      slot.element.best = Unretained(entry)
      slot.element.depth = 0
      slot.element.isSingle = slot.element.children.isEmpty
      return (before, slot.element.state)
    }
    if isWatched { tellWatchers(of: key, .here) }
    propagate(key, from: before, to: after)
  }

  /// Points a slot without a binding of its own at what its first child leads to, or removes it when there is none.
  private func followChildren(_ slot: CompactTable<Slot>.Place) -> SlotState? {
    let key = slot.element.key
    guard let first = slot.element.children.first, let below = first.slots.find(key) else {
      slots.remove(key)
      return nil
    }
    slot.element.best = below.element.best
    slot.element.depth = below.element.depth + 1
    slot.element.isSingle = below.element.isSingle && slot.element.children.isOne
    return slot.element.state
  }

  /// Tells this node that its child's slot for a key has another rank or another answer.
  ///
  /// - Parameters:
  ///   - old: The child's rank until now, nil if it had no slot for the key.
  ///   - new: Its rank from now on, nil if it has none any more.
  /// - Returns: This node's own slot before and after.
  private func update(
    _ key: UInt64, child: Node, from old: Rank?, to new: Rank?
  ) -> (before: SlotState?, after: SlotState?) {
    lock.withLock { () -> (SlotState?, SlotState?) in
      guard let slot = slots.find(key) else {
        guard new != nil, let below = child.slots.find(key) else { return (nil, nil) }
        let made = Slot(
          key: key, best: below.element.best, children: .one(.init(child)), depth: below.element.depth + 1,
          isSingle: below.element.isSingle)
        // Most contexts with something below them lead to several keys.
        slots.insert(made, initialCapacity: 4)
        return (nil, made.state)
      }
      let before = slot.element.state
      if old != new {
        if let old { slot.element.children.remove(at: old) }
        if let new {
          slot.element.children.insert(child, at: new) { $0.rank(for: key) }
        }
      }
      guard before.depth == 0 else { return (before, followChildren(slot)) }
      // A binding of the node's own stays the answer, whatever is below.
      slot.element.isSingle = slot.element.children.isEmpty
      return (before, slot.element.state)
    }
  }

  /// The node's rank among its siblings for a key that it has a slot for.
  private func rank(for key: UInt64) -> Rank {
    unsafe Rank(depth: slots.find(key).unsafelyUnwrapped.element.depth, sequence: sequence)
  }

  /// Corrects the nodes above after this node's slot for a key has changed. Ends at the first one whose own answer stays.
  private func propagate(_ key: UInt64, from before: SlotState?, to after: SlotState?) {
    var child = self
    var (before, after) = (before, after)
    while !(before == after), let parent = child.parent {
      let old = before.map { Rank(depth: $0.depth, sequence: child.sequence) }
      let new = after.map { Rank(depth: $0.depth, sequence: child.sequence) }
      (before, after) = parent.update(key, child: child, from: old, to: new)
      if parent.isWatched, before?.best != after?.best { parent.tellWatchers(of: key, .below) }
      child = parent
    }
  }

  /// Makes everything bound in this node and below it known to `parent` and above, or takes it out there, or both.
  ///
  /// - Parameters:
  ///   - parent: The parent that gains, loses or reorders this node.
  ///   - old: The node's sequence number there until now, nil if it is new.
  ///   - new: Its sequence number there from now on, nil if it leaves.
  func announce(to parent: Node, from old: UInt64?, to new: UInt64?) {
    slots.forEach { slot in
      let (before, after) = parent.update(
        slot.key, child: self, from: old.map { Rank(depth: slot.depth, sequence: $0) },
        to: new.map { Rank(depth: slot.depth, sequence: $0) })
      if parent.isWatched, before?.best != after?.best { parent.tellWatchers(of: slot.key, .below) }
      parent.propagate(slot.key, from: before, to: after)
    }
  }
}
