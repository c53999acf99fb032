/// Forms of `register` and `provide` that do not exist. The compiler considers an unavailable form only if no other
/// form fits, and its message then says what is wrong. Without these forms, it would say that there are no exact
/// matches.
extension UDIContext {
  /// Unavailable: the label is `named:`.
  @available(*, unavailable, message: "the label of a name is `named:`") @discardableResult
  public func register<Made>(
    _ type: Any.Type = Any.self, name: UDIName, lifetime: UDILifetime? = nil, replaces: Bool? = nil,
    _ factory: () async throws -> Made
  ) -> UDIRegistration<Made> { preconditionFailure("unavailable") }

  /// Unavailable: the label is `named:`.
  @available(*, unavailable, message: "the label of a name is `named:`") @discardableResult
  public func register<Made>(
    _ type: Any.Type = Any.self, name: UDIName, lifetime: UDILifetime? = nil, replaces: Bool? = nil,
    _ factory: (UDIContext) async throws -> Made
  ) -> UDIRegistration<Made> { preconditionFailure("unavailable") }

  /// Unavailable: the label is `named:`.
  @available(*, unavailable, message: "the label of a name is `named:`") @discardableResult
  public func provide<Made>(
    _ value: Made, as type: Any.Type = Any.self, name: UDIName, replaces: Bool? = nil
  ) -> UDIRegistration<Made> { preconditionFailure("unavailable") }

  /// Unavailable: give the type and the name.
  @available(*, unavailable, message: "only lookups take keys: give the type and the name") @discardableResult
  public func register<Dependency, Made>(
    _ key: UDIKey<Dependency>, lifetime: UDILifetime? = nil, replaces: Bool? = nil, _ factory: () async throws -> Made
  ) -> UDIRegistration<Made> { preconditionFailure("unavailable") }

  /// Unavailable: give the type and the name.
  @available(*, unavailable, message: "only lookups take keys: give the type and the name") @discardableResult
  public func register<Dependency, Made>(
    _ key: UDIKey<Dependency>, lifetime: UDILifetime? = nil, replaces: Bool? = nil,
    _ factory: (UDIContext) async throws -> Made
  ) -> UDIRegistration<Made> { preconditionFailure("unavailable") }

  /// Unavailable: give the type and the name.
  @available(*, unavailable, message: "only lookups take keys: give the type and the name") @discardableResult
  public func provide<Made, Dependency>(
    _ value: Made, as key: UDIKey<Dependency>, replaces: Bool? = nil
  ) -> UDIRegistration<Made> { preconditionFailure("unavailable") }
}
