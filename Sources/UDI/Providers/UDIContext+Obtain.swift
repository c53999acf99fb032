/// Looking up dependencies, and waiting for them while they are made.
extension UDIContext {
  /// Looks up a dependency, and throws if there is none. If the dependency has to be made, the call waits for its
  /// factory, if that is asynchronous, and for the actor that the factory belongs to.
  ///
  /// ```swift
  /// let library = try await context.obtain((any Library).self)
  /// ```
  ///
  /// If the dependency exists already, the call returns it without leaving the caller's actor, as
  /// ``require(_:named:search:)`` does.
  ///
  /// A synchronous factory may require a dependency that only an asynchronous factory can make. In this case, `obtain`
  /// makes that dependency and then runs the synchronous factory again, the innermost one first. This works only if the
  /// provider of that dependency keeps the instance. An initialiser that was registered with `using:` is called only
  /// once: its parameters are obtained first, and need not be kept. An asynchronous factory is never run again: in it,
  /// obtain what you need. If a factory looks up a dependency that belongs to a different actor, obtain that dependency
  /// first.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @inlinable
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) async throws -> Dependency {
    if let found = present(type, name, .anywhere, search) { return found }
    return try await obtainAtLength(type, name, .anywhere, search, nil)
  }

  /// Looks up a dependency, and throws if there is none; see ``obtain(_:named:search:)``. The dependency's type is
  /// inferred from the place where the result is used, as by ``require(named:search:)``.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @_disfavoredOverload
  @inlinable
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil
  ) async throws -> Dependency {
    try await obtain(Dependency.self, named: name, search: search)
  }

  /// Looks up a dependency, and throws if there is none; see ``obtain(_:named:search:)``. The compiler chooses this
  /// form where an optional is expected. This form looks up the type that the optional wraps.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @inlinable
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil
  ) async throws -> Dependency? {
    try await obtain(Dependency.self, named: name, search: search)
  }

  /// Looks up a dependency whose factory takes arguments, and throws if there is none. If the dependency has to be
  /// made, the call waits for its factory, as ``obtain(_:named:search:)`` does.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  nonisolated(nonsending) public func obtain<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) async throws -> Dependency {
    try await obtainAtLength(
      type, name, .anywhere, search, KeptArguments(ArgumentPack(argument, repeat each more)))
  }

  /// Looks up a dependency by its key, and throws if there is none; see ``obtain(_:named:search:)``.
  ///
  /// - Parameters:
  ///   - key: The key that the dependency is registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; `CancellationError` if the current task
  ///   is cancelled while it waits; or the error that the factory throws.
  @inlinable
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) async throws -> Dependency {
    try await obtain(Dependency.self, named: key.name, search: search)
  }

  /// Obtains a dependency of any kind, including those that have to be made.
  @usableFromInline
  nonisolated(nonsending) func obtainAtLength<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: KeptArguments?
  ) async throws -> Dependency {
    let instance = try await Obtaining(
      context: self, type: type, name: name, reach: reach, search: search, arguments: arguments
    ).run()
    // `run` returns an instance of exactly this type.
    return unsafe instance.value(as: type, isExact: true).unsafelyUnwrapped
  }

  // MARK: - On the main actor, for types that are not Sendable

  /// Does the same as ``obtain(_:named:search:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  @inlinable
  public func obtain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) async throws -> Dependency {
    if let found = present(type, name, .mainActor, search) { return found }
    return try await obtainAtLength(type, name, .mainActor, search, nil)
  }

  /// Does the same as ``obtain(named:search:)`` on the main actor, for a type that is not `Sendable`.
  @_disfavoredOverload
  @preconcurrency @MainActor
  @inlinable
  public func obtain<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) async throws -> Dependency {
    try await obtain(Dependency.self, named: name, search: search)
  }

  /// Does the same as ``obtain(named:search:)`` on the main actor, for a type that is not `Sendable`, where an optional
  /// is expected.
  @preconcurrency @MainActor
  @inlinable
  public func obtain<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) async throws -> Dependency? {
    try await obtain(Dependency.self, named: name, search: search)
  }

  /// Does the same as ``obtain(_:search:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  @inlinable
  public func obtain<Dependency>(_ key: UDIKey<Dependency>, search: UDISearch? = nil) async throws -> Dependency {
    try await obtain(Dependency.self, named: key.name, search: search)
  }

  /// Does the same as ``obtain(_:named:search:with:_:)`` on the main actor, for a type or arguments that are not
  /// `Sendable`.
  @preconcurrency @MainActor
  public func obtain<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) async throws -> Dependency {
    try await obtainAtLength(
      type, name, .mainActor, search, KeptArguments(ArgumentPack(argument, repeat each more)))
  }
}
