/// Registering providers: what has to be made rather than found.
///
/// Each form stands here for `Sendable` types, callable from anywhere; for all others, on the main actor; and as
/// `registerOnMainActor` for `Sendable` types that can be made on the main actor only, as instances of main-actor classes are.
///
/// In the second kind closures belong to the main actor because the verb does; saying so would have the compiler prefer the first
/// kind, and then refuse it. In the third one they are kept as closures that may be called without saying so. That is sound where
/// they are only called on the main actor, and a provider that `isOnMainActor` sees to that. The standard library's
/// `MainActor.assumeIsolated` goes the same way; it cannot be used here, for it hands out `Sendable` results only.
extension UDIContext {
  /// Registers a factory.
  ///
  /// Nothing is made before the first lookup that needs it. A live binding under the same key comes first; what was registered
  /// here under the same key before is replaced, and with it what that had made.
  ///
  /// ```swift
  /// context.register((any Store).self, lifetime: .context) { context in
  ///   try Database(clock: context.require((any Clock).self))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It gets a context: the one that asks, or, where the instance is kept, the one it is registered in.
  ///     While it runs, lookups through that context go up unless they name a search, so that nothing is made of what stands below.
  ///     Use the context that it is given: a context that it captures is kept by the factory, and so, where the factory is registered in
  ///     that context, by itself for ever.
  ///     If it returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports it, and `require` throws the same error.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made can be seen: here two objects can
  ///     refer to each other. Other threads may have got an instance that is kept before.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable
  @discardableResult
  public func register<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @Sendable (UDIContext) throws -> Dependency?,
    onCreate: (@Sendable (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, isOnMainActor: false,
      completes: onCreate != nil)
    let provider = Factory(description, factory, onCreate)
    return .of(add(provider), .anywhere)
  }

  /// Registers a factory of something that is not `Sendable`, on the main actor.
  /// Otherwise the same.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It gets a context: the one that asks, or, where the instance is kept, the one it is registered in.
  ///     While it runs, lookups through that context go up unless they name a search, so that nothing is made of what stands below.
  ///     Use the context that it is given: a context that it captures is kept by the factory, and so, where the factory is registered in
  ///     that context, by itself for ever.
  ///     If it returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports it, and `require` throws the same error.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made can be seen: here two objects can
  ///     refer to each other. Other threads may have got an instance that is kept before.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping (UDIContext) throws -> Dependency?,
    onCreate: ((UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    Reach.mainActor.assertIsolation(type)
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .mainActor, isOnMainActor: true,
      completes: onCreate != nil)
    let provider = Factory(description, factory, onCreate)
    return .of(add(provider), .mainActor)
  }

  /// Registers a factory that runs on the main actor only.
  ///
  /// A lookup on the main actor makes it in place; one elsewhere finds what was made and is kept, and is a miss
  /// before that: await ``linkOnMainActor(_:named:search:)`` there.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It gets a context: the one that asks, or, where the instance is kept, the one it is registered in.
  ///     While it runs, lookups through that context go up unless they name a search, so that nothing is made of what stands below.
  ///     Use the context that it is given: a context that it captures is kept by the factory, and so, where the factory is registered in
  ///     that context, by itself for ever.
  ///     If it returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports it, and `require` throws the same error.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made can be seen: here two objects can
  ///     refer to each other. Other threads may have got an instance that is kept before.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable
  @discardableResult
  public func registerOnMainActor<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @MainActor (UDIContext) throws -> Dependency?,
    onCreate: (@MainActor (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, isOnMainActor: true,
      completes: onCreate != nil)
    let provider = Factory(
      description, unsafe unsafeBitCast(factory, to: ((UDIContext) throws -> Dependency?).self),
      onCreate.map { unsafe unsafeBitCast($0, to: ((UDIContext, Dependency) -> Void).self) })
    return .of(add(provider), .anywhere)
  }

  /// Registers a factory that needs no context.
  /// Otherwise the same.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance.
  ///     If it needs a context, let it take one: a context that it captures is kept by the factory, and so, where the factory is
  ///     registered in that context, by itself for ever.
  ///     If it returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports it, and `require` throws the same error.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made can be seen: here two objects can
  ///     refer to each other. Other threads may have got an instance that is kept before.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable
  @discardableResult
  public func register<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @Sendable () throws -> Dependency?,
    onCreate: (@Sendable (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, isOnMainActor: false,
      completes: onCreate != nil)
    let factory = factory
    let provider = Factory(description, { _ in try factory() }, onCreate)
    return .of(add(provider), .anywhere)
  }

  /// Registers a factory that needs no context, of something that is not `Sendable`, on the main actor.
  /// Otherwise the same.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance.
  ///     If it needs a context, let it take one: a context that it captures is kept by the factory, and so, where the factory is
  ///     registered in that context, by itself for ever.
  ///     If it returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports it, and `require` throws the same error.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made can be seen: here two objects can
  ///     refer to each other. Other threads may have got an instance that is kept before.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping () throws -> Dependency?,
    onCreate: ((UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    Reach.mainActor.assertIsolation(type)
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .mainActor, isOnMainActor: true,
      completes: onCreate != nil)
    let factory = factory
    let provider = Factory(description, { _ in try factory() }, onCreate)
    return .of(add(provider), .mainActor)
  }

  /// Registers a factory that needs no context and runs on the main actor only.
  ///
  /// A lookup on the main actor makes it in place; one elsewhere finds what was made and is kept, and is a miss
  /// before that: await ``linkOnMainActor(_:named:search:)`` there.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance.
  ///     If it needs a context, let it take one: a context that it captures is kept by the factory, and so, where the factory is
  ///     registered in that context, by itself for ever.
  ///     If it returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports it, and `require` throws the same error.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made can be seen: here two objects can
  ///     refer to each other. Other threads may have got an instance that is kept before.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable
  @discardableResult
  public func registerOnMainActor<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @MainActor () throws -> Dependency?,
    onCreate: (@MainActor (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, isOnMainActor: true,
      completes: onCreate != nil)
    let factory = unsafe unsafeBitCast(factory, to: (() throws -> Dependency?).self)
    let provider = Factory(
      description, { _ in try factory() },
      onCreate.map { unsafe unsafeBitCast($0, to: ((UDIContext, Dependency) -> Void).self) })
    return .of(add(provider), .anywhere)
  }

  /// Registers a provider.
  ///
  /// - Returns: The provider; or the one that stays, in the middle of a set-up block that must not replace it.
  @usableFromInline
  func add(_ provider: Provider) -> Provider { add(provider) { _ in } }

  /// Registers a provider.
  ///
  /// - Parameter prepare: Called before it is registered, under the tree lock, and only if it is.
  /// - Returns: As ``add(_:)``.
  func add(_ provider: Provider, _ prepare: (inout Garbage) -> Void) -> Provider {
    let (registered, storages) = change { node, garbage -> (Provider, [DroppedStorage]) in
      node.remember(self)
      switch node.leftBySetUp(provider.key, &garbage) {
      case .provider(let other): return (other, [])
      case .binding: return (provider, [])
      case nil: break
      }
      if node.isInert { return (provider, []) }
      prepare(&garbage)
      return (provider, node.register(provider, &garbage))
    }
    for storage in storages { storage.reset() }
    return registered
  }
}
