/// How the typed verbs that take arguments, or ask for a fresh instance, call the untyped core.
extension UDIContext {
  // The following functions are compiled in the caller's module. They put the arguments on the stack, and pass their
  // address.

  @inlinable
  func lookUp<Dependency, Pack: AnyArgumentPack>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, with arguments: Pack,
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
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, with arguments: Pack,
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
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ asker: Asker? = nil
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
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ arguments: Arguments?, isFresh: Bool,
    _ asker: Asker?, into memory: UnsafeMutableRawPointer
  ) {
    let memory = unsafe InstanceMemory(memory)
    do {
      try complete(
        attemptToMake(type, name, reach, search, memory), type, name, reach, search, arguments, isFresh: isFresh,
        reports: true, asker, into: memory)
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
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ arguments: Arguments?,
    _ asker: Asker?, into memory: UnsafeMutableRawPointer
  ) throws {
    let memory = unsafe InstanceMemory(memory)
    do {
      try complete(
        attemptToMake(type, name, reach, search, memory), type, name, reach, search, arguments, reports: false, asker,
        into: memory)
    } catch { throw explained(error, type, name, reach, search) }
  }

  /// Looks up a dependency, with or without arguments. The type is known only at run time.
  ///
  /// - Throws: `ProviderFailure`, or the error that a factory throws.
  func provided<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ arguments: Arguments?
  ) throws -> Dependency {
    var found: Dependency?
    try unsafe withUnsafeMutablePointer(to: &found) {
      let memory = unsafe InstanceMemory($0)
      let answer =
        arguments == nil
        ? unsafe look(type, name, reach, search, into: memory.address)
        : attemptToMake(type, name, reach, search, memory)
      try complete(answer, type, name, reach, search, arguments, reports: false, into: memory)
    }
    guard let found else { throw ProviderFailure.nothing }
    return found
  }

  /// Finds the provider for a lookup, if that is what the lookup finds. Unlike `locate`, this takes only the locks of
  /// the contexts.
  private func attemptToMake(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ memory: InstanceMemory
  ) -> LookupAnswer {
    let answer = withNode { node in
      unsafe node.attempt(
        TypeToken.of(type).keyID(named: name), LookupForm(casting: reach), search, into: memory.address)
    }
    if case .provided(let entry) = answer, entry.kind.rawValue >= Entry.Kind.provider.rawValue { return answer }
    return .undecided
  }
}
