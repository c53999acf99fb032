/// What is an optional by mistake: the optional's own type would be registered, or asked for.
///
/// Deprecated and not unavailable: the compiler passes over what is unavailable where another overload fits, and for an optional it would take
/// the general one without a word. `.ci/refused` checks it. Each verb stands here twice, see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Not to be used: what a context owns is not optional.
  ///
  /// - Parameters:
  ///   - value: What is to be unwrapped first.
  ///   - type: The optional type.
  ///   - name: Tells apart several dependencies of one type.
  ///   - metadata: Anything to find the registration by.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle.
  @available(
    *, deprecated,
    message: "unwrap it first: who looks up the type without the question mark does not find an optional"
  )
  @discardableResult
  public func provide<Wrapped: Sendable>(
    _ value: Wrapped?, as type: Wrapped?.Type = Wrapped?.self, named name: UDIName? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration<Wrapped?> {
    provideAnything(value, name, metadata, fileID, line)
  }

  /// Not to be used: what a context owns is not optional.
  ///
  /// - Parameters:
  ///   - value: What is to be unwrapped first.
  ///   - type: The optional type.
  ///   - name: Tells apart several dependencies of one type.
  ///   - metadata: Anything to find the registration by.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle.
  @available(
    *, deprecated,
    message: "unwrap it first: who looks up the type without the question mark does not find an optional"
  )
  @preconcurrency @MainActor
  @discardableResult
  public func provide<Wrapped>(
    _ value: Wrapped?, as type: Wrapped?.Type = Wrapped?.self, named name: UDIName? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIRegistration<Wrapped?> {
    provideAnythingOnMainActor(value, name, metadata, fileID, line)
  }

  // Generic functions, in which nobody knows that it is an optional, reach the verb for all values.
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

  /// Not to be used: what is required is not optional.
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

  /// Not to be used: what is required is not optional.
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
  /// Not to be used: what is required is not optional.
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

  /// Not to be used: what is required is not optional.
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
