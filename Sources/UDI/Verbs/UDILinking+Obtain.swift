/// Looking up a dependency, and waiting for the actor that its factory belongs to, or for its asynchronous factory.
extension UDILinking {
  /// Looks up a dependency, and throws if there is none. If the dependency has to be made, the call waits for its
  /// factory, if that is asynchronous, and for the actor that the factory belongs to.
  ///
  /// ```swift
  /// let library = try await context.obtain((any Library).self)
  /// ```
  ///
  /// If the dependency exists already, the call returns it without leaving the caller's actor, as
  /// ``require(_:named:search:fileID:line:)`` does.
  ///
  /// A factory is called once for each instance that it makes. The parameters of an initialiser that was registered
  /// with `using:` are obtained first, each on its own actor, at any depth. The lookups inside a closure work as
  /// anywhere else: they do not wait. If a closure lacks a dependency that only `obtain` makes, it fails, even if it
  /// uses `link` or `linkAll`. The error says how to register it instead: with `using:`, or as an asynchronous closure
  /// that obtains its dependencies.
  ///
  /// The call never blocks its thread: while another thread makes the instance, the call is suspended. (A synchronous
  /// lookup inside a synchronous closure does wait for another thread.) If the current task is cancelled, the call
  /// returns at once.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under. It may be omitted if the place where the result is
  ///     used determines it.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @_disfavoredOverload @_alwaysEmitIntoClient
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    let request = LookupRequest(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
    if let found: Dependency = _origin.present(request) { return found }
    return try await _origin.obtain(request, with: nil)
  }

  /// Looks up a dependency, and throws if there is none; see ``obtain(_:named:search:fileID:line:)``.
  ///
  /// The compiler chooses this form where an optional is expected. This form looks up the type that the optional wraps.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency? {
    try await obtain(Dependency.self, named: name, search: search, fileID: fileID, line: line)
  }

  /// Looks up a dependency by its key, and throws if there is none; see ``obtain(_:named:search:fileID:line:)``.
  ///
  /// - Parameters:
  ///   - key: The key that the dependency is registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func obtain<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    let request = LookupRequest(
      Dependency.self, key.reach, named: key.name, search: search, at: UDICallSite(fileID, line))
    if let found: Dependency = _origin.present(request) { return found }
    return try await _origin.obtain(request, with: nil)
  }

  /// Looks up a dependency whose factory takes arguments, and throws if there is none.
  ///
  /// If the dependency has to be made, the call waits for its factory, as ``obtain(_:named:search:fileID:line:)`` does.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  nonisolated(nonsending) public func obtain<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, with argument: First, _ more: repeat each More
  ) async throws -> Dependency {
    try await _origin.obtain(
      LookupRequest(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line)),
      with: KeptArguments(ArgumentPack(argument, repeat each more)))
  }

  /// Looks up all dependencies of a type, whatever their names, and waits for those that have to be made, as
  /// ``obtain(_:named:search:fileID:line:)`` does.
  ///
  /// ```swift
  /// let checkers = try await context.obtainAll((any Checker).self)
  /// ```
  ///
  /// Each registration contributes its own dependency. They are obtained one after the other. A factory that returns
  /// nil, or that takes arguments, contributes none.
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The dependencies in search order; those of one context in the order of registration.
  /// - Throws: ``UDILinkError`` if one of them cannot be made; `CancellationError` if the current task is cancelled
  ///   while it waits; or the error that a factory throws.
  /// - Complexity: The same as ``linkAll(_:search:fileID:line:)``, apart from the time that the factories take.
  nonisolated(nonsending) public func obtainAll<Dependency: Sendable>(
    _ type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> [Dependency] {
    try await _origin.obtainAll(LookupRequest(type, .anywhere, search: search, at: UDICallSite(fileID, line)))
  }

  // MARK: - On the main actor, for types that are not Sendable

  /// Does the same as ``obtain(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_disfavoredOverload @preconcurrency @MainActor @_alwaysEmitIntoClient
  public func obtain<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    let request = LookupRequest(type, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
    if let found: Dependency = _origin.present(request) { return found }
    return try await _origin.obtain(request, with: nil)
  }

  /// Does the same as ``obtain(named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`, where
  /// an optional is expected.
  @preconcurrency @MainActor @_alwaysEmitIntoClient
  public func obtain<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency? {
    try await obtain(Dependency.self, named: name, search: search, fileID: fileID, line: line)
  }

  /// Does the same as ``obtain(_:named:search:fileID:line:with:_:)`` on the main actor, for a type or arguments that
  /// are not `Sendable`.
  @preconcurrency @MainActor
  public func obtain<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, with argument: First, _ more: repeat each More
  ) async throws -> Dependency {
    try await _origin.obtain(
      LookupRequest(type, .mainActor, named: name, search: search, at: UDICallSite(fileID, line)),
      with: KeptArguments(ArgumentPack(argument, repeat each more)))
  }

  /// Does the same as ``obtainAll(_:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  public func obtainAll<Dependency>(
    _ type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> [Dependency] {
    try await _origin.obtainAll(LookupRequest(type, .mainActor, search: search, at: UDICallSite(fileID, line)))
  }
}

extension UDIOrigin {
  nonisolated(nonsending) fileprivate func obtainAll<Dependency>(_ request: LookupRequest) async throws -> [Dependency]
  {
    let context = try context(requiredFor: "obtainAll", request)
    do {
      let all = try await Demand(context: context, request: request).obtainAll()
      return all.compactMap { $0.value(as: Dependency.self) }
    } catch { throw seen(error, at: request.site) }
  }

  @usableFromInline
  nonisolated(nonsending) func obtain<Dependency>(
    _ request: LookupRequest, with arguments: KeptArguments?
  ) async throws -> Dependency {
    let context = try context(requiredFor: "obtain", request)
    do {
      // The instance is of exactly this type.
      return try await Demand(context: context, request: request, arguments: arguments).obtain().exact()
    } catch { throw seen(error, at: request.site) }
  }
}
