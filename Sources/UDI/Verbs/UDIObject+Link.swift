/// Linking properties of objects, and the original library's word for `link`. All other verbs that look something up
/// are those of ``UDILinking``. Each verb is declared twice (see `UDILinking+Bind.swift`).
extension UDIObject {
  /// Looks up a dependency, and stores it in a property: `link(\.clock)`.
  ///
  /// The property's type determines which dependency is looked up.
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
  /// - Complexity: As for ``UDILinking/link(_:named:search:fresh:fileID:line:)``.
  @_alwaysEmitIntoClient @discardableResult
  public func link<Dependency: Sendable>(
    _ property: ReferenceWritableKeyPath<Self, Dependency?>, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    let found = lookUp(Dependency.self, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
    return property.store(found, in: self)
  }

  /// Looks up a dependency, and stores it in a variable: `link(&clock)`.
  ///
  /// This form is for local variables, and for actors, in which the key path cannot be formed. Everywhere else, prefer
  /// `link(\.clock)`, whose documentation explains why.
  ///
  /// - Parameters:
  ///   - property: The variable. When the lookup is over, it is set to the dependency, or to nil if there is none.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: Whether the dependency was found.
  /// - Complexity: As for ``UDILinking/link(_:named:search:fresh:fileID:line:)``.
  @_alwaysEmitIntoClient @discardableResult
  public func link<Dependency: Sendable>(
    _ property: inout Dependency?, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    property = lookUp(Dependency.self, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
    return property != nil
  }

  /// Looks up a dependency for immediate use, and stores nothing: `linkInLine((any Clock).self)?.now`.
  ///
  /// This is the original library's name for `link(P.self)`, and does the same.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call; nil if there is none.
  /// - Complexity: As for ``UDILinking/link(_:named:search:fresh:fileID:line:)``.
  @_alwaysEmitIntoClient
  public func linkInLine<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? { lookUp(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line)) }

  // MARK: - On the main actor, for types that are not Sendable

  /// Does the same as ``link(_:named:search:fileID:line:)-(ReferenceWritableKeyPath<Self,Dependency?>,_,_,_,_)`` on the
  /// main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor @discardableResult
  public func link<Dependency>(
    _ property: ReferenceWritableKeyPath<Self, Dependency?>, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    let found = lookUp(Dependency.self, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
    return property.store(found, in: self)
  }

  /// Does the same as ``link(_:named:search:fileID:line:)-(Dependency?,_,_,_,_)`` on the main actor, for a type that is
  /// not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor @discardableResult
  public func link<Dependency>(
    _ property: inout Dependency?, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    property = lookUp(Dependency.self, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
    return property != nil
  }

  /// Does the same as ``linkInLine(_:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func linkInLine<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? { lookUp(type, .mainActor, named: name, search: search, at: UDICallSite(fileID, line)) }
}
