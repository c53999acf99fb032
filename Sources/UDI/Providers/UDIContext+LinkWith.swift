/// Lookups from a context that state more than a type: arguments, a fresh instance, or a key. Each verb has two
/// forms: see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Looks up a dependency whose factory takes arguments. As in any lookup, a live binding takes precedence.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: The instance that the provider makes from the arguments, or keeps for them; nil if there is no
  ///   dependency. If the factory takes other arguments, the result is nil, and the mistake is reported.
  @inlinable
  public func link<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search, with: ArgumentPack(argument, repeat each more), isFresh: false)
  }

  /// Looks up a dependency whose factory takes arguments, and throws if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: The instance that the provider makes from the arguments, or keeps for them.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  @inlinable
  public func require<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .anywhere, search, with: ArgumentPack(argument, repeat each more))
  }

  /// Makes a new instance of a dependency, whatever its lifetime: `link((any Editor).self, fresh: true)`. The provider
  /// does not keep the new instance, and does not drop the one that it keeps. If the lookup ends at a binding, the
  /// provider in the same context makes the instance.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  ///   - fresh: Whether to make a new instance; if false, this is an ordinary lookup.
  /// - Returns: A new instance; nil if the context at which the lookup ends has no provider.
  @inlinable
  public func link<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? {
    fresh ? lookUpFresh(type, name, .anywhere, search) : lookUp(type, name, .anywhere, search)
  }

  /// Makes a new instance of a dependency whose factory takes arguments. The provider does not keep the new instance,
  /// and does not drop any that it keeps. If the lookup ends at a binding, the provider in the same context makes the
  /// instance.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  ///   - fresh: Whether to make a new instance; if false, this is an ordinary lookup.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: A new instance; nil if the context at which the lookup ends has no provider.
  @inlinable
  public func link<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search, with: ArgumentPack(argument, repeat each more), isFresh: fresh)
  }

  /// Looks up a dependency by its key.
  ///
  /// - Parameters:
  ///   - key: The key that the dependency is registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call; nil if there is none.
  @inlinable
  public func link<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(Dependency.self, key.name, .anywhere, search)
  }

  /// Looks up a dependency by its key, and throws if there is none.
  ///
  /// - Parameters:
  ///   - key: The key that the dependency is registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  @inlinable
  public func require<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, key.name, .anywhere, search)
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// Does the same as ``link(_:named:search:with:_:)`` on the main actor, for a type or arguments that are not
  /// `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more), isFresh: false)
  }

  /// Does the same as ``require(_:named:search:with:_:)`` on the main actor, for a type or arguments that are not
  /// `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more))
  }

  /// Does the same as ``link(_:named:search:fresh:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? {
    fresh ? lookUpFresh(type, name, .mainActor, search) : lookUp(type, name, .mainActor, search)
  }

  /// Does the same as ``link(_:named:search:fresh:with:_:)`` on the main actor, for a type or arguments that are not
  /// `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more), isFresh: fresh)
  }

  /// Does the same as ``link(_:search:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(Dependency.self, key.name, .mainActor, search)
  }

  /// Does the same as ``require(_:search:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, key.name, .mainActor, search)
  }
}
