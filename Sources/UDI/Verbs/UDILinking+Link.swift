/// Linking: looking up a dependency, from a context or from an object. Each verb is declared twice (see
/// `UDILinking+Bind.swift`).
///
/// Some forms of `require` infer the type from the place where the result is used. Of these, the form that does not
/// return an optional is disfavoured. Otherwise the compiler would choose it even where an optional is expected, and
/// would look up the optional type.
extension UDILinking {
  /// Looks up a dependency.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fresh: Whether to make a new instance, whatever the lifetime. The provider does not keep the new instance, and
  ///     does not drop those that it keeps. If the lookup ends at a binding, the provider in the same context makes the
  ///     instance; if there is none, the result is nil.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call; nil if there is none.
  /// - Complexity: O(1) in any tree for a hit in the context or below it; O(levels climbed) for a hit above, and for a
  ///   miss; plus the time of factories that run.
  @_alwaysEmitIntoClient
  public func link<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool = false,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? { lookUp(type, .anywhere, named: name, search: search, fresh: fresh, at: UDICallSite(fileID, line)) }

  /// Looks up a dependency by its key.
  ///
  /// - Parameters:
  ///   - key: The key that the dependency is registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call; nil if there is none.
  @_alwaysEmitIntoClient
  public func link<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    lookUp(Dependency.self, key.reach, named: key.name, search: search, at: UDICallSite(fileID, line))
  }

  /// Looks up a dependency whose factory takes arguments. As in any lookup, a live binding takes precedence.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fresh: Whether to make a new instance, whatever the lifetime. The provider does not keep the new instance, and
  ///     does not drop those that it keeps. If the lookup ends at a binding, the provider in the same context makes the
  ///     instance; if there is none, the result is nil.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: The bound instance, or the instance that the provider makes from the arguments or keeps for them; nil
  ///   if there is no dependency. If the factory takes other arguments, the result is nil, and the mistake is reported.
  @_alwaysEmitIntoClient
  public func link<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool = false,
    fileID: StaticString = #fileID, line: UInt = #line, with argument: First, _ more: repeat each More
  ) -> Dependency? {
    try? _origin.lookUp(
      LookupRequest(type, .anywhere, named: name, search: search, isFresh: fresh, at: UDICallSite(fileID, line)),
      with: ArgumentPack(argument, repeat each more), isRequired: false)
  }

  /// Looks up a dependency, and throws if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under. It may be omitted if the place where the result is
  ///     used determines it: `Editor(store: context.require())` looks up the type of the parameter `store`.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``link(_:named:search:fresh:fileID:line:)``.
  @_alwaysEmitIntoClient @_transparent
  public func require<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
  }

  /// Looks up a dependency, and throws if there is none.
  ///
  /// The compiler chooses this form where an optional is expected. This form looks up the type that the optional wraps.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  @_alwaysEmitIntoClient @_transparent
  public func require<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
  }

  /// Looks up a dependency by its key, and throws if there is none.
  ///
  /// - Parameters:
  ///   - key: The key that the dependency is registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  @_alwaysEmitIntoClient @_transparent
  public func require<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, key.reach, named: key.name, search: search, at: UDICallSite(fileID, line))
  }

  /// Looks up a dependency whose factory takes arguments, and throws if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: The bound instance, or the instance that the provider makes from the arguments or keeps for them.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  @_alwaysEmitIntoClient @_transparent
  public func require<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try _origin.lookUp(
      LookupRequest(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line)),
      with: ArgumentPack(argument, repeat each more), isRequired: true)!
  }

  /// Looks up all dependencies of the given type, whatever their names.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The dependencies in search order, those of one context in the order of registration. Some may be made
  ///   by this call.
  /// - Complexity: O(contexts that have a dependency of the type or lead to one, and levels above), whatever else the
  ///   tree contains. If dependencies of the type have names, also O(keys at the context and at those above it).
  @_alwaysEmitIntoClient
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] { _origin.lookUpAll(LookupRequest(type, .anywhere, search: search, at: UDICallSite(fileID, line))) }

  /// Unavailable: name the type that is looked up.
  @available(*, unavailable, message: "name the type, as in `link((any Service).self)`")
  public func link<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) -> Dependency? { nil }

  // MARK: - The core of the verbs

  // Clients should stay small, so a client's module compiles only one call per type. The call passes a pointer to the
  // optional result, and the library writes its answer there. This works because an optional of a class or protocol
  // type has the same layout as the type itself, with a null pointer for nil (Type Layout, "Single-Payload Enums", in
  // the Swift repository: docs/ABI/TypeLayout.rst). Only values of such types are written this way. Writing the value
  // elsewhere and moving it into the optional would cost as much as the lookup's lock.
  //
  // What clients compile is marked `@_alwaysEmitIntoClient`, here and everywhere. With `@inlinable`, the library and
  // every client would also contain a generic copy that nothing calls: 32 KiB. `require` is transparent, so that the
  // compiler does not optimise it for each type before inlining it. As factories call it often, this makes clients
  // compile 3 % faster ("compile" in `Benchmarks/cost`).

  /// Performs the lookup for `link`. If the dependency cannot be made, reports why.
  @_alwaysEmitIntoClient @inline(__always)
  func lookUp<Dependency>(
    _ type: Dependency.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, fresh: Bool = false,
    at site: UDICallSite = UDICallSite("", 0)
  ) -> Dependency? {
    reach.assertIsolation(type)
    var found: Dependency?
    // What makes a fresh instance is not generic: otherwise clients would compile it for each type.
    func find(into memory: UnsafeMutablePointer<Dependency?>) {
      let memory = UnsafeMutableRawPointer(memory)
      if fresh {
        let request = LookupRequest(type, reach, named: name, search: search, isFresh: true, at: site)
        try? unsafe _origin.find(request, with: nil, isRequired: false, into: memory)
      } else {
        unsafe _attachedContext._find(type, reach, named: name, search: search, at: site, for: self, into: memory)
      }
    }
    unsafe find(into: &found)
    return found
  }

  /// Does what `link` does, for a request that was made before.
  func lookUp<Dependency>(_ request: LookupRequest) -> Dependency? {
    lookUp(Dependency.self, request.reach, named: request.name, search: request.search)
  }

  /// Performs the lookup for `require`.
  @_alwaysEmitIntoClient @_transparent
  func lookUpOrThrow<Dependency>(
    _ type: Dependency.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?,
    at site: UDICallSite = UDICallSite("", 0)
  ) throws -> Dependency {
    reach.assertIsolation(type)
    var found: Dependency?
    // With `withUnsafeMutablePointer`, whose closure would throw, clients would take a tenth longer to compile
    // ("compile" in `Benchmarks/cost`).
    func find(into memory: UnsafeMutablePointer<Dependency?>) throws {
      try unsafe _attachedContext._findOrThrow(
        type, reach, named: name, search: search, at: site, for: self, into: UnsafeMutableRawPointer(memory))
    }
    try unsafe find(into: &found)
    // If nothing was found, the call above has thrown, so there is a value.
    return unsafe found.unsafelyUnwrapped
  }

  // MARK: - On the main actor, for types that are not Sendable

  /// Does the same as ``link(_:named:search:fresh:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool = false,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    lookUp(type, .mainActor, named: name, search: search, fresh: fresh, at: UDICallSite(fileID, line))
  }

  /// Does the same as ``link(_:named:search:fresh:fileID:line:with:_:)`` on the main actor, for a type or arguments
  /// that are not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool = false,
    fileID: StaticString = #fileID, line: UInt = #line, with argument: First, _ more: repeat each More
  ) -> Dependency? {
    try? _origin.lookUp(
      LookupRequest(type, .mainActor, named: name, search: search, isFresh: fresh, at: UDICallSite(fileID, line)),
      with: ArgumentPack(argument, repeat each more), isRequired: false)
  }

  /// Does the same as ``require(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func require<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(type, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
  }

  /// Does the same as ``require(named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`,
  /// where an optional is expected.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func require<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
  }

  /// Does the same as ``require(_:named:search:fileID:line:with:_:)`` on the main actor, for a type or arguments that
  /// are not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func require<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try _origin.lookUp(
      LookupRequest(type, .mainActor, named: name, search: search, at: UDICallSite(fileID, line)),
      with: ArgumentPack(argument, repeat each more), isRequired: true)!
  }

  /// Does the same as ``linkAll(_:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func linkAll<Dependency>(
    _ type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    _origin.lookUpAll(LookupRequest(type, .mainActor, search: search, at: UDICallSite(fileID, line)))
  }
}
