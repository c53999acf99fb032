/// The verbs that offer something, with a key in place of a type and a name. Clients compile these forms themselves, so
/// whoever does not use them does not carry them.
extension UDIContext {
  /// Does the same as ``register(_:named:lifetime:metadata:replaces:isolation:fileID:line:_:onCreate:onClose:)`` for a
  /// key.
  @_alwaysEmitIntoClient
  @discardableResult
  public func register<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, lifetime: UDILifetime? = nil, metadata: (any Sendable)? = nil, replaces: Bool? = nil,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ factory: @escaping @Sendable @isolated(any) (UDIContext) throws -> Dependency?,
    @_inheritActorContext onCreate: (@Sendable @isolated(any) (UDIContext, Dependency) -> Void)? = nil,
    @_inheritActorContext onClose: (@Sendable @isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Dependency.self, named: key.name, lifetime: lifetime, metadata: metadata, replaces: replaces,
      isolation: isolation, fileID: fileID, line: line, factory, onCreate: onCreate, onClose: onClose)
  }

  /// Does the same for a factory that needs no context.
  @_alwaysEmitIntoClient
  @discardableResult
  public func register<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, lifetime: UDILifetime? = nil, metadata: (any Sendable)? = nil, replaces: Bool? = nil,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ factory: @escaping @Sendable @isolated(any) () throws -> Dependency?,
    @_inheritActorContext onCreate: (@Sendable @isolated(any) (UDIContext, Dependency) -> Void)? = nil,
    @_inheritActorContext onClose: (@Sendable @isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Dependency.self, named: key.name, lifetime: lifetime, metadata: metadata, replaces: replaces,
      isolation: isolation, fileID: fileID, line: line, factory, onCreate: onCreate, onClose: onClose)
  }

  /// Does the same as ``provide(_:as:named:metadata:replaces:fileID:line:onClose:)`` for a key.
  @_alwaysEmitIntoClient
  @discardableResult
  public func provide<Dependency: Sendable>(
    _ value: Dependency, as key: UDIKey<Dependency>, metadata: (any Sendable)? = nil, replaces: Bool? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext onClose: (@Sendable @isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    provide(
      value, as: Dependency.self, named: key.name, metadata: metadata, replaces: replaces, fileID: fileID, line: line,
      onClose: onClose)
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// Does the same on the main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency>(
    _ key: UDIKey<Dependency>, lifetime: UDILifetime? = nil, metadata: (any Sendable)? = nil, replaces: Bool? = nil,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @isolated(any) (UDIContext) throws -> Dependency?,
    onCreate: (@isolated(any) (UDIContext, Dependency) -> Void)? = nil,
    onClose: (@isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Dependency.self, named: key.name, lifetime: lifetime, metadata: metadata, replaces: replaces,
      isolation: isolation, fileID: fileID, line: line, factory, onCreate: onCreate, onClose: onClose)
  }

  /// Does the same on the main actor, for a type that is not `Sendable` and a factory that needs no context.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency>(
    _ key: UDIKey<Dependency>, lifetime: UDILifetime? = nil, metadata: (any Sendable)? = nil, replaces: Bool? = nil,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ factory: @escaping @isolated(any) () throws -> Dependency?,
    onCreate: (@isolated(any) (UDIContext, Dependency) -> Void)? = nil,
    onClose: (@isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Dependency.self, named: key.name, lifetime: lifetime, metadata: metadata, replaces: replaces,
      isolation: isolation, fileID: fileID, line: line, factory, onCreate: onCreate, onClose: onClose)
  }

  /// Does the same on the main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  @discardableResult
  public func provide<Dependency>(
    _ value: Dependency, as key: UDIKey<Dependency>, metadata: (any Sendable)? = nil, replaces: Bool? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    onClose: (@isolated(any) (Dependency) async throws -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    provide(
      value, as: Dependency.self, named: key.name, metadata: metadata, replaces: replaces, fileID: fileID, line: line,
      onClose: onClose)
  }
}
