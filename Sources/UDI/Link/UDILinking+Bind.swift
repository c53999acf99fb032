/// Binding: registering an instance that something else keeps alive.
///
/// Every verb that takes a dependency is declared twice: for `Sendable` types, callable from anywhere, and (below the
/// mark) for all other types, on the main actor. The compiler chooses by the dependency's type, so a dependency that is
/// not `Sendable` never leaves the main actor.
extension UDILinking {
  /// Binds an instance in this context or, if this is an object, in its effective context. The context holds the
  /// instance weakly, so something else has to hold it. Withdraws the instance's bindings under the same key in all
  /// other contexts.
  ///
  /// A binding that already exists in the context under the key is replaced. What an object binds, usually itself,
  /// belongs to that object: it is withdrawn when the object is detached or released.
  ///
  /// - Parameters:
  ///   - dependency: A class instance: for an object, itself or a helper that something holds.
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`; the compiler checks the
  ///     conformance.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - metadata: Any value by which the registration can be found: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance, because a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes, and O(bindings of the instance)
  ///   to withdraw the others.
  @_alwaysEmitIntoClient
  public func bind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    _origin.bind(dependency, type, .anywhere, name, .of(metadata), UDICallSite(fileID, line))
  }

  /// Does the same as ``bind(_:as:named:metadata:fileID:line:)`` for a key.
  @_alwaysEmitIntoClient
  public func bind<Dependency: Sendable>(
    _ dependency: Dependency, as key: UDIKey<Dependency>, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, as: Dependency.self, named: key.name, metadata: metadata, fileID: fileID, line: line)
  }

  // MARK: - On the main actor, for types that are not Sendable

  /// Does the same as ``bind(_:as:named:metadata:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func bind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    _origin.bind(dependency, type, .mainActor, name, .of(metadata), UDICallSite(fileID, line))
  }

  /// Does the same on the main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func bind<Dependency>(
    _ dependency: Dependency, as key: UDIKey<Dependency>, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, as: Dependency.self, named: key.name, metadata: metadata, fileID: fileID, line: line)
  }
}
