/// Registering providers, which make dependencies.
// The factories of these forms, which clients use most, are `__owned`: a client then releases nothing after the call,
// and compiles 1 % faster ("compile" in `Benchmarks/cost`). With `consuming`, the compiler (Swift 6.3) crashes.
extension UDIContext {
  /// Registers a factory.
  ///
  /// The factory is not called before the first lookup that needs an instance. A live binding under the same key takes
  /// precedence. A provider that is already registered here under the same key is replaced, and its instances are
  /// dropped.
  ///
  /// ```swift
  /// context.register((any Store).self) { context in
  ///   try Database(clock: context.require((any Clock).self))
  /// }
  /// ```
  ///
  /// A closure that belongs to an actor runs on that actor. A closure belongs to the main actor if it is written in
  /// main-actor code, and to another global actor if it is written in that actor's code. All other closures run
  /// wherever the dependency is looked up. A function that belongs to no actor counts as the main actor's if it is
  /// registered in main-actor code.
  ///
  /// A lookup off the factory's actor finds an instance only if one is kept already. If none is kept, the lookup is a
  /// miss, but ``UDILinking/obtain(_:named:search:fileID:line:)`` can make the instance. If an instance can be made
  /// anywhere, register its factory in a `nonisolated` function.
  ///
  /// - Parameters:
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`. It may be omitted if the
  ///     factory's result determines it.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime``.
  ///   - replaces: Whether this registration replaces one that the context already has under the key. If false, and the
  ///     context has a provider or a live binding there, that one stays, and nothing is registered. If nil, the earlier
  ///     registration is replaced; while ``UDIRecording`` is on, this is reported if that registration is from another
  ///     line (``UDIMisuse/Kind/registeredTwice``).
  ///   - isolation: The actor in whose code this call is written. A function that belongs to no actor counts as the
  ///     main actor's if it is registered in main-actor code. To let it run anywhere, pass nil for `isolation`.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. The factory receives a context: the one that asks or, if the instance is kept, the
  ///     one that the factory is registered in; under ``UDILifetime/scope``, the scope. Use this context, and do not
  ///     capture one: a factory keeps the contexts that it captures alive, so a context that one of its own factories
  ///     captures is never released. While the factory runs, lookups through the given context go up unless they name a
  ///     search, so that no instance is made from dependencies below. If the factory returns nil, `link` returns nil,
  ///     and `require` throws a ``UDILinkError``. If the factory throws an error, `link` returns nil and reports the
  ///     error, and `require` throws it.
  /// - Returns: A handle to the registration, on which you can call `onCreate`, `onClose`, `implements` and so on.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func register<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ factory: __owned @escaping @Sendable @isolated(any) (UDIContext) throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, isolation, fileID, line)
    return register(Factory(request, factory.isolation, FactoryFunction(factory)))
  }

  /// Registers a factory that needs no context; see
  /// ``register(_:named:lifetime:replaces:isolation:fileID:line:_:)``.
  ///
  /// - Parameters:
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`. It may be omitted if the
  ///     factory's result determines it.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime``.
  ///   - replaces: Whether this registration replaces one that the context already has under the key. If false, and the
  ///     context has a provider or a live binding there, that one stays, and nothing is registered. If nil, the earlier
  ///     registration is replaced; while ``UDIRecording`` is on, this is reported if that registration is from another
  ///     line (``UDIMisuse/Kind/registeredTwice``).
  ///   - isolation: The actor in whose code this call is written. A function that belongs to no actor counts as the
  ///     main actor's if it is registered in main-actor code. To let it run anywhere, pass nil for `isolation`.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance and returns it; returns nil if there is none, or throws.
  /// - Returns: A handle to the registration, for example to call `implements` or `unregister` on it.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func register<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ factory: __owned @escaping @Sendable @isolated(any) () throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, isolation, fileID, line)
    return register(Factory(request, factory.isolation, FactoryFunction(factory)))
  }

  // MARK: - On the main actor, for types that are not Sendable

  // These forms have the parameter `isolation`, although their closures always belong to the main actor. Without this
  // parameter, they would have fewer default arguments, and the compiler would prefer them to the forms above.
  // Its label says in the compiler's messages, which contain a form's name, why the form belongs to the main actor.

  /// Does the same as ``register(_:named:lifetime:replaces:isolation:fileID:line:_:)`` on the
  /// main actor, for a type that is not `Sendable`, with a factory that needs no context.
  @preconcurrency @MainActor @discardableResult
  public func register<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, notSendable isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ factory: __owned @escaping @isolated(any) () throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .mainActor, name, lifetime, replaces, isolation, fileID, line)
    return register(Factory(request, factory.isolation, FactoryFunction(factory)))
  }

  // MARK: - From a provider to a registration

  /// Registers a provider, for all forms of `register`.
  func register<Dependency>(_ provider: Provider) -> UDIRegistration<Dependency> {
    add(provider) { _ in }
    return UDIRegistration(entry: provider, askedReach: provider.reach)
  }

  /// Registers a provider.
  ///
  /// - Parameters:
  ///   - verb: The verb that the user has called, for a report.
  ///   - prepare: Called under the tree lock, just before the provider is registered. Not called if the provider is not
  ///     registered: if the context is inert, being closed or closed, or has a dependency under the key that must stay.
  func add(_ provider: Provider, _ verb: String = "register", _ prepare: (inout Garbage) -> Void) {
    change { node, garbage in
      // Only a root has to store the reference to its context. A parent holds its children's contexts, and stores the
      // reference in a child's node when it loses the child.
      if node.parent == nil { node.remember(self) }
      if node.treeLocked.state != .open { return node.refuse(provider, verb, &garbage) }
      if provider.replaces == false, node.hasDependency(provider.key, &garbage) { return garbage.add(provider) }
      prepare(&garbage)
      node.register(provider, &garbage)
    }
  }
}
