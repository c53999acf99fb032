/// Overloads that warn if an optional is passed by mistake. Without them, the optional type itself would be registered,
/// because `provide` infers it.
///
/// They are deprecated rather than unavailable, because the compiler ignores unavailable overloads if another overload
/// fits: for an optional, it would take the general overload without a warning. `.ci/refused` checks this. Each verb is
/// declared twice, see `UDILinking+Bind.swift`.
extension UDIContext {
  /// Do not call this; unwrap the value first. A lookup of the type without the question mark does not find an
  /// optional.
  ///
  /// - Parameters:
  ///   - value: The value to unwrap.
  ///   - type: The optional type.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle to the registration.
  @available(*, deprecated, message: "unwrap it first: a lookup without the question mark finds no optional")
  @discardableResult
  public func provide<Wrapped: Sendable>(
    _ value: Wrapped?, as type: Wrapped?.Type = Wrapped?.self, named name: UDIName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration<Wrapped?> {
    provide(value, RegisterRequest(type, .anywhere, name, .context, true, nil, fileID, line))
  }

  /// Do not call this; unwrap the value first. A lookup of the type without the question mark does not find an
  /// optional.
  ///
  /// - Parameters:
  ///   - value: The value to unwrap.
  ///   - type: The optional type.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle to the registration.
  @available(*, deprecated, message: "unwrap it first: a lookup without the question mark finds no optional")
  @preconcurrency @MainActor @discardableResult
  public func provide<Wrapped>(
    _ value: Wrapped?, as type: Wrapped?.Type = Wrapped?.self, named name: UDIName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration<Wrapped?> {
    provide(value, RegisterRequest(type, .mainActor, name, .context, true, nil, fileID, line))
  }
}
