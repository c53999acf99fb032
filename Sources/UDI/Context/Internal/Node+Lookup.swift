/// The one path of all lookups: every verb, wrapper and search ends in `Node.answer`.

/// What a lookup brings back. It is made without the dependency's type, so that the work is compiled once; the verbs
/// make a value of the type from it.
enum LookupAnswer {
  /// There is no live dependency.
  case nothing
  /// The value stands in the memory that the caller gave.
  case written
  /// The object is found, and a cast will make the value: the type has a form that is not recorded.
  case object(AnyObject)
  /// The entry is found, and has to make the value, take it out of its box, or say that this lookup may not have it, with no lock
  /// held.
  case provided(Entry)
  /// Found dead, or perhaps of another key: to be looked up again, with no lock held.
  case dead
  /// A set-up block has to run before: to be looked up again after that.
  case setUpPending
}

/// What a lookup searches for: an id, and a test of whether what has that id is what was meant.
protocol LookupKey {
  var id: UInt64 { get }

  /// Whether an entry with this id certainly has this key. It is called under locks, and so must not call the user's code.
  func isSurelyKey(of entry: Entry) -> Bool
}

/// A key whose id belongs to no other key: it has no name, or the caller holds its `KeyIdentity`.
struct KnownKey: LookupKey {
  let id: UInt64
  @inline(__always) func isSurelyKey(of entry: Entry) -> Bool { true }
}

/// A key with a name, found by its hash, which another key may have as well.
struct HashedKey: LookupKey {
  let id: UInt64
  private let typeID: UInt64
  private let name: UDIName

  @inline(__always)
  init(_ type: TypeToken, _ name: UDIName) {
    id = KeyIdentity.hashedID(type.id, name)
    typeID = type.id
    self.name = name
  }

  @inline(__always)
  func isSurelyKey(of entry: Entry) -> Bool { entry.readKey { $0.isSurely(typeID, name) } }
}

extension Node {
  /// Looks up a dependency without a name.
  ///
  /// - Parameters:
  ///   - reach: Where the caller may use what it gets.
  ///   - search: The direction; nil for this context's.
  ///   - memory: Uninitialised memory for a value of the requested type.
  @inline(__always)
  func answer(
    _ type: TypeToken, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let form = LookupForm(type, reach)
    let answer = unsafe attempt(KnownKey(id: type.id), form, search, into: memory)
    guard case .dead = answer else { return answer }
    return unsafe answerCleaningUp(type.id, form, search, into: memory)
  }

  /// Looks up a dependency with a name.
  @inline(never)
  func answer(
    _ type: Any.Type, named name: UDIName, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let answer = unsafe attempt(.of(type), named: name, reach, search, into: memory)
    guard case .dead = answer else { return answer }
    return unsafe answerComparing(type, name, reach, search, into: memory)
  }

  /// Looks up a dependency with a name. Like `attempt` without a name, it changes nothing and never calls the user's code.
  ///
  /// It finds the name by its hash, and compares two names only where that needs no code of the user's: that is so for strings, and for
  /// copies of one name. So one lock is enough. This serves the rows "link by name" and "link by a key" of the benchmarks: the latter takes 427
  /// instructions instead of 915.
  ///
  /// - Returns: `dead`, too, where names have to be compared by the user's `==`, with no lock held.
  @inline(__always)
  func attempt(
    _ type: TypeToken, named name: UDIName, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let answer = unsafe attempt(HashedKey(type, name), LookupForm(type, reach), search, into: memory)
    // The name's id may not be its hash. Asked only now that a lock was taken: whatever was bound before that is counted.
    if case .nothing = answer, KeyNames.haveCollided { return .dead }
    return answer
  }

  /// Looks up a dependency with a name, and compares names by the user's `==`, with no lock held.
  @inline(never)
  private func answerComparing(
    _ type: Any.Type, _ name: UDIName, _ reach: Reach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    guard let key = KeyNames.identity(TypeIdentity.of(type), name) else {
      // A set-up block above may be the first to use it.
      return mustRunSetUps(search) ? .setUpPending : .nothing
    }
    // As long as the key is retained no other name can be given its id.
    defer { withExtendedLifetime(key) {} }
    let form = LookupForm(.of(type), reach)
    let answer = unsafe attempt(KnownKey(id: key.id), form, search, into: memory)
    guard case .dead = answer else { return answer }
    return unsafe answerCleaningUp(key.id, form, search, into: memory)
  }

  /// Looks up without changing anything, and without calling any code of the user's: may run under an attachment's lock.
  ///
  /// - Returns: `dead`, too, for what may have another key with the same id.
  @inline(__always)
  func attempt(
    _ key: some LookupKey, _ form: LookupForm, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    lock.lock()
    guard pendingSetUps.isEmpty else {
      lock.unlock()
      return .setUpPending
    }
    // Every search begins with the context itself, so which one it is matters only where that has nothing.
    guard let slot = slots.find(key.id), slot.element.depth == 0 || looksBelow(search) else {
      return unsafe attemptAbove(key, form, search, into: memory)
    }
    // The slot keeps the entry alive while the lock is held.
    let answer = slot.element.best.read { unsafe $0.answer(key, form, into: memory) }
    lock.unlock()
    return answer
  }

  /// Looks at the contexts above, hand over hand: this node's lock is taken already, and each parent's is before its child's is given back,
  /// so that no node can go away or move in between.
  @inline(never)
  private func attemptAbove(
    _ key: some LookupKey, _ form: LookupForm, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    var node = self
    if looksAbove(search) {
      while let parent = node.parent {
        parent.lock.lock()
        Schedule.reached(.climbing)
        node.lock.unlock()
        node = parent
        if node.pendingSetUps.contains(.own) {
          node.lock.unlock()
          return .setUpPending
        }
        if let slot = node.slots.find(key.id), slot.element.depth == 0 {
          let answer = slot.element.best.read { unsafe $0.answer(key, form, into: memory) }
          node.lock.unlock()
          return answer
        }
      }
    }
    node.lock.unlock()
    return .nothing
  }

  /// Withdraws what is found dead and looks up anew, until something is alive or nothing is left. Behind what was dead may be a set-up
  /// block that has to run first.
  @inline(never)
  func answerCleaningUp(
    _ key: UInt64, _ form: LookupForm, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    while true {
      Tree.change { garbage in withdrawNearestIfDead(key, search, &garbage) }
      let answer = unsafe attempt(KnownKey(id: key), form, search, into: memory)
      guard case .dead = answer else { return answer }
    }
  }

  /// Withdraws what a lookup ends at, if that is dead. Under the tree lock.
  private func withdrawNearestIfDead(_ key: UInt64, _ search: UDISearch?, _ garbage: inout Garbage) {
    guard let entry = nearestEntry(key, direction(of: search))?.object else { return }
    garbage.add(entry)
    guard entry.kind.rawValue <= Entry.Kind.observed.rawValue else { return }
    if let object = entry.object { garbage.add(object, of: entry) } else { entry.withdraw(&garbage) }
  }
}

// MARK: - Which direction a lookup takes

extension Node {
  /// The direction of a lookup that begins here: the one that it names; while a factory runs that was handed this context, upwards, so
  /// that nothing is made of what stands below; else the context's.
  ///
  /// Under the tree lock or the node's.
  func direction(of search: UDISearch?) -> UDISearch { search ?? (isHandedToFactory ? .ancestors : self.search) }

  /// Whether a lookup goes down from here. Only for a key that something below has, see `isHandedToFactoryUnchecked`.
  @inline(__always)
  private func looksBelow(_ search: UDISearch?) -> Bool {
    if let search { return search.looksBelow }
    return self.search.looksBelow && !isHandedToFactoryUnchecked
  }

  /// Whether a lookup that has found nothing here and below goes up.
  private func looksAbove(_ search: UDISearch?) -> Bool {
    if let search { return search.looksAbove }
    return self.search.looksAbove || isHandedToFactory
  }

  /// Whether this thread runs a factory that was handed this node's context.
  var isHandedToFactory: Bool {
    PerThread.prepare()
    return isHandedToFactoryUnchecked
  }

  /// The same, without making sure that there is a thread key: for nodes that have children, for which `adopt` has made it.
  @inline(__always)
  private var isHandedToFactoryUnchecked: Bool {
    PerThread.presentResolution?.read { $0.hasHanded(self) } ?? false
  }
}

extension Entry {
  /// What the entry gives, as the requested type, if it is one of the key.
  @inline(__always)
  fileprivate func answer(
    _ key: some LookupKey, _ form: LookupForm, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    key.isSurelyKey(of: self) ? unsafe answer(form, into: memory) : .dead
  }

  /// What the entry gives, as the requested type.
  @inline(__always)
  func answer(_ lookup: LookupForm, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard kind.rawValue <= Kind.observed.rawValue else { return unsafe answerOwned(lookup, into: memory) }
    guard registered.fits(lookup) else { return answerToBeCast(lookup.reach) }
    guard let object else { return .dead }
    unsafe form.write(object, to: memory)
    return .written
  }

  /// The same for an entry that refers to its object weakly, and whose recorded words are not what the lookup wants.
  @inline(never)
  private func answerToBeCast(_ reach: Reach) -> LookupAnswer {
    // Before the object is loaded: that would hold it, and perhaps let go of it, off the main actor.
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

  /// Most links of a graph find what an earlier one made: those are done here, without keeping the provider alive.
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
