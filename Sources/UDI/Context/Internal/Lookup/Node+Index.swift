/// Updates the slots when entries or children come and go. Everything here is called under the tree lock.
extension Node {
  /// Sets the entry with which this node itself answers lookups of the given key, and updates the slots of this node
  /// and the nodes above.
  ///
  /// - Parameters:
  ///   - entry: The entry, or nil if the node no longer has one. An override takes precedence over it.
  ///   - kind: The kind of change that watchers are notified of.
  /// - Complexity: O(log siblings) for each level whose answer changes.
  @inline(never)
  func setEntry(_ entry: Entry?, forKey key: UInt64, notifying kind: ChangeKind = .answer) {
    let entry = override(key) ?? entry
    let change = lock.withLockInlined { () -> SlotChange in
      guard let slot = shared.slots.find(key) else {
        guard let entry else { return (before: .absent, after: .absent) }
        let state = Slot.State(found: Unretained(entry), depth: 0, isSingle: true)
        // A context with one provider usually gets more, but many contexts have only one binding.
        shared.slots.insert(
          Slot(key: key, children: .none, state: state), initialCapacity: entry.kind == .binding ? 1 : 4)
        return (before: .absent, after: state)
      }
      return (before: slot.element.state, after: settle(slot, own: entry.map { Unretained($0) }))
    }
    if treeLocked.isWatched { tellFollowers(of: kind, to: key) }
    if parentThatSeesThis != nil { propagate(change, of: key, notifying: kind) }
    if Tree.isFollowed, let entry = entry.map({ Unretained($0) }) ?? change.before.found {
      tellFollowersOfAll(of: kind, entry)
    }
  }

  /// Updates a slot to the node's own entry. If there is none, takes over the entry of the slot's first child, or
  /// removes the slot if it has no children.
  private func settle(_ slot: CompactTable<Slot>.ElementReference, own: Unretained<Entry>?) -> Slot.State {
    let key = slot.element.key
    if let own {
      slot.element.state = Slot.State(found: own, depth: 0, isSingle: slot.element.children.isEmpty)
    } else if let below = slot.element.children.first?.slotState(key) {
      assert(below != .absent, "a child is listed for a key for which it has no slot")
      slot.element.state = Slot.State(
        found: below.best, depth: below.depth + 1, isSingle: below.isSingle && slot.element.children.isOne)
    } else {
      shared.slots.remove(key)
      return .absent
    }
    return slot.element.state
  }

  /// The state of the slot for the given key.
  private func slotState(_ key: UInt64) -> Slot.State { shared.slots.find(key)?.element.state ?? .absent }

  /// Updates this node's slot for the given key after the rank or the answer of a child's slot has changed.
  ///
  /// - Parameters:
  ///   - old: The child's previous rank; nil if it had no slot for the key.
  ///   - new: The child's new rank; nil if it no longer has a slot.
  ///   - below: The new state of the child's slot.
  /// - Returns: How this node's own slot has changed.
  @inline(__always)
  private func update(
    _ key: UInt64, child: Node, from old: Rank?, to new: Rank?, below: Slot.State, notifying kind: ChangeKind
  ) -> SlotChange {
    let change = lock.withLockInlined { () -> SlotChange in
      guard let slot = shared.slots.find(key) else {
        guard new != nil else { return (before: .absent, after: .absent) }
        let state = Slot.State(found: below.best, depth: below.depth + 1, isSingle: below.isSingle)
        // Makes room for several slots, because a context that leads to one key usually leads to more.
        shared.slots.insert(Slot(key: key, children: .one(child), state: state), initialCapacity: 4)
        return (before: .absent, after: state)
      }
      let before = slot.element.state
      if old != new {
        if let old { slot.element.children.remove(at: old) }
        if let new {
          slot.element.children.insert(child, at: new) { other in
            unsafe other.slotState(key).rank(other.treeLocked.sequence).unsafelyUnwrapped
          }
        }
      }
      // The node's own entry remains the answer, whatever is below.
      return (before, after: settle(slot, own: before.depth == 0 ? before.found : nil))
    }
    if treeLocked.isWatched, change.before.found != change.after.found {
      tellFollowers(of: kind, to: key, isBelow: true)
    }
    return change
  }

  /// Updates the nodes above that see this node, after this node's slot for the given key has changed. Stops at the
  /// first node whose own slot stays as it was. A watcher above that finds only the first entry is therefore notified
  /// only if that has changed. To notify all of them of another change, use `tellFollowersHereAndAbove`.
  private func propagate(_ change: SlotChange, of key: UInt64, notifying kind: ChangeKind) {
    var (child, change) = (self, change)
    while change.before != change.after, let parent = child.parentThatSeesThis {
      let sequence = child.treeLocked.sequence
      change = parent.update(
        key, child: child, from: change.before.rank(sequence), to: change.after.rank(sequence), below: change.after,
        notifying: kind)
      child = parent
    }
  }

  /// For each key that this node has a slot for, adds this node to the slot of `parent`, or removes it there. Then
  /// updates the nodes above `parent`. Does nothing for a scope, because nodes above a scope do not see what is in it.
  ///
  /// - Parameters:
  ///   - parent: The parent that gains or loses this node.
  ///   - old: This node's previous sequence number in the parent; nil if it is new there.
  ///   - new: This node's new sequence number in the parent; nil if it leaves.
  func announce(to parent: Node, from old: UInt64?, to new: UInt64?) {
    if treeLocked.isScope { return }
    shared.slots.forEach { slot in
      let state = slot.state
      // The entry is read only if there are watchers, because usually it is not in the processor's cache.
      let kind = Tree.isFollowed ? slot.state.best.read { $0.changeKind } : .answer
      let change = parent.update(
        slot.key, child: self, from: old.flatMap { state.rank($0) }, to: new.flatMap { state.rank($0) }, below: state,
        notifying: kind)
      parent.propagate(change, of: slot.key, notifying: kind)
      if Tree.isFollowed { parent.tellFollowersOfAll(of: kind, state.best, isBelow: true) }
    }
  }
}
