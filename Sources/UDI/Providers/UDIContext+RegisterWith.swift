/// Registering providers whose factories take arguments.
extension UDIContext {
  /// Registers a factory with arguments.
  ///
  /// ```swift
  /// context.register((any Page).self) { (context, number: Int, title: String) in Sheet(number, title) }
  /// context.link((any Page).self, with: 5, "Five")
  /// ```
  ///
  /// Under any lifetime except `.unique` there is one instance for each distinct set of arguments, which then must be
  /// `Hashable`. The factory runs where it belongs, as with
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
  ///   - factory: Makes an instance. It gets a context and the arguments that the link was given after `with:`. Use the
  ///     context that the factory is given. A factory that captures a context keeps it alive; if the factory is
  ///     registered in that same context, the context then keeps itself alive for ever. If the factory returns nil,
  ///     there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports the error, and `require` throws it.
  /// - Returns: A handle, to serve other types from the registration or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ factory:
      @escaping @Sendable @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .anywhere, in: isolation, factory, nil))
  }

  /// Registers a factory with arguments, and a closure that is called afterwards; see
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
  ///   - factory: Makes an instance. It gets a context and the arguments that the link was given after `with:`.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made is visible, with the same
  ///     arguments.
  /// - Returns: A handle, to serve other types from the registration or to take it back.
  /// - Precondition: If both closures belong to actors, it is the same actor.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ factory:
      @escaping @Sendable @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?,
    @_inheritActorContext onCreate:
      @escaping @Sendable @isolated(any) (UDIContext, Dependency, First, repeat each More) -> Void
  ) -> UDIRegistration<Dependency> {
    let onCreate = IsolatedBlock(onCreate)
    return register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .anywhere, in: isolation, factory, onCreate))
  }

  // MARK: - On the main actor, for types that are not Sendable

  // They have the parameter `isolation` only because the compiler prefers the form with fewer defaults. Here a closure
  // belongs to the main actor.

  /// The same as ``register(_:named:lifetime:metadata:isolation:fileID:line:_:)`` if the dependency or an argument is
  /// not `Sendable`, on the main actor.
  @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    _ factory: @escaping @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .mainActor, in: isolation, factory, nil))
  }

  /// The same with a closure that is called afterwards.
  @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    _ factory: @escaping @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?,
    onCreate: @escaping @isolated(any) (UDIContext, Dependency, First, repeat each More) -> Void
  ) -> UDIRegistration<Dependency> {
    let onCreate = IsolatedBlock(onCreate)
    return register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .mainActor, in: isolation, factory, onCreate))
  }
}
