/// Registering providers whose factories take arguments.
extension UDIContext {
  /// Registers a factory with arguments.
  ///
  /// ```swift
  /// context.register((any Page).self) { (context, number: Int, title: String) in Sheet(number, title) }
  /// context.link((any Page).self, with: 5, "Five")
  /// ```
  ///
  /// Under any lifetime except `.unique`, there is one instance for each distinct set of arguments, and the arguments
  /// must be `Hashable`. The actor on which the factory runs is chosen as for
  /// ``register(_:named:lifetime:metadata:isolation:fileID:line:_:onCreate:onClose:)``.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`. It may be omitted if the factory's
  ///     result determines it.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime``.
  ///   - metadata: Any value by which to find the registration: see ``registrations(of:search:)``.
  ///   - isolation: The actor in whose code this call is written. If a function that belongs to no actor is registered
  ///     in main-actor code, it counts as the main actor's. To let such a function run anywhere, pass nil for
  ///     `isolation`.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It is given a context and the arguments that follow `with:` in the lookup. Use
  ///     this context, and do not capture one: a factory keeps alive whatever context it captures, so a context that
  ///     one of its own factories captures is never released. If the factory returns nil, `link` gives nil, and
  ///     `require` throws a ``UDILinkError``. If the factory throws an error, `link` gives nil and reports the error,
  ///     and `require` throws it.
  ///   - onClose: Called with each instance that the context owns when the context is closed: see ``close()``.
  /// - Returns: A handle, to serve other types from the registration or to take it back.
  /// - Precondition: If `onClose` is given, the lifetime is one under which the context owns the instances: not
  ///   `.unique`, `.graph` or `.weak`.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ factory:
      @escaping @Sendable @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?,
    @_inheritActorContext onClose: (@Sendable @isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .anywhere, in: isolation, factory, nil),
      closing: .of(onClose))
  }

  /// Registers a factory with arguments, and a closure that is called afterwards; see
  /// ``register(_:named:lifetime:metadata:isolation:fileID:line:_:onCreate:onClose:)``.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`. It may be omitted if the factory's
  ///     result determines it.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime``.
  ///   - metadata: Any value by which to find the registration: see ``registrations(of:search:)``.
  ///   - isolation: The actor in whose code this call is written. If a function that belongs to no actor is registered
  ///     in main-actor code, it counts as the main actor's. To let such a function run anywhere, pass nil for
  ///     `isolation`.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It is given a context and the arguments that follow `with:` in the lookup.
  ///   - onCreate: Called with the same arguments at the end of the outermost link, when everything that was made can
  ///     be looked up.
  ///   - onClose: Called with each instance that the context owns when the context is closed: see ``close()``.
  /// - Returns: A handle, to serve other types from the registration or to take it back.
  /// - Precondition: If `factory` and `onCreate` both belong to actors, they belong to the same actor. If `onClose` is
  ///   given, the lifetime is one under which the context owns the instances: not `.unique`, `.graph` or `.weak`.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ factory:
      @escaping @Sendable @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?,
    @_inheritActorContext onCreate:
      @escaping @Sendable @isolated(any) (UDIContext, Dependency, First, repeat each More) -> Void,
    @_inheritActorContext onClose: (@Sendable @isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    let onCreate = IsolatedBlock(onCreate)
    return register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .anywhere, in: isolation, factory, onCreate),
      closing: .of(onClose))
  }

  // MARK: - On the main actor, for types that are not Sendable

  // These forms have the parameter `isolation` only because the compiler would otherwise prefer them to the forms
  // above, for having fewer default arguments. Here, a closure belongs to the main actor.

  /// The same as ``register(_:named:lifetime:metadata:isolation:fileID:line:_:onClose:)`` if the dependency or an
  /// argument is not `Sendable`, on the main actor.
  @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    _ factory: @escaping @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?,
    onClose: (@isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .mainActor, in: isolation, factory, nil),
      closing: .onMainActor(onClose, CallSite(fileID, line)))
  }

  /// The same as ``register(_:named:lifetime:metadata:isolation:fileID:line:_:onClose:)`` if the dependency or an
  /// argument is not `Sendable`, on the main actor, with a closure that is called afterwards.
  @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    _ factory: @escaping @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?,
    onCreate: @escaping @isolated(any) (UDIContext, Dependency, First, repeat each More) -> Void,
    onClose: (@isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    let onCreate = IsolatedBlock(onCreate)
    return register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .mainActor, in: isolation, factory, onCreate),
      closing: .onMainActor(onClose, CallSite(fileID, line)))
  }
}
