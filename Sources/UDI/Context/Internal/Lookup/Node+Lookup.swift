/// Lookups of one dependency. All of them begin with `Node.answer` or `Node.attempt`, except lookups that pass
/// arguments to a factory, which find the entry with `nearestEntry`. Lookups of all dependencies of a type are in
/// `Node+LinkAll.swift`.

extension Node {
  /// Looks up a dependency without a name.
  ///
  /// - Parameters:
  ///   - reach: Where the caller may use the dependency.
  ///   - search: The direction; nil for the context's own.
  ///   - memory: Uninitialised memory for a value of the requested type.
  @inline(__always)
  func answer(
    _ type: TypeToken, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let form = LookupForm(type, reach)
    let answer = unsafe attempt(type.id, form, search, into: memory)
    guard case .dead = answer else { return answer }
    return unsafe answerCleaningUp(type.id, form, search, into: memory)
  }

  /// Looks up a dependency with a name.
  @inline(never)
  func answer(
    _ type: Any.Type, named name: UDIName, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let token = TypeToken.of(type)
    let (id, form) = (KeyIdentity.id(token.id, name), LookupForm(token, reach))
    let answer = unsafe attempt(id, form, search, into: memory)
    guard case .dead = answer else { return answer }
    return unsafe answerCleaningUp(id, form, search, into: memory)
  }

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
    guard shared.pendingSetUps.isEmpty else {
      lock.unlock()
      return .setUpPending
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

  /// Does what `attempt` would do if lookups from here were not recorded.
  ///
  /// If `attempt` had a parameter for this case, the benchmark "object.require" would take three more instructions.
  @inline(never)
  func attemptUnrecorded(
    _ key: UInt64, _ form: LookupForm, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    lock.lock()
    guard !shared.pendingSetUps.hasBlocks else {
      lock.unlock()
      return .setUpPending
    }
    guard let slot = shared.slots.find(key), slot.element.state.depth == 0 || looksBelow(search) else {
      return unsafe attemptAbove(key, form, search, into: memory)
    }
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
        if node.shared.pendingSetUps.contains(.own) {
          node.lock.unlock()
          return .setUpPending
        }
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

  /// Withdraws the dead entry that was found and repeats the lookup, until it finds a live dependency or nothing.
  /// Without the dead entry, the lookup might reach a context whose set-up blocks have to run first.
  @inline(never)
  func answerCleaningUp(
    _ key: UInt64, _ form: LookupForm, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    while true {
      Tree.change { garbage in withdrawNearestIfDead(key, search, &garbage) }
      let answer = unsafe attempt(key, form, search, into: memory)
      guard case .dead = answer else { return answer }
    }
  }

  /// Withdraws the entry that a lookup finds, if it is dead. Called under the tree lock.
  private func withdrawNearestIfDead(_ key: UInt64, _ search: UDISearch?, _ garbage: inout Garbage) {
    guard let entry = nearestEntry(key, direction(of: search))?.object else { return }
    garbage.add(entry)
    guard entry.kind.rawValue <= Entry.Kind.observed.rawValue else { return }
    if let object = entry.object { garbage.add(object, of: entry) } else { entry.withdraw(&garbage) }
  }
}

extension Entry {
  /// Answers with the dependency as the requested type.
  @inline(__always)
  func answer(_ lookup: LookupForm, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard kind.rawValue <= Kind.observed.rawValue else { return unsafe answerOwned(lookup, into: memory) }
    guard registered.fits(lookup) else { return answerToBeCast(lookup.reach) }
    guard let object else { return .dead }
    unsafe form.write(object, to: memory)
    return .written
  }

  /// Answers for an entry with a weakly held object that has to be cast for this lookup.
  @inline(never)
  private func answerToBeCast(_ reach: Reach) -> LookupAnswer {
    // The reach is checked before the object is loaded. A thread that may not use the object must not hold it either:
    // if all other references went away in the meantime, that thread would release the object.
    if registered.isRefused(to: reach) { return .provided(self) }
    return object.map { .object($0) } ?? .dead
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
    return PerThread.resolution.read({ unsafe $0.writeShared(id, to: memory) }) ? .written : .provided(self)
  }
}
