/// Verbs with which an object makes and withdraws bindings. The bindings belong to the object, so they are withdrawn
/// when the object is detached or released. `bind` and `multiBind` have two overloads each (see
/// `UDIContext+Bind.swift`).
extension UDIObject {
  /// Binds an instance, usually `self`, in the object's effective context, which holds it weakly. Withdraws the
  /// instance's bindings under the same key in all other contexts.
  ///
  /// A binding that already exists in the effective context under the key is replaced.
  ///
  /// - Parameters:
  ///   - dependency: A class instance: the object itself, or a helper that something holds.
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`; the compiler checks the
  ///     conformance.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - metadata: Any value by which the registration can be found: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance, because a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes, and O(bindings of the instance)
  ///   to withdraw the others.
  public func bind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, type, .anywhere, name, .of(metadata), UDICallSite(fileID, line), isMulti: false, in: nil)
  }

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
    bind(dependency, type, .anywhere, name, .of(metadata), UDICallSite(fileID, line), isMulti: true, in: contexts)
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
  /// Does the same as ``bind(_:as:named:metadata:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  public func bind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, type, .mainActor, name, .of(metadata), UDICallSite(fileID, line), isMulti: false, in: nil)
  }

  /// Does the same as ``multiBind(_:as:named:in:metadata:fileID:line:)`` on the main actor, for a type that is not
  /// `Sendable`.
  @preconcurrency @MainActor
  public func multiBind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, in contexts: [UDIContext]? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, type, .mainActor, name, .of(metadata), UDICallSite(fileID, line), isMulti: true, in: contexts)
  }
}

// MARK: - With a key

extension UDIObject {
  /// Does the same as ``bind(_:as:named:metadata:fileID:line:)`` for a key.
  @_alwaysEmitIntoClient
  public func bind<Dependency: Sendable>(
    _ dependency: Dependency, as key: UDIKey<Dependency>, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, as: Dependency.self, named: key.name, metadata: metadata, fileID: fileID, line: line)
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

// MARK: - From typed verbs to the untyped core

extension UDIObject {
  private func bind<Dependency>(
    _ dependency: Dependency, _ type: Dependency.Type, _ reach: UDIReach, _ name: UDIName?,
    _ metadata: BindRequest.Metadata?, _ site: UDICallSite, isMulti: Bool, in contexts: [UDIContext]?
  ) {
    BindRequest.make(dependency, type, reach, name, metadata, site, isMulti: isMulti) { add($0, in: contexts) }
  }

  func add(_ request: BindRequest, in contexts: [UDIContext]?) {
    let attachment = _attachedContext
    attachment.remember(owner: self)
    if contexts == nil || attachment.state.isGone {
      let verb = request.isMulti ? "multiBind" : "bind"
      let key = describeKey(request.token.identity.object.text, request.name?.description)
      if attachment.effectiveContext(verb, self, key, at: request.site) == nil { return }
    }
    guard let contexts else { return attachment.bind(request, in: nil) }
    for context in contexts { attachment.bind(request, in: context) }
  }
}
