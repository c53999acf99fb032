/// How the typed verbs call the untyped core, if `UDIFinder` does not perform their lookups.
extension UDIOrigin {
  // The following function is compiled in the caller's module. It puts the arguments on the stack, and passes their
  // address.

  /// Looks up a dependency with arguments.
  ///
  /// - Returns: The dependency. If there is none, and it is not required, nil.
  /// - Throws: As `find(_:with:isRequired:into:)` does.
  @_alwaysEmitIntoClient
  func lookUp<Dependency, Pack: AnyArgumentPack>(
    _ request: LookupRequest, with arguments: Pack, isRequired: Bool
  ) throws -> Dependency? {
    request.reach.assertIsolation(Dependency.self)
    var arguments = arguments
    var found: Dependency?
    try unsafe withUnsafeMutablePointer(to: &arguments) { arguments in
      try unsafe withUnsafeMutablePointer(to: &found) {
        try unsafe find(request, with: Arguments(arguments), isRequired: isRequired, into: UnsafeMutableRawPointer($0))
      }
    }
    return found
  }

  /// Looks up a dependency with arguments, or makes a fresh one, and writes it to memory. If it is not required, but
  /// what was found cannot be made or used, reports why.
  ///
  /// - Parameters:
  ///   - isRequired: Whether this is the lookup of `require`: there has to be a dependency, and nothing is reported.
  ///   - memory: The memory of an optional of the type. It must contain nil. If nothing is found, the memory is not
  ///     changed.
  /// - Throws: Only if a dependency is required and there is none: `UDILinkError`, or the error that a factory throws.
  @unsafe @usableFromInline
  func find(
    _ request: LookupRequest, with arguments: Arguments?, isRequired: Bool, into memory: UnsafeMutableRawPointer
  ) throws {
    let memory = unsafe InstanceMemory(address: memory)
    // A context that looks something up is not retained ("argument" in `Benchmarks/instructions`).
    switch self {
    case .context(let context):
      let answer = context.attemptToMake(request, into: memory)
      try context.finish(answer, request, with: arguments, isRequired: isRequired, for: nil, into: memory)
    case .object(let attachment, let owner):
      try attachment.find(request, with: arguments, isRequired: isRequired, for: owner, into: memory)
    }
  }

  // MARK: - Lookups that `UDIFinder` does not perform

  /// Performs a lookup that finds only a dependency that exists already and need not be cast.
  // As in `lookUp`, the client compiles what knows the type. The library would have to look up the optional's metadata.
  @_alwaysEmitIntoClient @inline(__always)
  func present<Dependency>(_ request: LookupRequest) -> Dependency? {
    var found: Dependency?
    unsafe withUnsafeMutablePointer(to: &found) { unsafe findPresent(request, into: UnsafeMutableRawPointer($0)) }
    return found
  }

  /// Does the same, and writes what it finds to memory.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil. If nothing is found, the memory is
  ///   not changed.
  @unsafe @usableFromInline
  func findPresent(_ request: LookupRequest, into memory: UnsafeMutableRawPointer) {
    switch self {
    case .context(let context): _ = unsafe context.attempt(request, into: InstanceMemory(address: memory))
    case .object(let attachment, _):
      _ = unsafe attachment.attempt(
        request.type, request.reach, named: request.name, search: request.search, into: memory)
    }
  }

  @usableFromInline
  func lookUpAll<Dependency>(_ request: LookupRequest) -> [Dependency] {
    (try? context(for: "linkAll", isRequired: nil, request))?.lookUpAll(request) ?? []
  }
}
