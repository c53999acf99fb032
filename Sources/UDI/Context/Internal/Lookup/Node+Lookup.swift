/// The two steps that find one dependency: `attempt`, under the locks of the nodes, and `locate`, under the tree lock.
/// `UDIContext.complete` says when each of them comes. Lookups of all dependencies of a type are in
/// `Node+LinkAll.swift`.

extension Node {
  /// Performs a lookup without changing the tree, without waiting for the tree lock, and without calling user code, so
  /// it may run under an attachment's lock.
  ///
  /// This method climbs by itself instead of calling `visit`, which needs the tree lock. It need not go down, because a
  /// node's slot also answers for all nodes below.
  @inline(__always)
  func attempt(
    _ key: UInt64, as wanted: WantedType, search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    if Tree.areLooking, !meetsNeed(key, search) { return .lookAgain }
    lock.lock()
    guard !shared.needsTreeLock else {
      lock.unlock()
      return .lookAgain
    }
    // Every search begins with the context itself, so the direction matters only if the context itself has no entry.
    guard let slot = shared.slots.find(key),
      slot.element.state.depth == 0 || (search ?? shared.search).looks.below && (search != nil || !isHandedToFactory)
    else {
      return unsafe attemptAbove(key, as: wanted, search: search, into: memory)
    }
    // The slot keeps the entry alive while the lock is held.
    let answer = slot.element.state.best.read { unsafe $0.answer(wanted, into: memory) }
    lock.unlock()
    return answer
  }

  /// Continues the lookup in the contexts above. The caller has locked this node; this method unlocks it.
  @inline(never)
  private func attemptAbove(
    _ key: UInt64, as wanted: WantedType, search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    var node = self
    if (search ?? shared.search).looks.above || search == nil && isHandedToFactory {
      while let parent = node.shared.parent {
        // The parent is locked before this node is unlocked, so that in between, the parent cannot go away, and this
        // node cannot be moved.
        parent.lock.lock()
        Schedule.reached(.climbing)
        node.lock.unlock()
        node = parent
        if let slot = node.shared.slots.find(key), slot.element.state.depth == 0 {
          let answer = slot.element.state.best.read { unsafe $0.answer(wanted, into: memory) }
          node.lock.unlock()
          return answer
        }
      }
    }
    node.lock.unlock()
    return .nothing
  }

  /// Performs a lookup that `attempt` could not decide, or whose entry has left its context since. Withdraws the dead
  /// entries that it finds, and records the use of the one that it answers with. Called under the tree lock.
  ///
  /// - Parameters:
  ///   - mustMake: Whether an instance that a provider keeps is no answer, so that its provider is the answer.
  ///   - isFresh: Whether a binding is no answer either, so that the provider behind it is the answer.
  ///   - dependent: Whose use is recorded; nil to record nothing.
  func locate(
    _ key: UInt64, as wanted: WantedType, search: UDISearch?, mustMake: Bool, isFresh: Bool,
    for dependent: Dependent?, into memory: UnsafeMutableRawPointer, _ garbage: inout Garbage
  ) -> LookupAnswer {
    if !isRecording { stopRecordingLookups() }
    while let entry = nearestEntry(key, direction(of: search)) {
      let answer = entry.read { entry in
        mustMake
          ? unsafe entry.answerToMake(wanted, behindBindings: isFresh, into: memory, &garbage)
          : unsafe entry.answer(wanted, into: memory)
      }
      if case .dead = answer {
        entry.read { $0.withdraw(&garbage) }
        continue
      }
      if treeLocked.makings > 0 { entry.object.noteHelp() }
      if let dependent { noteUse(of: entry.object, by: dependent, &garbage) }
      return answer
    }
    return .nothing
  }

  // MARK: - Recording who needs what. Called under the tree lock

  /// Marks this node, so that lookups that begin here take the slow path, on which they are recorded.
  func recordLookups() {
    if !shared.needsTreeLock, treeLocked.state != .closed { lock.withLock { shared.needsTreeLock = true } }
  }

  /// Lets lookups that begin here take the fast path again, because recording was switched off, unless a creation needs
  /// the slow one.
  func stopRecordingLookups() {
    guard shared.needsTreeLock, treeLocked.makings == 0, !treeLocked.state.isEnding else { return }
    // `isRecording` is checked again under the node's lock, because recording may have been switched on since. In that
    // case, another thread may have relied on the mark, in `UDIContext.recordLookups`.
    lock.withLock { if !isRecording { shared.needsTreeLock = false } }
  }
}
