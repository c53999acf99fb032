/// Forms of lookups that warn if the type of an optional is passed by mistake. Without them, the optional type itself
/// would be looked up. `UDIContext+Mistakes.swift` says why they are deprecated rather than unavailable.
extension UDILinking {
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
    message: "a required dependency is not optional: ask for the type without the question mark, or use `link`"
  )
  public func require<Wrapped: Sendable>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .anywhere, search, UDICallSite(fileID, line))
  }

  /// Do not call this; look up the type without the question mark. `link` returns an optional anyway.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The optional, if one is registered; otherwise nil.
  @available(*, deprecated, message: "ask for the type without the question mark: `link` returns an optional anyway")
  public func link<Wrapped: Sendable>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Wrapped?? {
    lookUp(type, name, .anywhere, search, UDICallSite(fileID, line))
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
    message: "a required dependency is not optional: ask for the type without the question mark, or use `link`"
  )
  @preconcurrency @MainActor
  public func require<Wrapped>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Wrapped? {
    try lookUpOrThrow(type, name, .mainActor, search, UDICallSite(fileID, line))
  }

  /// Do not call this; look up the type without the question mark. `link` returns an optional anyway.
  ///
  /// - Parameters:
  ///   - type: The optional type.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The optional, if one is registered; otherwise nil.
  @available(*, deprecated, message: "ask for the type without the question mark: `link` returns an optional anyway")
  @preconcurrency @MainActor
  public func link<Wrapped>(
    _ type: Wrapped?.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Wrapped?? {
    lookUp(type, name, .mainActor, search, UDICallSite(fileID, line))
  }

  /// Unavailable: name the type that is looked up.
  @available(*, unavailable, message: "name the type, as in `link((any Service).self)`")
  public func link<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) -> Dependency? { nil }
}
