/// Verbs that link on behalf of an object: from its effective context. Each has two overloads, see
/// `UDIContext+Bind.swift`. Two forms of `require` infer the type from where the result is used; one of them is
/// disfavoured, see `UDIContext+Link.swift`.
extension UDIObject {
  /// Looks up a dependency and keeps it in a property: `link(\.clock)`. The property's type says what is looked up.
  ///
  /// Prefer this form to the one with `&`. That one holds exclusive access to the property during the whole call, so
  /// anything that touches the property meanwhile stops the process: the `deinit` of its old value, for example.
  ///
  /// - Parameters:
  ///   - property: An optional property of the object. It is set to what the lookup finds, or to nil.
  ///   - name: The name the dependency is registered under, if any.
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
  /// This form is for actors, which cannot form the key path, and for local variables. Everywhere else, prefer
  /// `link(\.clock)`, whose documentation says why.
  ///
  /// - Parameters:
  ///   - property: Set to what the lookup finds, or to nil, but only after the lookup is over.
  ///   - name: The name the dependency is registered under, if any.
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

  /// Looks up a dependency for immediate use: `linkInLine((any Clock).self)?.now`. Nothing is kept.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, whether it is bound, kept or made now; nil if there is nothing.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @inlinable
  public func linkInLine<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or if it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency that must be there, and infers its type from where the result is used:
  /// `editor = try Editor(store: require())`.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or if it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @_disfavoredOverload
  @inlinable
  public func require<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency that must be there, for a place where an optional is expected. The type that is looked up is
  /// the wrapped one.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or if it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``UDIContext/link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up every live dependency of a type, under any name.
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: What is bound, kept or made now, in search order; within a context, in the order of registration.
  /// - Complexity: As for ``UDIContext/linkAll(_:search:)``.
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Dependency] {
    lookUpAll(type, nil, .anywhere, search, ofAnyName: true, CallSite(fileID, line))
  }

  /// Looks up every live dependency of a type with one name; if the name is nil, those without a name.
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - name: Their name, or nil for those without one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: What is bound, kept or made now, in search order; at most one from each context.
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
