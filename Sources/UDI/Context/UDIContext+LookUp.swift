/// Lookups by the untyped core, which the typed verbs of `UDILinking` call.
extension UDIContext {
  /// Looks up a dependency. For the library only.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If nothing is found, it is not
  ///   changed.
  public func _find(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    into memory: UnsafeMutableRawPointer
  ) {
    let answer = unsafe attempt(type, name, reach, search, into: memory)
    if case .written = answer { return }
    if case .nothing = answer, !UDIObserver.mayExist { return }
    unsafe finish(answer, type, name, reach, search, nil, into: memory)
  }

  /// Looks up a dependency, and throws if there is none. For the library only.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If this function does not throw,
  ///   the memory contains the dependency afterwards.
  /// - Throws: `UDILinkError`, or the error that a factory throws.
  public func _findOrThrow(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    into memory: UnsafeMutableRawPointer
  ) throws {
    let answer = unsafe attempt(type, name, reach, search, into: memory)
    if case .written = answer { return }
    try unsafe finishOrThrow(answer, type, name, reach, search, nil, into: memory)
  }

  /// The first step of `complete`.
  @inline(__always)
  func attempt(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let token = TypeToken.of(type)
    let key = token.keyID(named: name)
    return withNode { unsafe $0.attempt(key, LookupForm(token, reach), search, into: memory) }
  }

  // MARK: - The end of a lookup whose answer has not been written to the memory

  /// Finishes a lookup for `link`.
  @inline(never)
  func finish(
    _ answer: consuming LookupAnswer, _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?,
    _ asker: Asker?, into memory: UnsafeMutableRawPointer
  ) {
    do {
      try unsafe complete(answer, type, name, reach, search, reports: true, asker, into: InstanceMemory(memory))
    } catch { if UDIObserver.mayExist { tellMiss(type, name, isRequired: false, error) } }
  }

  /// Finishes a lookup for `require`.
  @inline(never)
  func finishOrThrow(
    _ answer: consuming LookupAnswer, _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?,
    _ asker: Asker?, into memory: UnsafeMutableRawPointer
  ) throws {
    do {
      try unsafe complete(answer, type, name, reach, search, reports: false, asker, into: InstanceMemory(memory))
    } catch { throw explained(error, type, name, reach, search) }
  }

  /// Completes a lookup of one dependency. Every such lookup, of every verb, takes these steps:
  ///
  /// 1. `attempt` looks into the index, under the lock of the node where the lookup begins. Most lookups end here: what
  ///    has been found is in the caller's memory, or there is nothing.
  /// 2. What has been found under another type is cast.
  /// 3. A provider is asked for the instance, while no lock is held (`provide`).
  /// 4. If the attempt could not decide, or the provider has left its context meanwhile, `locate` looks again, under
  ///    the tree lock. It withdraws dead entries, and records who asks. Its answer is taken like the attempt's.
  ///
  /// - Parameters:
  ///   - answer: The result of the first step.
  ///   - reports: Whether to report a provider's failure.
  ///   - asker: The object that looks something up; nil if the caller is not an object.
  /// - Throws: `ProviderFailure`, or the error that a factory throws.
  func complete(
    _ answer: consuming LookupAnswer, _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?,
    _ arguments: Arguments? = nil, isFresh: Bool = false, reports: Bool, _ asker: Asker? = nil,
    into memory: InstanceMemory
  ) throws {
    let mustMake = arguments != nil || isFresh
    while true {
      switch consume answer {
      case .written: return
      case .nothing: throw ProviderFailure.nothing
      case .object(let object):
        guard memory.write(object, as: type) else { throw ProviderFailure.nothing }
        return
      case .provided(let entry):
        do {
          if try provide(entry, type, reach, arguments, isFresh: isFresh, into: memory) { return }
        } catch {
          if reports { report(error, entry, type, search, asker) }
          throw error
        }
      case .undecided: break
      }
      answer = locate(type, name, reach, search, mustMake: mustMake, isFresh: isFresh, asker, into: memory)
    }
  }

  /// The first and, if need be, the fourth step of `complete`, for callers that do the rest themselves. Never answers
  /// `undecided`.
  func look(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let answer = unsafe attempt(type, name, reach, search, into: memory)
    guard case .undecided = answer else { return answer }
    return unsafe locate(type, name, reach, search, mustMake: false, isFresh: false, nil, into: InstanceMemory(memory))
  }

  /// The fourth step of `complete`: see `Node.locate`.
  @inline(never)
  private func locate(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, mustMake: Bool, isFresh: Bool,
    _ asker: Asker?, into memory: InstanceMemory
  ) -> LookupAnswer {
    let token = TypeToken.of(type)
    let form = mustMake ? LookupForm(casting: reach) : LookupForm(token, reach)
    let key = token.keyID(named: name)
    let dependent = presentDependent(asker)
    return change { node, garbage in
      unsafe node.locate(
        key, form, search, mustMake: mustMake, isFresh: isFresh, for: dependent, into: memory.address, &garbage)
    }
  }

  @usableFromInline
  func lookUpAll<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, ofAnyName: Bool
  ) -> [Dependency] {
    reach.assertIsolation(type)
    let found = allDependencies(type, name, reach, search, ofAnyName: ofAnyName)
    if found.count == 0 { return [] }
    return unsafe Array(unsafeUninitializedCapacity: found.count) { buffer, count in
      for _ in 0..<found.count {
        let place = unsafe buffer.baseAddress.unsafelyUnwrapped + count
        let dependency: Dependency?
        switch unsafe found.next(into: UnsafeMutableRawPointer(place)) {
        case .written:
          count += 1
          continue
        case .object(let object): dependency = object as? Dependency
        case .provided(let entry): dependency = give(entry, type, reach, search)
        case .nothing, .undecided: dependency = nil
        }
        guard let dependency else { continue }
        unsafe place.initialize(to: dependency)
        count += 1
      }
    }
  }

  private func allDependencies(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, ofAnyName: Bool
  ) -> FoundDependencies {
    withNode { $0.allDependencies(type, name, reach, search, ofAnyName: ofAnyName, from: self) }
  }
}

// MARK: - From an entry to an instance

extension UDIContext {
  /// Returns the instance of exactly this entry; nil if the entry has been removed in the meantime. If the instance
  /// cannot be made, reports why.
  func give<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ reach: UDIReach, _ search: UDISearch?
  ) -> Dependency? {
    var found: Dependency?
    do {
      _ = try unsafe withUnsafeMutablePointer(to: &found) {
        try unsafe provide(entry, type, reach, nil, isFresh: false, into: InstanceMemory($0))
      }
    } catch { report(error, entry, type, search) }
    return found
  }

  /// Returns the instance of an entry that `look` has found. If it cannot be made, reports why.
  func make<Dependency>(
    _ entry: Entry, _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?
  ) -> Dependency? {
    var found: Dependency?
    try? unsafe withUnsafeMutablePointer(to: &found) {
      try unsafe complete(.provided(entry), type, name, reach, search, reports: true, into: InstanceMemory($0))
    }
    return found
  }

  /// Gets the instance of an entry that a lookup has found, and writes it to memory.
  ///
  /// - Returns: False if the entry has left its context in the meantime.
  /// - Throws: `ProviderFailure`, or the error that a factory throws.
  private func provide(
    _ entry: Entry, _ type: Any.Type, _ reach: UDIReach, _ arguments: Arguments?, isFresh: Bool,
    into memory: InstanceMemory
  ) throws -> Bool {
    if entry.registered.isRefused(to: reach) { throw ProviderFailure.notSendable }
    if let arguments, entry.kind.rawValue >= Entry.Kind.provider.rawValue {
      let provider = unsafe unsafeDowncast(entry, to: Provider.self)
      try provider.rejectArguments(arguments, of: reach)
    }
    guard let instance = try entry.instance(for: self, arguments, isFresh: isFresh) else { return false }
    guard memory.write(instance, isExact: entry.makes(type), as: type) else { throw ProviderFailure.nothing }
    return true
  }
}

/// Whether the object is an instance of the given type, which is known only at run time.
func isInstance(_ type: Any.Type, _ object: AnyObject) -> Bool {
  func isOne<Wanted>(_: Wanted.Type) -> Bool { object is Wanted }
  return _openExistential(type, do: isOne)
}
