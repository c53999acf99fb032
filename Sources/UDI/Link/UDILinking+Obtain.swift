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
  /// A synchronous factory may require a dependency that only an asynchronous factory can make. In this case, `obtain`
  /// makes that dependency and then runs the synchronous factory again, the innermost one first. This works only if the
  /// provider of that dependency keeps the instance. A factory that uses `link` or `linkAll` does without it, and
  /// that is reported (``UDIMisuse/Kind/notMade``). An initialiser that was registered with `using:` is called only
  /// once: its parameters are obtained first, and need not be kept. An asynchronous factory is never run again: in it,
  /// obtain what you need. If a factory looks up a dependency that belongs to a different actor, obtain that dependency
  /// first.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    let request = LookupRequest(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
    if let found: Dependency = _origin.present(request) { return found }
    return try await _origin.obtain(request, with: nil)
  }

  /// Looks up a dependency, and throws if there is none; see ``obtain(_:named:search:fileID:line:)``. The dependency's
  /// type is inferred from the place where the result is used.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @_disfavoredOverload
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    try await obtain(Dependency.self, named: name, search: search, fileID: fileID, line: line)
  }

  /// Looks up a dependency, and throws if there is none; see ``obtain(_:named:search:fileID:line:)``. The compiler
  /// chooses this form where an optional is expected. This form looks up the type that the optional wraps.
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
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    try await obtain(Dependency.self, named: key.name, search: search, fileID: fileID, line: line)
  }

  /// Looks up a dependency whose factory takes arguments, and throws if there is none. If the dependency has to be
  /// made, the call waits for its factory, as ``obtain(_:named:search:fileID:line:)`` does.
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
}

extension UDIOrigin {
  @usableFromInline
  nonisolated(nonsending) func obtain<Dependency>(
    _ request: LookupRequest, with arguments: KeptArguments?
  ) async throws -> Dependency {
    let context = try context(requiredFor: "obtain", request)
    do {
      let instance = try await Obtaining(context: context, request: request, arguments: arguments).run()
      // `Obtaining` returns an instance of exactly this type.
      return unsafe instance.value(as: Dependency.self, isExact: true).unsafelyUnwrapped
    } catch { throw seen(error, at: request.site) }
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDILinking {
  /// Does the same as ``obtain(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  @_alwaysEmitIntoClient
  public func obtain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    let request = LookupRequest(type, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
    if let found: Dependency = _origin.present(request) { return found }
    return try await _origin.obtain(request, with: nil)
  }

  /// Does the same as ``obtain(named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_disfavoredOverload
  @preconcurrency @MainActor
  @_alwaysEmitIntoClient
  public func obtain<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    try await obtain(Dependency.self, named: name, search: search, fileID: fileID, line: line)
  }

  /// Does the same as ``obtain(named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`, where
  /// an optional is expected.
  @preconcurrency @MainActor
  @_alwaysEmitIntoClient
  public func obtain<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency? {
    try await obtain(Dependency.self, named: name, search: search, fileID: fileID, line: line)
  }

  /// Does the same as ``obtain(_:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  @_alwaysEmitIntoClient
  public func obtain<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    try await obtain(Dependency.self, named: key.name, search: search, fileID: fileID, line: line)
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
}
