/// Linking from a context, for lookups that say more than a type: with arguments, fresh, or by key. Each verb has two
/// forms: see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Looks up a dependency whose factory takes arguments. As in any lookup, a live binding takes precedence.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: What the provider makes from the arguments, or keeps for them. If its factory takes other arguments,
  ///   the result is nil, and the mistake is reported.
  @inlinable
  public func link<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search, with: ArgumentPack(argument, repeat each more), isFresh: false)
  }

  /// Looks up a dependency that must be there and whose factory takes arguments.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: What the provider makes from the arguments, or keeps for them.
  /// - Throws: ``UDILinkError`` if there is none or it cannot be made, or what its factory throws.
  @inlinable
  public func require<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .anywhere, search, with: ArgumentPack(argument, repeat each more))
  }

  /// Makes a new instance of a dependency, whatever its lifetime: `link((any Editor).self, fresh: true)`. The provider
  /// keeps what it has, and bindings are ignored.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - fresh: Whether to make a new instance; if false, this is an ordinary lookup.
  /// - Returns: A new instance; nil if the context at which the lookup ends has no provider.
  @inlinable
  public func link<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? {
    fresh ? lookUpFresh(type, name, .anywhere, search) : lookUp(type, name, .anywhere, search)
  }

  /// Makes a new instance of a dependency whose factory takes arguments. The provider keeps what it has, and bindings
  /// are ignored.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
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
  ///   - key: The key it is registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first match in search order, whether it is bound, kept or made now; nil if there is none.
  @inlinable
  public func link<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(Dependency.self, key.name, .anywhere, search)
  }

  /// Looks up, by its key, a dependency that must be there.
  ///
  /// - Parameters:
  ///   - key: The key it is registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first match in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none or it cannot be made, or what its factory throws.
  @inlinable
  public func require<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, key.name, .anywhere, search)
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:with:_:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more), isFresh: false)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``require(_:named:search:with:_:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more))
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:fresh:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? {
    fresh ? lookUpFresh(type, name, .mainActor, search) : lookUp(type, name, .mainActor, search)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:fresh:with:_:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more), isFresh: fresh)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:search:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(Dependency.self, key.name, .mainActor, search)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``require(_:search:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, key.name, .mainActor, search)
  }
}
