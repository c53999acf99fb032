/// Registering providers: what has to be made rather than found.
///
/// In the second form closures belong to the main actor because the verb does; saying so would have the compiler prefer the first
/// form, and then refuse it. In the third one they are kept as closures that may be called without saying so. That is sound where it is only called on the
/// main actor: a provider that `isOnMainActor` sees to it. The standard library's `MainActor.assumeIsolated` goes the same way; it
/// cannot be used here, for it hands out `Sendable` results only.
///
/// Each form stands here for `Sendable` types, callable from anywhere; for all others, on the main actor; and as
/// `registerOnMainActor` for `Sendable` types that can be made on the main actor only, as instances of main-actor classes are.
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: false, completes: onCreate != nil)
    let provider = Factory(description, factory, onCreate)
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: true, completes: onCreate != nil)
    let provider = Factory(description, factory, onCreate)
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: true, completes: onCreate != nil)
    let provider = Factory(
      description, unsafe unsafeBitCast(factory, to: ((UDIContext) throws -> Dependency?).self),
      onCreate.map { unsafe unsafeBitCast($0, to: ((UDIContext, Dependency) -> Void).self) })
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: false, completes: onCreate != nil)
    let factory = factory
    let provider = Factory(description, { _ in try factory() }, onCreate)
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: true, completes: onCreate != nil)
    let factory = factory
    let provider = Factory(description, { _ in try factory() }, onCreate)
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: true, completes: onCreate != nil)
    let factory = unsafe unsafeBitCast(factory, to: (() throws -> Dependency?).self)
    let provider = Factory(
      description, { _ in try factory() },
      onCreate.map { unsafe unsafeBitCast($0, to: ((UDIContext, Dependency) -> Void).self) })
    add(provider)
    return .of(provider)
  }

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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: false, completes: false)
    let (types, make) = erase(factory)
    let provider = ArgumentFactory(description, argumentTypes: types, make, nil)
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: false, completes: true)
    let (types, make) = erase(factory)
    let complete = eraseCompletion(onCreate)
    let provider = ArgumentFactory(description, argumentTypes: types, make, complete)
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping (UDIContext, First, repeat each More) throws -> Dependency?
  ) -> UDIRegistration<Dependency> {
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: true, completes: false)
    let (types, make) = erase(factory)
    let provider = ArgumentFactory(description, argumentTypes: types, make, nil)
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
    let description = Provider.Description(
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: true, completes: true)
    let (types, make) = erase(factory)
    let complete = eraseCompletion(onCreate)
    let provider = ArgumentFactory(description, argumentTypes: types, make, complete)
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: true, completes: false)
    let (types, make) = eraseOnMainActor(factory)
    let provider = ArgumentFactory(description, argumentTypes: types, make, nil)
    add(provider)
    return .of(provider)
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
  ///     If it throws or returns nil, `link` gives nil and reports it, and `require` throws.
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
      type, name, lifetime, .of(metadata), CallSite(fileID, line), isOnMainActor: true, completes: true)
    let (types, make) = eraseOnMainActor(factory)
    let complete = eraseCompletionOnMainActor(onCreate)
    let provider = ArgumentFactory(description, argumentTypes: types, make, complete)
    add(provider)
    return .of(provider)
  }
}

// MARK: - From typed closures to providers

extension UDIContext {
  /// A factory with arguments, without their types: each is cast to the one that is wanted.
  @inlinable
  func erase<Dependency, First, each More>(
    _ factory: @escaping (UDIContext, First, repeat each More) throws -> Dependency?
  ) -> ([Any.Type], (UDIContext, [Any]) throws -> Made?) {
    var types: [Any.Type] = [First.self]
    for type in repeat (each More).self { types.append(type) }
    let make: (UDIContext, [Any]) throws -> Made? = { [types] context, arguments in
      var arguments = try Arguments(arguments, wanted: types)
      let first = try arguments.next(First.self)
      return try factory(context, first, repeat arguments.next((each More).self)).map { Made($0) }
    }
    return (types, make)
  }

  /// What is called after a factory with arguments, without their types.
  @inlinable
  func eraseCompletion<Dependency, First, each More>(
    _ completion: @escaping (UDIContext, Dependency, First, repeat each More) -> Void
  ) -> (UDIContext, Made, [Any]) -> Void {
    let complete: (UDIContext, Made, [Any]) -> Void = { context, made, arguments in
      guard let dependency = made.value(as: Dependency.self, isExact: true) else { return }
      do {
        var arguments = try Arguments(arguments, wanted: [])
        let first = try arguments.next(First.self)
        completion(context, dependency, first, repeat try arguments.next((each More).self))
      } catch { preconditionFailure("the factory has had these arguments already") }
    }
    return complete
  }

  /// The same for a factory of the main actor's.
  @inlinable
  func eraseOnMainActor<Dependency, First, each More>(
    _ factory: @escaping @MainActor (UDIContext, First, repeat each More) throws -> Dependency?
  ) -> ([Any.Type], (UDIContext, [Any]) throws -> Made?) {
    var types: [Any.Type] = [First.self]
    for type in repeat (each More).self { types.append(type) }
    let make: @MainActor (UDIContext, [Any]) throws -> Made? = { [types] context, arguments in
      var arguments = try Arguments(arguments, wanted: types)
      let first = try arguments.next(First.self)
      return try factory(context, first, repeat arguments.next((each More).self)).map { Made($0) }
    }
    return (types, unsafe unsafeBitCast(make, to: ((UDIContext, [Any]) throws -> Made?).self))
  }

  /// The same on the main actor.
  @inlinable
  func eraseCompletionOnMainActor<Dependency, First, each More>(
    _ completion: @escaping @MainActor (UDIContext, Dependency, First, repeat each More) -> Void
  ) -> (UDIContext, Made, [Any]) -> Void {
    let complete: @MainActor (UDIContext, Made, [Any]) -> Void = { context, made, arguments in
      guard let dependency = made.value(as: Dependency.self, isExact: true) else { return }
      do {
        var arguments = try Arguments(arguments, wanted: [])
        let first = try arguments.next(First.self)
        completion(context, dependency, first, repeat try arguments.next((each More).self))
      } catch { preconditionFailure("the factory has had these arguments already") }
    }
    return unsafe unsafeBitCast(complete, to: ((UDIContext, Made, [Any]) -> Void).self)
  }

  @usableFromInline
  func add(_ provider: Provider) {
    let storages = change { node, garbage in
      node.remember(self)
      return node.register(provider, &garbage)
    }
    for storage in storages { storage.reset() }
  }
}

/// The arguments of a link, to be cast one by one to the types that a factory wants.
@usableFromInline
struct Arguments {
  private var rest: ArraySlice<Any>
  private let all: [Any]
  private let wanted: [Any.Type]

  @usableFromInline
  init(_ arguments: [Any], wanted: [Any.Type]) throws {
    rest = arguments[...]
    all = arguments
    self.wanted = wanted
    guard wanted.isEmpty || arguments.count == wanted.count else { throw mismatch }
  }

  @usableFromInline
  mutating func next<Argument>(_ type: Argument.Type) throws -> Argument {
    // In two steps: an `Any` would take the optional, too.
    guard let next = rest.popFirst(), let argument = next as? Argument else { throw mismatch }
    return argument
  }

  private var mismatch: any Error { ProviderFailure.arguments(wanted: wanted, given: all.map { type(of: $0) }) }
}
