/// The untyped core of lookups, which the typed verbs of `UDILinking` call.
extension UDIContext {
  /// Looks up a dependency. For the library only.
  ///
  /// - Parameters:
  ///   - asker: The context itself.
  ///   - memory: The memory of an optional of the type. It must contain nil. If nothing is found, it is not changed.
  public func _find(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, at site: UDICallSite,
    for asker: AnyObject, into memory: UnsafeMutableRawPointer
  ) {
    let answer = unsafe attempt(type, reach, named: name, search: search, into: memory)
    if case .written = answer { return }
    if case .nothing = answer, !UDIObserver.mayExist { return }
    let request = LookupRequest(type, reach, named: name, search: search, at: site)
    // If `asker` were not used, each hit would go through a thunk that leaves it out ("link" in
    // `Benchmarks/instructions`).
    try? unsafe finish(
      answer, request, isRequired: false, for: asker === self ? nil : asker, into: InstanceMemory(address: memory))
  }

  /// Looks up a dependency, and throws if there is none. For the library only.
  ///
  /// - Parameters:
  ///   - asker: The context itself.
  ///   - memory: The memory of an optional of the type. It must contain nil. If this function does not throw, the
  ///     memory contains the dependency afterwards.
  /// - Throws: `UDILinkError`, or the error that a factory throws.
  public func _findOrThrow(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, at site: UDICallSite,
    for asker: AnyObject, into memory: UnsafeMutableRawPointer
  ) throws {
    let answer = unsafe attempt(type, reach, named: name, search: search, into: memory)
    if case .written = answer { return }
    let request = LookupRequest(type, reach, named: name, search: search, at: site)
    try unsafe finish(
      answer, request, isRequired: true, for: asker === self ? nil : asker, into: InstanceMemory(address: memory))
  }

  /// The first step of `complete`.
  @inline(__always)
  func attempt(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    let token = TypeToken.inlined(type)
    let key = token.keyID(named: name)
    let wanted = WantedType(token, reach)
    return withNode { unsafe $0.attempt(key, as: wanted, search: search, into: memory) }
  }

  /// Does the same for a request.
  @inline(never)
  func attempt(_ request: LookupRequest, into memory: InstanceMemory) -> LookupAnswer {
    unsafe attempt(request.type, request.reach, named: request.name, search: request.search, into: memory.address)
  }

  /// Does the same if only a provider is an answer. If something else is found, or nothing, this leaves the lookup to
  /// `locate` (`lookAgain`).
  @inline(never)
  func attemptToMake(_ request: LookupRequest, into memory: InstanceMemory) -> LookupAnswer {
    let key = TypeToken.inlined(request.type).keyID(named: request.name)
    let wanted = WantedType(casting: request.reach)
    let answer = withNode { unsafe $0.attempt(key, as: wanted, search: request.search, into: memory.address) }
    if case .provided(let entry) = answer, entry.kind.rawValue >= Entry.Kind.provider.rawValue { return answer }
    return .lookAgain
  }

  // MARK: - The end of a lookup whose answer has not been written to the memory

  /// Finishes a lookup for `link` or `require`.
  ///
  /// - Parameters:
  ///   - isRequired: Whether the verb throws an error if it gets no dependency, as `require` does. Otherwise, a failure
  ///     of a provider is reported.
  ///   - asker: The object that looks something up; nil if the caller is not an object.
  /// - Throws: If `isRequired`, `UDILinkError`, or the error that a factory throws. Otherwise, the caller ignores the
  ///   error.
  @inline(never)
  func finish(
    _ answer: consuming LookupAnswer, _ request: LookupRequest, with arguments: Arguments? = nil, isRequired: Bool,
    for asker: AnyObject?, into memory: InstanceMemory
  ) throws {
    do { try complete(answer, request, with: arguments, reports: !isRequired, for: asker, into: memory) } catch {
      if isRequired { throw explained(error, request) }
      if UDIObserver.mayExist { request.tellMiss(from: fullPath, isRequired: false) }
    }
  }

  /// Completes a lookup of one dependency. Every such lookup, of every verb, takes these steps, as far as it needs
  /// them:
  ///
  /// 1. `attempt` looks into the index, under the lock of the node where the lookup begins, and of each further node
  ///    that it climbs to. Most lookups end here: the dependency is in the caller's memory, or there is none.
  /// 2. An object that is not stored in the form of the requested type is cast.
  /// 3. An entry that does not show its instance, such as a provider, is asked for it, while no lock is held
  ///    (`takeInstance`).
  /// 4. If the attempt could not decide, or the entry has left its context meanwhile, `locate` looks again, under the
  ///    tree lock. It withdraws dead entries, and records who asks. Its answer is taken like the attempt's.
  ///
  /// - Parameters:
  ///   - answer: The result of the first step.
  ///   - reports: Whether to report a provider's failure.
  ///   - asker: The object that looks something up; nil if the caller is not an object.
  /// - Throws: `ProviderFailure`, or the error that a factory throws.
  func complete(
    _ answer: consuming LookupAnswer, _ request: LookupRequest, with arguments: Arguments? = nil, reports: Bool,
    for asker: AnyObject? = nil, into memory: InstanceMemory
  ) throws {
    while true {
      switch consume answer {
      case .written: return
      case .object(let object) where memory.write(object, as: request.type): return
      case .nothing, .object: throw ProviderFailure.nothing
      case .provided(let entry):
        do { if try takeInstance(of: entry, request, with: arguments, into: memory) { return } } catch {
          if reports { report(error, from: entry, request, for: asker) }
          throw error
        }
      case .dead, .lookAgain, .notBegun: break
      }
      answer = locate(request, mustMake: arguments != nil || request.isFresh, for: asker, into: memory)
    }
  }

  /// The fourth step of `complete`: see `Node.locate`.
  @inline(never)
  func locate(
    _ request: LookupRequest, mustMake: Bool, for asker: AnyObject?, into memory: InstanceMemory
  ) -> LookupAnswer {
    let token = TypeToken.inlined(request.type)
    let wanted = mustMake ? WantedType(casting: request.reach) : WantedType(token, request.reach)
    let key = token.keyID(named: request.name)
    let dependent = presentDependent(asker)
    return change { node, garbage in
      let answer = unsafe node.locate(
        key, as: wanted, search: request.search, mustMake: mustMake, isFresh: request.isFresh, for: dependent,
        into: memory.address, &garbage)
      if Tree.areLooking { node.noteNeed(request.key, request.search, findsAll: false) }
      return answer
    }
  }

  func lookUpAll<Dependency>(_ request: LookupRequest) -> [Dependency] {
    request.reach.assertIsolation(Dependency.self)
    var found = withNode { $0.allDependencies(request) }
    if found.isEmpty { return [] }
    let wanted = WantedType(.of(request.type), request.reach)
    return unsafe Array(unsafeUninitializedCapacity: found.count) { buffer, count in
      while let (entry, object) = found.popLast() {
        let place = unsafe buffer.baseAddress.unsafelyUnwrapped + count
        if let object, entry.registered.fits(wanted) {
          unsafe entry.form.write(object, to: UnsafeMutableRawPointer(place))
        } else if unsafe !give(object, of: entry, request, into: place) {
          continue
        }
        count += 1
      }
    }
  }

  /// Writes an instance that has to be cast, made, or taken out of its box.
  ///
  /// - Returns: Whether there is one.
  // A function of its own, because it needs the optional's metadata, which are slow to find.
  @inline(never)
  private func give<Dependency>(
    _ object: AnyObject?, of entry: Entry, _ request: LookupRequest, into place: UnsafeMutablePointer<Dependency>
  ) -> Bool {
    guard let dependency = object.map({ $0 as? Dependency }) ?? give(entry, request) else { return false }
    unsafe place.initialize(to: dependency)
    return true
  }

  // MARK: - From an entry to an instance

  /// Returns the instance of exactly this entry; nil if the entry has been removed in the meantime. If the instance
  /// cannot be made, reports why.
  func give<Dependency>(_ entry: Entry, _ request: LookupRequest) -> Dependency? {
    var found: Dependency?
    do {
      _ = try unsafe withUnsafeMutablePointer(to: &found) {
        try unsafe takeInstance(of: entry, request, with: nil, into: InstanceMemory(address: $0))
      }
    } catch { report(error, from: entry, request) }
    return found
  }

  /// Gets the instance of an entry that a lookup has found, and writes it to memory.
  ///
  /// - Returns: False if the entry has left its context in the meantime.
  /// - Throws: `ProviderFailure`, or the error that a factory throws.
  private func takeInstance(
    of entry: Entry, _ request: LookupRequest, with arguments: Arguments?, into memory: InstanceMemory
  ) throws -> Bool {
    try entry.reject(request.reach, arguments)
    guard let instance = try entry.takeInstance(for: self, with: arguments, isFresh: request.isFresh) else {
      return false
    }
    if memory.write(instance, isExact: entry.instanceType == request.type, as: request.type) { return true }
    throw ProviderFailure.nothing
  }

  // MARK: - Who asks

  /// Returns the object or provider that is looking something up in this context. Do not call this under a lock.
  ///
  /// - Parameter asker: The object that looks something up, if the caller knows of one.
  /// - Returns: Nil if recording is off, or if neither an object nor a provider is known to be looking something up.
  ///   Lookups by an observer or a reporter do not count as lookups of the factory that runs meanwhile.
  @inline(never)
  func presentDependent(_ asker: AnyObject?) -> Dependent? {
    guard isRecording else { return nil }
    // The object's conformance might be isolated to an actor. This cast does not check that, and need not: the object
    // itself is performing the lookup, so its conformance may be used here.
    if let asker { return (asker as? any UDIObject).map { ($0._attachedContext, type(of: asker)) } }
    let resolution = Resolution.present
    if resolution?.read({ $0.isTelling }) == true { return nil }
    let provider = resolution?.read { unsafe $0.frames.last?.provider.object } ?? AsyncCall.currentProvider
    return provider.map { ($0, nil) }
  }
}
