/// Overloads for optionals that are passed by mistake: the optional's own type would be registered, or looked up.
///
/// They are deprecated and not unavailable: if another overload fits, the compiler ignores those that are unavailable,
/// and for an optional it would take the general one without a warning. `.ci/refused` checks this. Each verb is
/// declared twice, see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Not to be used: what a context owns must not be optional.
  ///
  /// - Parameters:
  ///   - value: The value to unwrap first.
  ///   - type: The optional type.
  ///   - name: Tells dependencies of one type apart.
  ///   - metadata: Anything by which to find the registration.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle.
  @available(
    *, deprecated,
    message: "unwrap it first: a lookup of the type without the question mark does not find an optional"
  )
  @discardableResult
  public func provide<Wrapped: Sendable>(
    _ value: Wrapped?, as type: Wrapped?.Type = Wrapped?.self, named name: UDIName? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration<Wrapped?> {
    provideAnything(value, name, metadata, fileID, line)
  }

  /// Not to be used: what a context owns must not be optional.
  ///
  /// - Parameters:
  ///   - value: The value to unwrap first.
  ///   - type: The optional type.
  ///   - name: Tells dependencies of one type apart.
  ///   - metadata: Anything by which to find the registration.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle.
  @available(
    *, deprecated,
    message: "unwrap it first: a lookup of the type without the question mark does not find an optional"
  )
  @preconcurrency @MainActor
  @discardableResult
  public func provide<Wrapped>(
    _ value: Wrapped?, as type: Wrapped?.Type = Wrapped?.self, named name: UDIName? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration<Wrapped?> {
    provideAnythingOnMainActor(value, name, metadata, fileID, line)
  }

  // Generic functions do not know that the type is an optional, so they reach the verb for all values.
  private func provideAnything<Value: Sendable>(
    _ value: Value, _ name: UDIName?, _ metadata: (any Sendable)?, _ fileID: StaticString, _ line: UInt
  ) -> UDIRegistration<Value> {
    provide(value, named: name, metadata: metadata, fileID: fileID, line: line)
  }

  @MainActor
  private func provideAnythingOnMainActor<Value>(
    _ value: Value, _ name: UDIName?, _ metadata: (any Sendable)?, _ fileID: StaticString, _ line: UInt
  ) -> UDIRegistration<Value> {
    provide(value, named: name, metadata: metadata, fileID: fileID, line: line)
  }

  /// Not to be used: what is required must not be optional.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The optional, if one is registered.
  /// - Throws: ``UDILinkError`` if there is none.
  @available(
    *, deprecated,
    message: "what is required is not optional: ask for the type without the question mark, or use `link`"
  )
  public func require<Wrapped: Sendable>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .anywhere, search)
  }

  /// Not to be used: what is required must not be optional.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The optional, if one is registered.
  /// - Throws: ``UDILinkError`` if there is none.
  @available(
    *, deprecated,
    message: "what is required is not optional: ask for the type without the question mark, or use `link`"
  )
  @preconcurrency @MainActor
  public func require<Wrapped>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .mainActor, search)
  }
}

extension UDIObject {
  /// Not to be used: what is required must not be optional.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The optional, if one is registered.
  /// - Throws: ``UDILinkError`` if there is none.
  @available(
    *, deprecated,
    message: "what is required is not optional: ask for the type without the question mark, or use `linkInLine`"
  )
  public func require<Wrapped: Sendable>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Not to be used: what is required must not be optional.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The optional, if one is registered.
  /// - Throws: ``UDILinkError`` if there is none.
  @available(
    *, deprecated,
    message: "what is required is not optional: ask for the type without the question mark, or use `linkInLine`"
  )
  @preconcurrency @MainActor
  public func require<Wrapped>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .mainActor, search, CallSite(fileID, line))
  }
}
