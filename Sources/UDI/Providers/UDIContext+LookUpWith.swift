/// How the typed verbs that take arguments, or ask for a fresh instance, call the untyped core.
extension UDIContext {
  // The following functions are compiled in the caller's module. They put the arguments on the stack, and pass their
  // address.

  @inlinable
  func lookUp<Dependency, Pack: AnyArgumentPack>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, with arguments: Pack,
    isFresh: Bool, _ asker: Asker? = nil
  ) -> Dependency? {
    reach.assertIsolation(type)
    var arguments = arguments
    var found: Dependency?
    unsafe withUnsafeMutablePointer(to: &arguments) { arguments in
      unsafe withUnsafeMutablePointer(to: &found) {
        unsafe find(
          type, name, reach, search, Arguments(arguments), isFresh: isFresh, asker, into: UnsafeMutableRawPointer($0))
      }
    }
    return found
  }

  @inlinable
  func lookUpOrThrow<Dependency, Pack: AnyArgumentPack>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, with arguments: Pack,
    _ asker: Asker? = nil
  ) throws -> Dependency {
    reach.assertIsolation(type)
    var arguments = arguments
    var found: Dependency?
    try unsafe withUnsafeMutablePointer(to: &arguments) { arguments in
      try unsafe withUnsafeMutablePointer(to: &found) {
        try unsafe findOrThrow(
          type, name, reach, search, Arguments(arguments), asker, into: UnsafeMutableRawPointer($0))
      }
    }
    return found!
  }

  /// Makes a new instance without arguments, even if the provider keeps one.
  @inlinable
  func lookUpFresh<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ asker: Asker? = nil
  ) -> Dependency? {
    reach.assertIsolation(type)
    var found: Dependency?
    unsafe withUnsafeMutablePointer(to: &found) {
      unsafe find(type, name, reach, search, nil, isFresh: true, asker, into: UnsafeMutableRawPointer($0))
    }
    return found
  }

  /// Looks up a dependency with arguments, or makes a fresh one, and writes it to memory. If the dependency that was
  /// found cannot be made or used, reports why.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If nothing is found, the memory is
  ///   not changed.
  @unsafe
  @usableFromInline
  func find(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: Arguments?, isFresh: Bool,
    _ asker: Asker?, into memory: UnsafeMutableRawPointer
  ) {
    let memory = unsafe InstanceMemory(memory)
    do {
      try provide(type, name, reach, search, arguments, isFresh: isFresh, reports: true, asker, into: memory)
    } catch { if UDIObserver.mayExist { tellMiss(type, name, isRequired: false, error) } }
  }

  /// Performs the lookup for `require`: does the same as `find`, but throws if there is no dependency, and reports
  /// nothing.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If this function does not throw,
  ///   the memory contains the dependency afterwards.
  /// - Throws: `UDILinkError`, or the error that a factory throws.
  @unsafe
  @usableFromInline
  func findOrThrow(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: Arguments?,
    _ asker: Asker?, into memory: UnsafeMutableRawPointer
  ) throws {
    let memory = unsafe InstanceMemory(memory)
    do {
      try provide(type, name, reach, search, arguments, isFresh: false, reports: false, asker, into: memory)
    } catch { throw explained(error, type, name, reach, search) }
  }

  /// Looks up a dependency, with or without arguments. The type is known only at run time.
  ///
  /// - Throws: `ProviderFailure`, or the error that a factory throws.
  func provided<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: Arguments?
  ) throws -> Dependency {
    var found: Dependency?
    try unsafe withUnsafeMutablePointer(to: &found) {
      try unsafe provide(
        type, name, reach, search, arguments, isFresh: false, reports: false, nil, into: InstanceMemory($0))
    }
    guard let found else { throw ProviderFailure.nothing }
    return found
  }

  /// Looks up a dependency and writes it to memory. If the lookup ends at a provider, the provider finds or makes the
  /// instance for the arguments.
  ///
  /// - Parameter reports: Whether a failure goes to the reporter.
  /// - Throws: `ProviderFailure`, or the error that a factory throws. If the method does not throw, the memory contains
  ///   an instance.
  func provide(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: Arguments?, isFresh: Bool,
    reports: Bool, _ asker: Asker?, into memory: InstanceMemory
  ) throws {
    func give(from provider: Provider) throws -> Bool {
      do {
        return try provide(
          provider, type, reach, arguments, isFresh: isFresh, into: memory)
      } catch {
        if reports { report(error, provider, type, search, asker) }
        throw error
      }
    }
    if name == nil, !isFresh, let provider = providerAtOnce(type, reach, search, memory), try give(from: provider) {
      return
    }
    let key = KeyIdentity.id(TypeToken.of(type).id, name)
    let dependent = UDIRecording.isOn ? presentDependent(asker) : nil
    while true {
      let target = withNode { node in
        node.afterPendingSetUps(self, search, for: key) { garbage in
          node.nearestTarget(key, type, reach, search, skipsBindings: isFresh, for: dependent, &garbage)
        }
      }
      switch target {
      case nil: throw ProviderFailure.nothing
      // The dead binding has been withdrawn. Without it, the lookup might reach a set-up block that has to run first,
      // so begin again.
      case .dead: continue
      case .bound(let object):
        return try write(Instance(object: object, form: .none, isBox: false), isExact: false, as: type, to: memory)
      case .refused(let entry):
        if reports { report(ProviderFailure.notSendable, entry, type, search, asker) }
        throw ProviderFailure.notSendable
      case .substituted(let instance, let isExact): return try write(instance, isExact: isExact, as: type, to: memory)
      case .provider(let provider): if try give(from: provider) { return }
      }
    }
  }

  /// Returns the provider at which a lookup ends. Returns nil if the lookup ends elsewhere, if a set-up block has to
  /// run first, or if a dead binding has to be withdrawn. This method is the fast path: it takes only the locks of
  /// contexts, while `nearestTarget` takes the tree lock. Without it, the benchmark "a link with one argument, above a
  /// direct call" would take longer.
  ///
  /// - Parameter memory: Not written to. This lookup's form differs from that of every entry, so the answer is an
  ///   object or an entry, not a value.
  private func providerAtOnce(
    _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, _ memory: InstanceMemory
  ) -> Provider? {
    let answer = withNode { node in
      unsafe node.attempt(TypeToken.of(type).id, LookupForm(casting: reach), search, into: memory.address)
    }
    guard case .provided(let entry) = answer, entry.kind.rawValue >= Entry.Kind.provider.rawValue,
      !entry.registered.isRefused(to: reach)
    else {
      return nil
    }
    return unsafe unsafeDowncast(entry, to: Provider.self)
  }

  /// Asks a provider for the instance for the arguments, and writes this instance to memory. The provider finds or
  /// makes it.
  ///
  /// - Returns: False if the provider has left its context in the meantime. The caller then repeats the lookup.
  /// - Throws: `ProviderFailure`, or the error that a factory throws.
  private func provide(
    _ provider: Provider, _ type: Any.Type, _ reach: Reach, _ arguments: Arguments?, isFresh: Bool,
    into memory: InstanceMemory
  ) throws -> Bool {
    try provider.rejectArguments(arguments, of: reach)
    if let arguments, try provider.makeQuickly(for: self, type, arguments, isFresh: isFresh, into: memory) {
      return true
    }
    guard let instance = try provider.obtain(self, arguments, isFresh: isFresh) else { return false }
    try write(instance, isExact: provider.makes(type), as: type, to: memory)
    return true
  }

  /// Writes an instance to memory, with a cast if necessary.
  ///
  /// - Throws: `ProviderFailure.nothing` if the instance is not of the type.
  private func write(_ instance: Instance, isExact: Bool, as type: Any.Type, to memory: InstanceMemory) throws {
    guard memory.write(instance, isExact: isExact, as: type) else { throw ProviderFailure.nothing }
  }
}

extension Node {
  /// The result of a lookup with arguments, or for a fresh instance.
  enum Target {
    /// A bound instance, for which no arguments are needed.
    case bound(AnyObject)
    /// The lookup is for a `Sendable` type, but this entry was registered under a type that is not `Sendable`.
    case refused(Entry)
    /// The instance of a test's `Override`, for which no arguments are needed.
    case substituted(Instance, isExact: Bool)
    case provider(Provider)
    /// A dead binding was found and has been withdrawn. The caller repeats the lookup.
    case dead
  }

  /// Returns what a lookup finds where it ends; nil if it finds nothing. Withdraws a binding that is dead. Called under
  /// the tree lock.
  ///
  /// - Parameters:
  ///   - skipsBindings: Whether to pass over a live binding, and return the provider under the same key in the same
  ///     context instead.
  ///   - dependent: The object or provider that looks something up; nil to record nothing.
  func nearestTarget(
    _ key: UInt64, _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, skipsBindings: Bool,
    for dependent: Dependent?, _ garbage: inout Garbage
  ) -> Target? {
    guard let entry = nearestEntry(key, direction(of: search))?.object else { return nil }
    garbage.add(entry)
    if let dependent { UDIRecording.noteUse(of: entry, by: dependent, &garbage) }
    if entry.registered.isRefused(to: reach) { return .refused(entry) }
    switch entry.kind {
    case .provider, .graphProvider: return (entry as? Provider).map(Target.provider)
    case .observed, .owned, .boxed:
      if let substitute = entry as? Substitute {
        return substitute.instance.map { .substituted($0, isExact: substitute.makes(type)) }
      }
      return (entry as? InstanceEntry).map { .provider($0.maker) }
    case .binding:
      guard let object = entry.object else {
        entry.withdraw(&garbage)
        return .dead
      }
      guard skipsBindings else { return .bound(object) }
      Schedule.reached(.loadedToLook)
      garbage.add(object, of: entry)
      guard let behind = entry.node?.provider(key) else { return nil }
      garbage.add(behind)
      return behind.registered.isRefused(to: reach) ? .refused(behind) : .provider(behind)
    case .setUp: return nil
    }
  }
}
