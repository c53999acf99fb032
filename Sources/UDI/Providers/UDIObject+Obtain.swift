/// Looking up dependencies from an object, and waiting for them while they are made.
extension UDIObject {
  /// Looks up a dependency, and throws if there is none. If the dependency has to be made, the call waits; see
  /// ``UDIContext/obtain(_:named:search:)``.
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
  @inlinable
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    if let found = _attachedContext.present(type, name, .anywhere, search) { return found }
    return try await obtainAtLength(type, name, .anywhere, search, nil, CallSite(fileID, line))
  }

  /// Looks up a dependency, and throws if there is none; see ``UDIContext/obtain(named:search:)``. The dependency's
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
  @inlinable
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    try await obtain(Dependency.self, named: name, search: search, fileID: fileID, line: line)
  }

  /// Looks up a dependency, and throws if there is none; see ``UDIContext/obtain(_:named:search:)``. The compiler
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
  @inlinable
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency? {
    try await obtain(Dependency.self, named: name, search: search, fileID: fileID, line: line)
  }

  /// Looks up a dependency whose factory takes arguments, and throws if there is none. If the dependency has to be
  /// made, the call waits; see ``UDIContext/obtain(_:named:search:with:_:)``.
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
    try await obtainAtLength(
      type, name, .anywhere, search, KeptArguments(ArgumentPack(argument, repeat each more)), CallSite(fileID, line))
  }

  /// Looks up a dependency by its key, and throws if there is none; see ``UDIContext/obtain(_:search:)``.
  ///
  /// - Parameters:
  ///   - key: The key that the dependency is registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @inlinable
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    try await obtain(Dependency.self, named: key.name, search: search, fileID: fileID, line: line)
  }

  /// Obtains a dependency of any kind, including those that have to be made.
  @usableFromInline
  nonisolated(nonsending) func obtainAtLength<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: KeptArguments?,
    _ site: CallSite
  ) async throws -> Dependency {
    guard let context = context(for: type, name, site, "obtain", isRequired: true) else {
      throw _attachedContext.goneError(type, name, search, Asker(self, site))
    }
    do { return try await context.obtainAtLength(type, name, reach, search, arguments) } catch {
      throw _attachedContext.explained(error, Asker(self, site))
    }
  }

  // MARK: - On the main actor, for types that are not Sendable

  /// Does the same as ``obtain(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  @inlinable
  public func obtain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    if let found = _attachedContext.present(type, name, .mainActor, search) { return found }
    return try await obtainAtLength(type, name, .mainActor, search, nil, CallSite(fileID, line))
  }

  /// Does the same as ``obtain(named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_disfavoredOverload
  @preconcurrency @MainActor
  @inlinable
  public func obtain<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    try await obtain(Dependency.self, named: name, search: search, fileID: fileID, line: line)
  }

  /// Does the same as ``obtain(named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`, where
  /// an optional is expected.
  @preconcurrency @MainActor
  @inlinable
  public func obtain<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency? {
    try await obtain(Dependency.self, named: name, search: search, fileID: fileID, line: line)
  }

  /// Does the same as ``obtain(_:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  @inlinable
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
    try await obtainAtLength(
      type, name, .mainActor, search, KeptArguments(ArgumentPack(argument, repeat each more)), CallSite(fileID, line))
  }
}
