/// Verbs with which an object links from its effective context. Each has two overloads (see `UDIContext+Bind.swift`).
/// Two forms of `require` infer the type from the place where the result is used; one of them is disfavoured, see
/// `UDIContext+Link.swift`.
extension UDIObject {
  /// Looks up a dependency and keeps it in a property: `link(\.clock)`. The property's type determines which dependency
  /// is looked up.
  ///
  /// Prefer this form to `link(&clock)`, which holds exclusive access to the property during the whole call. If any
  /// code uses the property in the meantime, for example the `deinit` of the property's old value, the process stops.
  ///
  /// - Parameters:
  ///   - property: An optional property of the object. It is set to the dependency, or to nil if there is none.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: Whether the dependency was found.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @inlinable
  @discardableResult
  public func link<Dependency: Sendable>(
    _ property: ReferenceWritableKeyPath<Self, Dependency?>, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    store(lookUp(Dependency.self, name, .anywhere, search, CallSite(fileID, line)), in: property)
  }

  /// Looks up a dependency and keeps it in a variable: `link(&clock)`.
  ///
  /// This form is for local variables, and for actors, in which the key path cannot be formed. Everywhere else, prefer
  /// `link(\.clock)`, whose documentation gives the reason.
  ///
  /// - Parameters:
  ///   - property: Set to the dependency, or to nil if there is none, after the lookup is over.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: Whether the dependency was found.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @inlinable
  @discardableResult
  public func link<Dependency: Sendable>(
    _ property: inout Dependency?, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    property = lookUp(Dependency.self, name, .anywhere, search, CallSite(fileID, line))
    return property != nil
  }

  /// Looks up a dependency for immediate use, and keeps nothing: `linkInLine((any Clock).self)?.now`.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call; nil if there is none.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @inlinable
  public func linkInLine<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency, and throws if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency, and throws if there is none. The dependency's type is inferred from the place where the
  /// result is used: `editor = try Editor(store: require())`.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @_disfavoredOverload
  @inlinable
  public func require<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency, and throws if there is none. The compiler chooses this form where an optional is expected.
  /// This form looks up the type that the optional wraps.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up all dependencies of a type, whatever their names.
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The dependencies in search order, those of one context in the order of registration. Some may be made
  ///   by this call.
  /// - Complexity: As for ``UDIContext/linkAll(_:search:)``.
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    lookUpAll(type, nil, .anywhere, search, ofAnyName: true, CallSite(fileID, line))
  }

  /// Looks up all dependencies of the given type that have the given name or, if that is nil, that have no name.
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - name: Their name, or nil for those without one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The dependencies in search order, at most one from each context. Some may be made by this call.
  /// - Complexity: As for ``UDIContext/linkAll(_:search:)``.
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    lookUpAll(type, name, .anywhere, search, ofAnyName: false, CallSite(fileID, line))
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIObject {
  /// Does the same as ``link(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  @discardableResult
  public func link<Dependency>(
    _ property: ReferenceWritableKeyPath<Self, Dependency?>, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    store(lookUp(Dependency.self, name, .mainActor, search, CallSite(fileID, line)), in: property)
  }

  /// Does the same as ``link(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  @discardableResult
  public func link<Dependency>(
    _ property: inout Dependency?, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    property = lookUp(Dependency.self, name, .mainActor, search, CallSite(fileID, line))
    return property != nil
  }

  /// Does the same as ``linkInLine(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func linkInLine<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search, CallSite(fileID, line))
  }

  /// Does the same as ``require(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search, CallSite(fileID, line))
  }

  /// Does the same as ``require(named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_disfavoredOverload
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search, CallSite(fileID, line))
  }

  /// Does the same as ``require(named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`,
  /// where an optional is expected.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search, CallSite(fileID, line))
  }

  /// Does the same as ``linkAll(_:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(
    _ type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    lookUpAll(type, nil, .mainActor, search, ofAnyName: true, CallSite(fileID, line))
  }

  /// Does the same as ``linkAll(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    lookUpAll(type, name, .mainActor, search, ofAnyName: false, CallSite(fileID, line))
  }
}
