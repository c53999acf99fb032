/// Overloads that warn if an optional, or the type of an optional, is passed by mistake. Without them, the optional
/// type itself would be registered or looked up.
///
/// They are deprecated rather than unavailable, because the compiler ignores unavailable overloads if another overload
/// fits: for an optional, it would take the general overload without a warning. `.ci/refused` checks this. Each verb is
/// declared twice, see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Do not call this; unwrap the value first. A lookup of the type without the question mark does not find an
  /// optional.
  ///
  /// - Parameters:
  ///   - value: The value to unwrap.
  ///   - type: The optional type.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - metadata: Any value by which the registration can be found.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle to the registration.
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

  /// Do not call this; unwrap the value first. A lookup of the type without the question mark does not find an
  /// optional.
  ///
  /// - Parameters:
  ///   - value: The value to unwrap.
  ///   - type: The optional type.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - metadata: Any value by which the registration can be found.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A handle to the registration.
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

  // The next two functions are generic, so they do not know that the type is an optional, and call the general
  // `provide`.
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

  /// Do not call this; look up the type without the question mark. `require` never returns nil.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The optional, if one is registered.
  /// - Throws: ``UDILinkError`` if there is none.
  @available(
    *, deprecated,
    message: "a required dependency is not optional: ask for the type without the question mark, or use `link`"
  )
  public func require<Wrapped: Sendable>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .anywhere, search)
  }

  /// Do not call this; look up the type without the question mark. `require` never returns nil.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The optional, if one is registered.
  /// - Throws: ``UDILinkError`` if there is none.
  @available(
    *, deprecated,
    message: "a required dependency is not optional: ask for the type without the question mark, or use `link`"
  )
  @preconcurrency @MainActor
  public func require<Wrapped>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .mainActor, search)
  }

  /// Do not call this; look up the type without the question mark. `link` returns an optional anyway.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The optional, if one is registered; otherwise nil.
  @available(*, deprecated, message: "ask for the type without the question mark: `link` returns an optional anyway")
  public func link<Wrapped: Sendable>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Wrapped?? {
    lookUp(type, name, .anywhere, search)
  }

  /// Do not call this; look up the type without the question mark. `link` returns an optional anyway.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The optional, if one is registered; otherwise nil.
  @available(*, deprecated, message: "ask for the type without the question mark: `link` returns an optional anyway")
  @preconcurrency @MainActor
  public func link<Wrapped>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Wrapped?? {
    lookUp(type, name, .mainActor, search)
  }

  /// Unavailable: name the type that is looked up.
  @available(*, unavailable, message: "name the type, as in `link((any Service).self)`")
  public func link<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) -> Dependency? { nil }
}

extension UDIObject {
  /// Do not call this; look up the type without the question mark. `require` never returns nil.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The optional, if one is registered.
  /// - Throws: ``UDILinkError`` if there is none.
  @available(
    *, deprecated,
    message: "a required dependency is not optional: ask for the type without the question mark, or use `linkInLine`"
  )
  public func require<Wrapped: Sendable>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Do not call this; look up the type without the question mark. `require` never returns nil.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The optional, if one is registered.
  /// - Throws: ``UDILinkError`` if there is none.
  @available(
    *, deprecated,
    message: "a required dependency is not optional: ask for the type without the question mark, or use `linkInLine`"
  )
  @preconcurrency @MainActor
  public func require<Wrapped>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .mainActor, search, CallSite(fileID, line))
  }

  /// Do not call this; look up the type without the question mark. `linkInLine` returns an optional anyway.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The optional, if one is registered; otherwise nil.
  @available(
    *, deprecated, message: "ask for the type without the question mark: `linkInLine` returns an optional anyway"
  )
  public func linkInLine<Wrapped: Sendable>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Wrapped?? {
    lookUp(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Do not call this; look up the type without the question mark. `linkInLine` returns an optional anyway.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The optional, if one is registered; otherwise nil.
  @available(
    *, deprecated, message: "ask for the type without the question mark: `linkInLine` returns an optional anyway"
  )
  @preconcurrency @MainActor
  public func linkInLine<Wrapped>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Wrapped?? {
    lookUp(type, name, .mainActor, search, CallSite(fileID, line))
  }

  /// Unavailable: name the type that is looked up.
  @available(*, unavailable, message: "name the type, as in `linkInLine((any Service).self)`")
  public func linkInLine<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) -> Dependency? { nil }
}
