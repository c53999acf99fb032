/// Binding: registering an instance that something else keeps alive. What an object binds belongs to that object.
///
/// Every verb that takes a dependency is declared twice: for `Sendable` types, callable from anywhere, and (below the
/// mark) for all other types, on the main actor. The compiler chooses by the dependency's type, so a dependency that is
/// not `Sendable` never leaves the main actor.
extension UDILinking {
  /// Binds an instance in this context or, if this is an object, in its effective context.
  ///
  /// The context holds the instance weakly, so something else has to hold it. This method withdraws the instance's
  /// bindings under the same key in all other contexts.
  ///
  /// A binding that already exists in the context under the key is replaced. A binding that an object makes, usually of
  /// itself, belongs to that object, and is withdrawn when the object is detached or released.
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
  ) { _origin.bind(dependency, type, .anywhere, name, .of(metadata), UDICallSite(fileID, line)) }

  /// Binds an instance in the given contexts, and leaves it bound in all others.
  ///
  /// Without `contexts`, binds it in this context or, if this is an object, in its effective context. The contexts hold
  /// the instance weakly.
  ///
  /// Bindings that already exist in the contexts under the key are replaced. Bindings that an object makes with this
  /// method stay when the object is attached elsewhere. They end with the context that the object is attached to. When
  /// that context is closed or released, they are withdrawn, and the object binds nothing more until it is detached or
  /// attached elsewhere.
  ///
  /// - Parameters:
  ///   - dependency: A class instance: for an object, itself or a helper that something holds.
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`; the compiler checks the
  ///     conformance.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - contexts: The contexts to register the dependency in; nil for this one, or for the object's effective context.
  ///   - metadata: Any value by which the registration can be found: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance, because a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes, for each context.
  @_alwaysEmitIntoClient
  public func multiBind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, in contexts: [UDIContext]? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    _origin.bind(
      dependency, type, .anywhere, name, .of(metadata), UDICallSite(fileID, line), isMulti: true, in: contexts)
  }

  /// Withdraws bindings under the given type and name.
  ///
  /// For a context, this is the binding in that context, whichever call made it. For an object, these are the bindings
  /// that it has made, in all contexts.
  ///
  /// If another object, for example a successor of this one, has since bound something under the type and name, that
  /// binding stays. An object can therefore safely call this method in its `deinit`.
  ///
  /// - Parameters:
  ///   - type: The type that the instance is bound under.
  ///   - name: The name that the instance is bound under, if any.
  /// - Returns: Whether there was a binding, even if its instance had already been released.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes and, for an object, O(bindings of
  ///   this object).
  @discardableResult
  public func unbind<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    _origin.unbind(TypeToken.of(type).key(named: name))
  }

  // MARK: - On the main actor, for types that are not Sendable

  /// Does the same as ``bind(_:as:named:metadata:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func bind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) { _origin.bind(dependency, type, .mainActor, name, .of(metadata), UDICallSite(fileID, line)) }

  /// Does the same as ``multiBind(_:as:named:in:metadata:fileID:line:)`` on the main actor, for a type that is not
  /// `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func multiBind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, in contexts: [UDIContext]? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    _origin.bind(
      dependency, type, .mainActor, name, .of(metadata), UDICallSite(fileID, line), isMulti: true, in: contexts)
  }
}
