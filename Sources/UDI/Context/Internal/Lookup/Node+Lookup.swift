/// Lookups of one dependency. All of them begin with `Node.answer` or `Node.attempt`, except lookups that pass
/// arguments to a factory, which find the entry with `nearestEntry`. Lookups of all dependencies of a type are in
/// `Node+LinkAll.swift`.

extension Node {
  /// Looks up a dependency without a name.
  @inline(__always)
  func attempt(
    _ type: TypeToken, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    unsafe attempt(KnownKey(id: type.id), LookupForm(type, reach), search, into: memory)
  }

  /// Looks up a dependency with a name.
  ///
  /// This method finds an entry by the hash of the name. It then compares the entry's name with the given one only if
  /// the comparison needs no user code, that is, if both are strings or copies of the same name. One lock is therefore
  /// enough, which makes the benchmarks "link by name" and "link by a key" faster: the latter takes 427 instructions
  /// instead of 915.
  ///
  /// - Returns: The answer. It is `dead` for a dead entry, and also if names have to be compared with the user's `==`.
  ///   The caller compares them with no lock held.
  @inline(__always)
  func attempt(
    _ type: TypeToken, named name: UDIName, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let answer = unsafe attempt(HashedKey(type, name), LookupForm(type, reach), search, into: memory)
    // If names have collided, this name's id might differ from its hash. Collisions are checked for after the lookup,
    // which has taken a lock, so that the check sees the collisions of all names that were bound before the lookup.
    if case .nothing = answer, NamedKey.haveCollided { return .dead }
    return answer
  }

  /// Performs a lookup without changing anything and without calling user code, so it may run under an attachment's
  /// lock.
  ///
  /// This method climbs by itself instead of calling `visit`, which needs the tree lock. It need not go down, because a
  /// node's slot also answers for all nodes below.
  ///
  /// - Returns: The answer. It is `dead` for a dead entry, and also if the entry that was found might belong to a
  ///   different key with the same id.
  @inline(__always)
  func attempt(
    _ key: some LookupKey, _ form: LookupForm, _ search: UDISearch?, passing passed: PendingSetUps = [],
    into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    lock.lock()
    guard shared.pendingSetUps.isSubset(of: passed) else {
      lock.unlock()
      return .setUpPending
    }
    // Every search begins with the context itself, so the direction matters only if the context itself has no entry.
    guard let slot = shared.slots.find(key.id), slot.element.state.depth == 0 || looksBelow(search) else {
      return unsafe attemptAbove(key, form, search, into: memory)
    }
    // The slot keeps the entry alive while the lock is held.
    let answer = slot.element.state.best.read { unsafe $0.answer(key, form, into: memory) }
    lock.unlock()
    return answer
  }

  /// Continues the lookup in the contexts above. The caller has locked this node; this method unlocks it.
  @inline(never)
  private func attemptAbove(
    _ key: some LookupKey, _ form: LookupForm, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
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
        if let slot = node.shared.slots.find(key.id), slot.element.state.depth == 0 {
          let answer = slot.element.state.best.read { unsafe $0.answer(key, form, into: memory) }
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

  /// Performs a lookup for `UDIContext.locate`. Withdraws the entry if it is dead, and records its use. Called under the
  /// tree lock.
  func locate(
    _ key: UInt64, _ form: LookupForm, _ search: UDISearch?, mustMake: Bool, isFresh: Bool, for dependent: Dependent?,
    into memory: UnsafeMutableRawPointer, _ garbage: inout Garbage
  ) -> LookupAnswer {
    if !UDIRecording.isOn { stopRecordingLookups() }
    guard let entry = nearestEntry(key, direction(of: search)) else { return .nothing }
    let answer = entry.read { entry in
      mustMake
        ? unsafe entry.answerToMake(form, behindBindings: isFresh, into: memory, &garbage)
        : unsafe entry.answer(form, into: memory)
    }
    if case .dead = answer {
      entry.read { $0.withdraw(&garbage) }
    } else if let dependent {
      UDIRecording.noteUse(of: entry.object, by: dependent, &garbage)
    }
    return answer
  }
}

extension Entry {
  /// Answers with the dependency as the requested type; `dead` if the entry might belong to a different key.
  @inline(__always)
  fileprivate func answer(
    _ key: some LookupKey, _ form: LookupForm, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    key.isSurelyKey(of: self) ? unsafe answer(form, into: memory) : .dead
  }

  /// Answers with the dependency as the requested type.
  @inline(__always)
  func answer(_ lookup: LookupForm, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard kind.rawValue <= Kind.observed.rawValue else { return unsafe answerOwned(lookup, into: memory) }
    guard registered.fits(lookup) else { return answerToBeCast(lookup.reach) }
    guard let object else { return .dead }
    unsafe form.write(object, to: memory)
    return .written
  }

  /// Answers a lookup that has the instance made: with the provider itself instead of what it keeps and, behind bindings,
  /// with the provider that a live binding hides. Called under the tree lock.
  fileprivate func answerToMake(
    _ form: LookupForm, behindBindings: Bool, into memory: UnsafeMutableRawPointer, _ garbage: inout Garbage
  ) -> LookupAnswer {
    switch kind {
    case .observed, .owned, .boxed:
      return (self as? InstanceEntry).map { .provided($0 is Substitute ? $0 : $0.maker) } ?? .nothing
    case .binding where behindBindings && !registered.isRefused(to: form.reach):
      guard let object else { return .dead }
      Schedule.reached(.loadedToLook)
      garbage.add(object, of: self)
      return node?.provider(keyID).map { .provided($0) } ?? .nothing
    default: return unsafe answer(form, into: memory)
    }
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
