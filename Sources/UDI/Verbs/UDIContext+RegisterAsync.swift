/// Registering asynchronous factories.
extension UDIContext {
  /// Registers an asynchronous factory.
  ///
  /// ```swift
  /// context.register((any Database).self) { context in
  ///   try await PostgresDatabase.open(context.obtain(Configuration.self).url)
  /// }
  /// let database = try await context.obtain((any Database).self)
  /// ```
  ///
  /// ``UDILinking/obtain(_:named:search:fileID:line:)`` makes an instance. A lookup that cannot wait, such as `link`,
  /// finds an instance only if one is kept already. If none is kept, the lookup is a miss.
  ///
  /// If an instance is kept, it is made only once, however many tasks ask for it. The factory runs in a separate task.
  /// This has the task-local values of the first task that asked, and the highest priority that any of the asking tasks
  /// had when it began to wait. A waiting task that is cancelled stops waiting. If no task waits any longer, the
  /// factory's task is cancelled. Failures are not kept: the next task that asks runs the factory again. Under the
  /// lifetime `.unique`, the factory runs in the task that asks. In the factory, use `obtain` for dependencies whose
  /// factories might be asynchronous: this factory is not run a second time.
  ///
  /// While the factory runs, lookups through the given context go up unless they name a search, so that no instance is
  /// made from dependencies below. The same is true of lookups in tasks that the factory starts: until the factory has
  /// ended, these tasks count as part of it. To start a task that outlives the factory and looks things up, use
  /// `Task.detached`.
  ///
  /// The factory may take arguments after the context: those that follow `with:` in `obtain`.
  ///
  /// - Parameters:
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`. It may be omitted if the
  ///     factory's result determines it.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime`` or, if the factory takes arguments,
  ///     ``UDILifetime/unique``. Under any other lifetime, there is one instance for each distinct set of arguments,
  ///     and the arguments must be `Hashable`.
  ///   - replaces: Whether this registration replaces one that the context already has under the key. If false, and the
  ///     context has a provider or a live binding there, that one stays, and nothing is registered. If nil, the earlier
  ///     registration is replaced; while ``UDIRecording`` is on, this is reported if that registration is from another
  ///     line (``UDIMisuse/Kind/registeredTwice``).
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance and returns it; returns nil if there is none, or throws. The factory receives a
  ///     context: the one that asks or, if the instance is kept, the one that the factory is registered in; under
  ///     ``UDILifetime/scope``, the scope. Use this context, and do not capture one.
  /// - Returns: A handle to the registration, for example to call `implements` or `unregister` on it.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func register<Dependency: Sendable, each Argument: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ factory:
      @escaping @Sendable @isolated(any) (UDIContext, repeat each Argument) async throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, nil, fileID, line)
    return register(
      AsyncFactory(request, factory.isolation, wanted: ArgumentPack<repeat each Argument>.wanted) { context, given, _ in
        let arguments = try ArgumentPack<repeat each Argument>.read(given?.arguments)
        return Instance.wrapping(try await factory(context, repeat each arguments.all))
      })
  }

  /// Registers an asynchronous factory that needs no context; see
  /// ``register(_:named:lifetime:replaces:fileID:line:_:)``.
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
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance and returns it; returns nil if there is none, or throws.
  /// - Returns: A handle to the registration, for example to call `implements` or `unregister` on it.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func register<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ factory: @escaping @Sendable @isolated(any) () async throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, nil, fileID, line)
    return register(
      AsyncFactory(request, factory.isolation, parameters: []) { _, _, _ in Instance.wrapping(try await factory()) })
  }

  /// Registers an asynchronous initialiser or function as a factory. Its parameters are looked up by their types; see
  /// ``register(_:named:lifetime:replaces:isolation:fileID:line:_:using:)``.
  ///
  /// The parameters are obtained, so they can come from asynchronous factories. They are obtained one after the other.
  ///
  /// - Parameters:
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`; by default the type that
  ///     the initialiser makes.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime``.
  ///   - replaces: Whether this registration replaces one that the context already has under the key. If false, and the
  ///     context has a provider or a live binding there, that one stays, and nothing is registered. If nil, the earlier
  ///     registration is replaced; while ``UDIRecording`` is on, this is reported if that registration is from another
  ///     line (``UDIMisuse/Kind/registeredTwice``).
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - none: Do not pass this. It keeps trailing closures away from `make`.
  ///   - make: The initialiser, with at least one parameter. An error that it throws is treated like a factory's.
  /// - Returns: A handle to the registration, for example to call `implements` or `unregister` on it.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @_disfavoredOverload @discardableResult
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, fileID: StaticString = #fileID, line: UInt = #line, _ none: ((Never) -> Never)? = nil,
    using make: (@Sendable @isolated(any) (First, repeat each More) async throws -> Dependency)? = nil
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, nil, fileID, line)
    return add(request, make!.isolation, lookingUpParametersOf: make!)
  }

  // An initialiser that runs on its caller's actor, as all asynchronous functions without an isolation do under
  // `NonisolatedNonsendingByDefault`, cannot be converted to `@isolated(any)`. The parameter `isolation` tells the two
  // forms apart, and lets the compiler prefer the first if both fit. (Swift 6.3 crashes if it converts an initialiser
  // that runs on no actor to the type that this form takes.)

  /// Does the same as ``register(_:named:lifetime:replaces:fileID:line:_:using:)``, for an
  /// initialiser or a function that runs on its caller's actor. Here it runs on no actor.
  @_disfavoredOverload @discardableResult
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ none: ((Never) -> Never)? = nil,
    using make: (nonisolated(nonsending) @Sendable (First, repeat each More) async throws -> Dependency)? = nil
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, nil, fileID, line)
    return add(request, nil, lookingUpParametersOf: make!)
  }

  // MARK: - On the main actor, for types that are not Sendable

  // The label `notSendable` says in the compiler's messages why the form belongs to the main actor.

  /// Does the same as ``register(_:named:lifetime:replaces:fileID:line:_:)`` on the main
  /// actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor @discardableResult
  public func register<Dependency, each Argument>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, notSendable isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ factory: @escaping @MainActor (UDIContext, repeat each Argument) async throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .mainActor, name, lifetime, replaces, nil, fileID, line)
    let wanted = ArgumentPack<repeat each Argument>.wanted
    return register(
      AsyncFactory(request, MainActor.shared, wanted: wanted) { @MainActor context, given, _ in
        let arguments = try ArgumentPack<repeat each Argument>.read(given?.arguments)
        return Instance.wrapping(try await factory(context, repeat each arguments.all))
      })
  }

  /// Does the same as ``register(_:named:lifetime:replaces:fileID:line:_:)`` on the main
  /// actor, for a type that is not `Sendable`, with a factory that needs no context.
  @preconcurrency @MainActor @discardableResult
  public func register<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, notSendable isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ factory: @escaping @MainActor () async throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .mainActor, name, lifetime, replaces, nil, fileID, line)
    return register(
      AsyncFactory(request, MainActor.shared, parameters: []) { @MainActor _, _, _ in
        Instance.wrapping(try await factory())
      })
  }

  /// Does the same as ``register(_:named:lifetime:replaces:fileID:line:_:using:)`` on the main actor, for an
  /// initialiser with a parameter that is not `Sendable`.
  ///
  /// - Precondition: `make` belongs to the main actor.
  @MainActor @_disfavoredOverload @discardableResult
  public func register<Dependency: Sendable, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, notSendable isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ none: ((Never) -> Never)? = nil,
    using make: (@Sendable @isolated(any) (First, repeat each More) async throws -> Dependency)? = nil
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, nil, fileID, line)
    return addOnMainActor(request, lookingUpParametersOf: make!)
  }

  /// Does the same as ``register(_:named:lifetime:replaces:fileID:line:_:using:)`` on the main actor, for a type
  /// that is not `Sendable`.
  ///
  /// - Precondition: `make` belongs to the main actor.
  @preconcurrency @MainActor @_disfavoredOverload @discardableResult
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, notSendable isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ none: ((Never) -> Never)? = nil,
    using make: (@Sendable @isolated(any) (First, repeat each More) async throws -> Dependency)? = nil
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .mainActor, name, lifetime, replaces, nil, fileID, line)
    return addOnMainActor(request, lookingUpParametersOf: make!)
  }

  // MARK: - From typed closures to a provider

  /// Registers an initialiser whose parameters are obtained.
  private func add<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ request: borrowing RegisterRequest, _ actor: (any Actor)?,
    lookingUpParametersOf make: @escaping @concurrent @Sendable (First, repeat each More) async throws -> Dependency
  ) -> UDIRegistration<Dependency> {
    let types = ArgumentPack<First, repeat each More>.types
    return register(
      AsyncFactory(request, actor, parameters: types, .anywhere) { _, _, obtained in
        var rest = obtained[...]
        let first = parameter(First.self, rest.removeFirst())
        let more = (repeat parameter((each More).self, rest.removeFirst()))
        return Instance.wrapping(try await make(first, repeat each more))
      })
  }

  /// Does the same for an initialiser of the main actor.
  ///
  /// - Precondition: The initialiser belongs to the main actor.
  @MainActor
  private func addOnMainActor<Dependency, First, each More>(
    _ request: borrowing RegisterRequest,
    lookingUpParametersOf make: @escaping @Sendable @isolated(any) (First, repeat each More) async throws -> Dependency
  ) -> UDIRegistration<Dependency> {
    guard make.isolation === MainActor.shared else {
      let site = request.site
      fatalError("\(site.fileID):\(site.line): this takes or makes what is not Sendable. Write `@MainActor` before it.")
    }
    let (make, types) = (MainActorFunction(make), ArgumentPack<First, repeat each More>.types)
    return register(
      AsyncFactory(request, MainActor.shared, parameters: types, .mainActor) { @MainActor _, _, obtained in
        var rest = obtained[...]
        let first = parameter(First.self, rest.removeFirst())
        return Instance.wrapping(try await make.call(first, (repeat parameter((each More).self, rest.removeFirst()))))
      })
  }
}
