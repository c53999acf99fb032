/// Registering providers whose factories take arguments.
extension UDIContext {
  /// Registers a factory that takes arguments.
  ///
  /// ```swift
  /// context.register((any Page).self) { (context, number: Int, title: String) in Sheet(number, title) }
  /// context.link((any Page).self, with: 5, "Five")
  /// ```
  ///
  /// Without a lifetime, each link makes a new instance, whatever ``defaultLifetime`` is. Under any lifetime except
  /// `.unique`, there is one instance for each distinct set of arguments, and the arguments must be `Hashable`. The
  /// actor on which the factory runs is chosen as for ``register(_:named:lifetime:replaces:isolation:fileID:line:_:)``.
  ///
  /// - Parameters:
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`. It may be omitted if the
  ///     factory's result determines it.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``UDILifetime/unique``.
  ///   - replaces: Whether this registration replaces one that the context already has under the key. If false, and the
  ///     context has a provider or a live binding there, that one stays, and nothing is registered. If nil, the earlier
  ///     registration is replaced; while ``UDIRecording`` is on, this is reported if that registration is from another
  ///     line (``UDIMisuse/Kind/registeredTwice``).
  ///   - isolation: The actor in whose code this call is written. A function that belongs to no actor counts as the
  ///     main actor's if it is registered in main-actor code. To let it run anywhere, pass nil for `isolation`.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. The factory receives a context, and the arguments that follow `with:` in the
  ///     lookup. Use this context, and do not capture one: a factory keeps the contexts that it captures alive, so a
  ///     context that one of its own factories captures is never released. If the factory returns nil, `link` returns
  ///     nil, and `require` throws a ``UDILinkError``. If the factory throws an error, `link` returns nil and reports
  ///     the error, and `require` throws it.
  /// - Returns: A handle to the registration, for example to call `implements` or `unregister` on it.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func register<Dependency: Sendable, each Argument: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ factory:
      @escaping @Sendable @isolated(any) (UDIContext, repeat each Argument) throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, isolation, fileID, line)
    let wanted = ArgumentPack<repeat each Argument>.wanted
    return register(Factory(request, factory.isolation, FactoryFunction(takingArguments: factory), wanted: wanted))
  }

  // MARK: - On the main actor, for types that are not Sendable

  // These forms have the parameter `isolation`, although their closures always belong to the main actor. Without this
  // parameter, they would have fewer default arguments, and the compiler would prefer them to the forms above.
  // Its label says in the compiler's messages, which contain a form's name, why the form belongs to the main actor.

  /// Registers, on the main actor, a factory that takes arguments, for a type or arguments that are not `Sendable`.
  @preconcurrency @MainActor @discardableResult
  public func register<Dependency, each Argument>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, notSendable isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ factory: @escaping @isolated(any) (UDIContext, repeat each Argument) throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .mainActor, name, lifetime, replaces, isolation, fileID, line)
    let wanted = ArgumentPack<repeat each Argument>.wanted
    return register(Factory(request, factory.isolation, FactoryFunction(takingArguments: factory), wanted: wanted))
  }
}
