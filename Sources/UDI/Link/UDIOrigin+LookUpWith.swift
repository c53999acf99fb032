/// How the typed verbs that take arguments, or ask for a fresh instance, call the untyped core.
extension UDIOrigin {
  // The following functions are compiled in the caller's module. They put the arguments on the stack, and pass their
  // address.

  /// Looks up a dependency with arguments.
  @_alwaysEmitIntoClient
  func lookUp<Dependency, Pack: AnyArgumentPack>(_ request: LookupRequest, with arguments: Pack) -> Dependency? {
    request.reach.assertIsolation(Dependency.self)
    var arguments = arguments
    var found: Dependency?
    unsafe withUnsafeMutablePointer(to: &arguments) { arguments in
      unsafe withUnsafeMutablePointer(to: &found) {
        unsafe find(request, with: Arguments(arguments), into: UnsafeMutableRawPointer($0))
      }
    }
    return found
  }

  /// Looks up a dependency with arguments, and throws if there is none.
  @_alwaysEmitIntoClient
  func lookUpOrThrow<Dependency, Pack: AnyArgumentPack>(
    _ request: LookupRequest, with arguments: Pack
  ) throws -> Dependency {
    request.reach.assertIsolation(Dependency.self)
    var arguments = arguments
    var found: Dependency?
    try unsafe withUnsafeMutablePointer(to: &arguments) { arguments in
      try unsafe withUnsafeMutablePointer(to: &found) {
        try unsafe findOrThrow(request, with: Arguments(arguments), into: UnsafeMutableRawPointer($0))
      }
    }
    return found!
  }
}

extension UDIOrigin {
  /// Looks up a dependency with arguments, or makes a fresh one, and writes it to memory. If the dependency that was
  /// found cannot be made or used, reports why.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If nothing is found, the memory is
  ///   not changed.
  @unsafe
  @usableFromInline
  func find(_ request: LookupRequest, with arguments: Arguments?, into memory: UnsafeMutableRawPointer) {
    func find(in context: UDIContext, for asker: AnyObject?) {
      let memory = unsafe InstanceMemory(address: memory)
      let answer = context.attemptToMake(request, into: memory)
      try? context.finish(answer, request, with: arguments, isRequired: false, for: asker, into: memory)
    }
    // A context that looks something up is not retained ("argument" in `Benchmarks/instructions`).
    switch self {
    case .context(let context): find(in: context, for: nil)
    case .object(let attachment, let owner):
      guard let context = attachment.contextForLink("link", isRequired: false, request, for: owner) else { return }
      find(in: context, for: owner)
    }
  }

  /// Performs the lookup for `require`: does the same as `find`, but throws if there is no dependency, and reports
  /// nothing.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If this function does not throw,
  ///   the memory contains the dependency afterwards.
  /// - Throws: `UDILinkError`, or the error that a factory throws.
  @unsafe
  @usableFromInline
  func findOrThrow(_ request: LookupRequest, with arguments: Arguments, into memory: UnsafeMutableRawPointer) throws {
    let context = try context(requiredFor: "require", request)
    let memory = unsafe InstanceMemory(address: memory)
    let answer = context.attemptToMake(request, into: memory)
    do {
      try context.finish(answer, request, with: arguments, isRequired: true, for: asker, into: memory)
    } catch { throw seen(error, at: request.site) }
  }
}

extension UDIContext {
  /// Looks up a dependency, with or without arguments, for callers that handle a failure themselves.
  ///
  /// - Throws: `ProviderFailure`, or the error that a factory throws.
  func provided<Dependency>(_ request: LookupRequest, with arguments: Arguments?) throws -> Dependency {
    var found: Dependency?
    try unsafe withUnsafeMutablePointer(to: &found) {
      let memory = unsafe InstanceMemory($0)
      let answer = arguments == nil ? attempt(request, into: memory) : attemptToMake(request, into: memory)
      try complete(answer, request, with: arguments, reports: false, into: memory)
    }
    guard let found else { throw ProviderFailure.nothing }
    return found
  }

  /// Answers with the provider, if that is what the lookup finds, and otherwise leaves the lookup to `locate`
  /// (`undecided`). Unlike `locate`, this takes only the locks of the nodes.
  @inline(never)
  fileprivate func attemptToMake(_ request: LookupRequest, into memory: InstanceMemory) -> LookupAnswer {
    let key = TypeToken.inlined(request.type).keyID(named: request.name)
    let answer = withNode { node in
      unsafe node.attempt(
        key, as: WantedType(casting: request.reach), search: request.search, into: memory.address)
    }
    if case .provided(let entry) = answer, entry.kind.rawValue >= Entry.Kind.provider.rawValue { return answer }
    return .undecided
  }
}
