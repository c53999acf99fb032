/// Registering providers whose factories take arguments. Each form stands here three times, see `UDIContext+Register.swift`.
extension UDIContext {
  /// Registers a factory with arguments.
  ///
  /// ```swift
  /// context.register((any Page).self) { (context, number: Int, title: String) in Sheet(number, title) }
  /// context.link((any Page).self, with: 5, "Five")
  /// ```
  ///
  /// Under another lifetime than `.unique` there is one instance for each distinct set of arguments, which then must be `Hashable`.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It gets a context and what the link was called `with:`.
  ///     Use the context that it is given: a context that it captures is kept by the factory, and so, where the factory is registered in
  ///     that context, by itself for ever.
  ///     If it returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports it, and `require` throws the same error.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable
  @discardableResult
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @Sendable (UDIContext, First, repeat each More) throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, isOnMainActor: false, completes: false)
    let (types, make) = erase(factory)
    let provider = ArgumentFactory(description, argumentTypes: types, make, nil)
    return .of(add(provider), .anywhere)
  }

  /// Registers a factory with arguments, and something to call afterwards.
  /// Otherwise the same.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It gets a context and what the link was called `with:`.
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
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @Sendable (UDIContext, First, repeat each More) throws -> Dependency?,
    onCreate: @escaping @Sendable (UDIContext, Dependency, First, repeat each More) -> Void
  ) -> UDIRegistration<Dependency> {
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, isOnMainActor: false, completes: true)
    let (types, make) = erase(factory)
    let complete = eraseCompletion(onCreate)
    let provider = ArgumentFactory(description, argumentTypes: types, make, complete)
    return .of(add(provider), .anywhere)
  }

  /// Registers a factory with arguments of something that is not `Sendable`, on the main actor.
  /// Otherwise the same.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It gets a context and what the link was called `with:`.
  ///     Use the context that it is given: a context that it captures is kept by the factory, and so, where the factory is registered in
  ///     that context, by itself for ever.
  ///     If it returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports it, and `require` throws the same error.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping (UDIContext, First, repeat each More) throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    Reach.mainActor.assertIsolation(type)
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .mainActor, isOnMainActor: true, completes: false)
    let (types, make) = erase(factory)
    let provider = ArgumentFactory(description, argumentTypes: types, make, nil)
    return .of(add(provider), .mainActor)
  }

  /// Registers a factory with arguments of something that is not `Sendable`, and something to call afterwards, on the main actor.
  /// Otherwise the same.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; it may be left out where the factory tells.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - factory: Makes an instance. It gets a context and what the link was called `with:`.
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
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping (UDIContext, First, repeat each More) throws -> Dependency?,
    onCreate: @escaping (UDIContext, Dependency, First, repeat each More) -> Void
  ) -> UDIRegistration<Dependency> {
    Reach.mainActor.assertIsolation(type)
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .mainActor, isOnMainActor: true, completes: true)
    let (types, make) = erase(factory)
    let complete = eraseCompletion(onCreate)
    let provider = ArgumentFactory(description, argumentTypes: types, make, complete)
    return .of(add(provider), .mainActor)
  }

  /// Registers a factory with arguments that runs on the main actor only.
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
  ///   - factory: Makes an instance. It gets a context and what the link was called `with:`.
  ///     Use the context that it is given: a context that it captures is kept by the factory, and so, where the factory is registered in
  ///     that context, by itself for ever.
  ///     If it returns nil, there is nothing: `link` gives nil, and `require` throws a ``UDILinkError``. If it throws, `link` gives nil
  ///     and reports it, and `require` throws the same error.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable
  @discardableResult
  public func registerOnMainActor<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @MainActor (UDIContext, First, repeat each More) throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, isOnMainActor: true, completes: false)
    let (types, make) = eraseOnMainActor(factory)
    let provider = ArgumentFactory(description, argumentTypes: types, make, nil)
    return .of(add(provider), .anywhere)
  }

  /// Registers a factory with arguments that runs on the main actor only, and something to call afterwards.
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
  ///   - factory: Makes an instance. It gets a context and what the link was called `with:`.
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
  public func registerOnMainActor<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @MainActor (UDIContext, First, repeat each More) throws -> Dependency?,
    onCreate: @escaping @MainActor (UDIContext, Dependency, First, repeat each More) -> Void
  ) -> UDIRegistration<Dependency> {
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, isOnMainActor: true, completes: true)
    let (types, make) = eraseOnMainActor(factory)
    let complete = eraseCompletionOnMainActor(onCreate)
    let provider = ArgumentFactory(description, argumentTypes: types, make, complete)
    return .of(add(provider), .anywhere)
  }
}
