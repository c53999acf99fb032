/// Registering providers, for what has to be made rather than found.
extension UDIContext {
  /// Registers a factory.
  ///
  /// Nothing is made before the first lookup that needs it. A live binding under the same key comes first. What was
  /// registered here under the same key before is replaced, together with what its provider made.
  ///
  /// ```swift
  /// context.register((any Store).self, lifetime: .context) { context in
  ///   try Database(clock: context.require((any Clock).self))
  /// }
  /// ```
  ///
  /// A closure runs where it belongs. A closure written in main-actor code belongs to the main actor, one written in
  /// another global actor's code to that actor; all others run wherever somebody looks the dependency up. A function
  /// that belongs to no actor counts as the main actor's if it is registered in main-actor code. A lookup off the
  /// factory's actor finds what was made and is kept. Before something is made, such a lookup is a miss;
  /// ``obtain(_:named:search:)`` makes the instance. If something can be made anywhere, register it in a `nonisolated`
  /// function.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`. It may be omitted if the factory's
  ///     result determines it.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime``.
  ///   - metadata: Any value by which to find the registration: see ``registrations(of:search:)``.
  ///   - isolation: The actor in whose code this is called. A function that belongs to no actor counts as the main
  ///     actor's if it is registered in main-actor code; pass nil if it can be called anywhere.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It gets a context: the one that asks or, if the instance is kept, the one that it
  ///     is registered in. While it runs, lookups through that context go up unless they name a search, so that nothing
  ///     is made from what is below. Use the context that the factory is given. A factory that captures a context keeps
  ///     it alive; if the factory is registered in that same context, the context then keeps itself alive for ever. If
  ///     the factory returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it
  ///     throws, `link` gives nil and reports the error, and `require` throws it.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made is visible; here two objects
  ///     can refer to each other. If the instance is kept, other threads may have got it earlier.
  /// - Returns: A handle, to serve other types from the registration or to take it back.
  /// - Precondition: If both closures belong to actors, it is the same actor.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func register<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ factory: @escaping @Sendable @isolated(any) (UDIContext) throws -> Dependency?,
    @_inheritActorContext onCreate: (@Sendable @isolated(any) (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .anywhere, in: isolation, factory, onCreate))
  }

  /// Registers a factory that needs no context; see
  /// ``register(_:named:lifetime:metadata:isolation:fileID:line:_:onCreate:)``.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`. It may be omitted if the factory's
  ///     result determines it.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime``.
  ///   - metadata: Any value by which to find the registration: see ``registrations(of:search:)``.
  ///   - isolation: The actor in whose code this is called. A function that belongs to no actor counts as the main
  ///     actor's if it is registered in main-actor code; pass nil if it can be called anywhere.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance, throws, or returns nil if there is nothing.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made is visible.
  /// - Returns: A handle, to serve other types from the registration or to take it back.
  /// - Precondition: If both closures belong to actors, it is the same actor.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func register<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ factory: @escaping @Sendable @isolated(any) () throws -> Dependency?,
    @_inheritActorContext onCreate: (@Sendable @isolated(any) (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .anywhere, in: isolation, factory, onCreate))
  }

  // MARK: - On the main actor, for types that are not Sendable

  // They have the parameter `isolation` only because the compiler prefers the form with fewer defaults. Here a closure
  // belongs to the main actor.

  /// The same as ``register(_:named:lifetime:metadata:isolation:fileID:line:_:onCreate:)`` for a type that is not
  /// `Sendable`, on the main actor.
  @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    _ factory: @escaping @isolated(any) (UDIContext) throws -> Dependency?,
    onCreate: (@isolated(any) (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .mainActor, in: isolation, factory, onCreate))
  }

  /// The same as ``register(_:named:lifetime:metadata:isolation:fileID:line:_:onCreate:)`` for a type that is not
  /// `Sendable`, on the main actor, with a factory that needs no context.
  @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    _ factory: @escaping @isolated(any) () throws -> Dependency?,
    onCreate: (@isolated(any) (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .mainActor, in: isolation, factory, onCreate))
  }
}

// MARK: - Mistakes

extension UDIContext {
  /// Cannot be used: a factory is synchronous.
  ///
  /// - Parameters:
  ///   - type: The type to register it under.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept.
  ///   - metadata: Any value by which to find the registration.
  ///   - factory: Makes an instance.
  /// - Returns: Nothing.
  @available(
    *, unavailable, message: "a factory cannot be asynchronous: make the instance with `await` first, and `provide` it"
  )
  @discardableResult
  public func register<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, _ factory: @escaping @Sendable (UDIContext) async throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    preconditionFailure("unavailable")
  }

  /// Cannot be used: a factory is synchronous.
  ///
  /// - Parameters:
  ///   - type: The type to register it under.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept.
  ///   - metadata: Any value by which to find the registration.
  ///   - factory: Makes an instance.
  /// - Returns: Nothing.
  @available(
    *, unavailable, message: "a factory cannot be asynchronous: make the instance with `await` first, and `provide` it"
  )
  @discardableResult
  public func register<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, _ factory: @escaping @Sendable () async throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    preconditionFailure("unavailable")
  }
}

extension UDIContext {
  /// Registers a factory, for all forms of `register`.
  func register<Dependency>(_ factory: Factory) -> UDIRegistration<Dependency> { .of(add(factory), factory.reach) }

  /// Registers a provider.
  ///
  /// - Returns: The provider; or, inside a set-up block that must not replace it, the one that stays.
  func add(_ provider: Provider) -> Provider { add(provider) { _ in } }

  /// Registers a provider.
  ///
  /// - Parameter prepare: Called under the tree lock before the provider is registered, and only if it is.
  /// - Returns: The same as ``add(_:)``.
  func add(_ provider: Provider, _ prepare: (inout Garbage) -> Void) -> Provider {
    let (registered, storages) = change { node, garbage -> (Provider, [DroppedStorage]) in
      // If the context has a parent, the parent knows it, and passes it on when the two part.
      if node.shared.parent == nil { node.remember(self) }
      if let left = node.leftBySetUp(provider.key, &garbage) { return (left as? Provider ?? provider, []) }
      if node.treeLocked.isInert { return (provider, []) }
      prepare(&garbage)
      return (provider, node.register(provider, &garbage))
    }
    for storage in storages { storage.reset() }
    return registered
  }
}
