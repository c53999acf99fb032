/// Verbs with which an object makes further bindings of an instance, and withdraws bindings. The bindings belong to the
/// object, so they are withdrawn when the object is detached or released.
extension UDIObject {
  /// Binds an instance in the given contexts, which hold it weakly, and leaves it bound in all other contexts.
  ///
  /// These bindings stay when the object is attached elsewhere. They end with the context that the object is attached
  /// to: when that is closed or released, they are withdrawn, and the object binds nothing more until it is
  /// detached or attached elsewhere. Bindings that already exist in the given contexts under the key are replaced.
  ///
  /// - Parameters:
  ///   - dependency: A class instance: the object itself, or a helper that something holds.
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`; the compiler checks the
  ///     conformance.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - contexts: The contexts to register the dependency in; nil for the object's effective context.
  ///   - metadata: Any value by which the registration can be found: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance, because a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes, for each context.
  public func multiBind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, in contexts: [UDIContext]? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    _origin.bind(
      dependency, type, .anywhere, name, .of(metadata), UDICallSite(fileID, line), isMulti: true, in: contexts)
  }

  /// Withdraws the bindings that this object has made under the given type and name, in all contexts.
  ///
  /// If another object, for example a successor of this one, has since bound something under them, that binding stays.
  /// It is therefore safe to call this method in a `deinit`.
  ///
  /// - Parameters:
  ///   - type: The type that the instance is bound under.
  ///   - name: The name that the instance is bound under, if any.
  /// - Returns: Whether any binding was withdrawn.
  /// - Complexity: O(bindings of this object), and O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func unbind<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    let key = TypeToken.of(type).key(named: name)
    return Tree.change { garbage in
      let unwanted = _attachedContext.bindings.filter { $0.key === key }
      for binding in unwanted { binding.withdraw(&garbage) }
      return !unwanted.isEmpty
    }
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIObject {
  /// Does the same as ``multiBind(_:as:named:in:metadata:fileID:line:)`` on the main actor, for a type that is not
  /// `Sendable`.
  @preconcurrency @MainActor
  public func multiBind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, in contexts: [UDIContext]? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    _origin.bind(
      dependency, type, .mainActor, name, .of(metadata), UDICallSite(fileID, line), isMulti: true, in: contexts)
  }
}
