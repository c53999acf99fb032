/// Verbs with which a context makes further bindings of an instance, and withdraws bindings. (`bind` is declared for
/// contexts and objects, in `UDILinking+Bind.swift`.)
extension UDIContext {
  /// Binds an instance in this context, which holds it weakly, and leaves it bound in all other contexts.
  ///
  /// A binding that already exists here under the key is replaced. The context does not keep the instance alive, so
  /// hold it elsewhere.
  ///
  /// - Parameters:
  ///   - dependency: A class instance.
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`; the compiler checks the
  ///     conformance.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - metadata: Any value by which the registration can be found: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance, because a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @_alwaysEmitIntoClient
  public func multiBind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    _origin.bind(dependency, type, .anywhere, name, .of(metadata), UDICallSite(fileID, line), isMulti: true)
  }

  /// Withdraws the binding under the given type and name in this context, whichever call made it. Bindings in other
  /// contexts stay.
  ///
  /// - Parameters:
  ///   - type: The type that the instance is bound under.
  ///   - name: The name that the instance is bound under, if any.
  /// - Returns: Whether there was a binding, even if its instance had already been released.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func unbind<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    let key = TypeToken.of(type).key(named: name)
    return change { node, garbage in
      guard let binding = node.heldBinding(key) else { return false }
      binding.takeOut(&garbage)
      return true
    }
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// Does the same as ``multiBind(_:as:named:metadata:fileID:line:)`` on the main actor, for a type that is not
  /// `Sendable`.
  @_alwaysEmitIntoClient @preconcurrency @MainActor
  public func multiBind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    _origin.bind(dependency, type, .mainActor, name, .of(metadata), UDICallSite(fileID, line), isMulti: true)
  }
}
