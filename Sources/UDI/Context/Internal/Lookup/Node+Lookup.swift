/// The two steps that find one dependency: `attempt`, under the locks of the nodes, and `locate`, under the tree lock.
/// `UDIContext.complete` says when each of them comes. Lookups of all dependencies of a type are in
/// `Node+LinkAll.swift`.

extension Node {
  /// Performs a lookup without changing anything and without calling user code, so it may run under an attachment's
  /// lock.
  ///
  /// This method climbs by itself instead of calling `visit`, which needs the tree lock. It need not go down, because a
  /// node's slot also answers for all nodes below.
  @inline(__always)
  func attempt(
    _ key: UInt64, _ form: LookupForm, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    lock.lock()
    guard !shared.isRecorded else {
      lock.unlock()
      return .undecided
    }
    // Every search begins with the context itself, so the direction matters only if the context itself has no entry.
    guard let slot = shared.slots.find(key), slot.element.state.depth == 0 || looksBelow(search) else {
      return unsafe attemptAbove(key, form, search, into: memory)
    }
    // The slot keeps the entry alive while the lock is held.
    let answer = slot.element.state.best.read { unsafe $0.answer(form, into: memory) }
    lock.unlock()
    return answer
  }

  /// Continues the lookup in the contexts above. The caller has locked this node; this method unlocks it.
  @inline(never)
  private func attemptAbove(
    _ key: UInt64, _ form: LookupForm, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    var node = self
    if looksAbove(search) {
      while let parent = node.shared.parent {
        node.climb(to: parent)
        node = parent
        if let slot = node.shared.slots.find(key), slot.element.state.depth == 0 {
          let answer = slot.element.state.best.read { unsafe $0.answer(form, into: memory) }
          node.lock.unlock()
          return answer
        }
      }
    }
    node.lock.unlock()
    return .nothing
  }

  /// Goes from this node to its parent without the tree lock. It locks the parent before it unlocks this node, so that
  /// the parent can neither go away nor move in between.
  @inline(__always)
  func climb(to parent: Node) {
    parent.lock.lock()
    Schedule.reached(.climbing)
    lock.unlock()
  }

  /// Performs a lookup that `attempt` could not decide. Withdraws the dead entries that it finds, and records the use
  /// of the one that it answers with. Called under the tree lock.
  ///
  /// - Parameters:
  ///   - mustMake: Whether an instance that a provider keeps is no answer, so that its provider is the answer.
  ///   - isFresh: Whether a binding is no answer either, so that the provider behind it is the answer.
  ///   - dependent: Whose use is recorded; nil to record nothing.
  func locate(
    _ key: UInt64, _ form: LookupForm, _ search: UDISearch?, mustMake: Bool, isFresh: Bool, for dependent: Dependent?,
    into memory: UnsafeMutableRawPointer, _ garbage: inout Garbage
  ) -> LookupAnswer {
    if !UDIRecording.isOn { stopRecordingLookups() }
    while let entry = nearestEntry(key, direction(of: search)) {
      let answer = entry.read { entry in
        mustMake
          ? unsafe entry.answerToMake(form, behindBindings: isFresh, into: memory, &garbage)
          : unsafe entry.answer(form, into: memory)
      }
      if case .undecided = answer {
        entry.read { $0.withdraw(&garbage) }
        continue
      }
      if let dependent { UDIRecording.noteUse(of: entry.object, by: dependent, &garbage) }
      return answer
    }
    return .nothing
  }
}

extension Entry {
  /// Answers with the dependency as the requested type.
  @inline(__always)
  func answer(_ lookup: LookupForm, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard kind.rawValue <= Kind.observed.rawValue else { return unsafe answerOwned(lookup, into: memory) }
    guard registered.fits(lookup) else { return answerToBeCast(lookup.reach) }
    guard let object else { return .undecided }
    unsafe form.write(object, to: memory)
    return .written
  }

  /// Answers a lookup that has the instance made: with the provider itself instead of what it keeps and, behind
  /// bindings, with the provider that a live binding hides. Called under the tree lock.
  fileprivate func answerToMake(
    _ form: LookupForm, behindBindings: Bool, into memory: UnsafeMutableRawPointer, _ garbage: inout Garbage
  ) -> LookupAnswer {
    switch kind {
    case .observed, .owned, .boxed:
      return (self as? InstanceEntry).map { .provided($0 is Substitute ? $0 : $0.maker) } ?? .nothing
    case .binding where behindBindings && !registered.isRefused(to: form.reach):
      if liveObject(&garbage) == nil { return .undecided }
      return node?.provider(keyID).map { .provided($0) } ?? .nothing
    default: return unsafe answer(form, into: memory)
    }
  }

  /// Answers for an entry with a weakly held object that has to be cast for this lookup.
  @inline(never)
  private func answerToBeCast(_ reach: UDIReach) -> LookupAnswer {
    // The reach is checked before the object is loaded. A thread that may not use the object must not hold it either:
    // if all other references went away in the meantime, that thread would release the object.
    if registered.isRefused(to: reach) { return .provided(self) }
    return object.map { .object($0) } ?? .undecided
  }

  @inline(__always)
  private func answerOwned(_ lookup: LookupForm, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard kind == .owned, let owned = unsafe unsafeDowncast(self, to: InstanceEntry.self).owned else {
      return kind == .graphProvider ? unsafe answerFromGraph(lookup, into: memory) : .provided(self)
    }
    guard registered.fits(lookup) else {
      return registered.isRefused(to: lookup.reach) ? .provided(self) : .object(owned)
    }
    unsafe form.write(owned, to: memory)
    return .written
  }

  /// Answers for a provider with the lifetime `.graph`. Most links in a graph find an instance that an earlier link has
  /// made. In this case, the method writes the instance without retaining the provider.
  @inline(never)
  func answerFromGraph(_ lookup: LookupForm, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard lookup.isExact, unsafe unsafeDowncast(self, to: Provider.self).makesExactType,
      !registered.isRefused(to: lookup.reach)
    else {
      return .provided(self)
    }
    let id = unsafe unsafeDowncast(self, to: Provider.self).id
    return Resolution.current.read({ unsafe $0.writeShared(id, to: memory) }) ? .written : .provided(self)
  }
}
