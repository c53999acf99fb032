/// Verbs that bind on behalf of an object: in its effective context, and as bindings of its own, which are withdrawn
/// when the object is detached or dies. Each has two overloads, see `UDIContext+Bind.swift`.
extension UDIObject {
  /// Registers an instance, usually `self`, weakly in the object's effective context, and withdraws the same instance
  /// under the same key from every other context.
  ///
  /// What was bound in the effective context under the key is replaced.
  ///
  /// - Parameters:
  ///   - dependency: A class instance: the object itself, or a helper that somebody holds.
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`; the compiler checks the
  ///     conformance.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - metadata: Any value by which the registration can be found: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes, and O(bindings of the instance) for
  ///   withdrawing it.
  public func bind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    BindRequest.make(
      dependency, as: type, named: name, metadata: .of(metadata), CallSite(fileID, line), isMulti: false, .anywhere
    ) {
      add($0, in: nil)
    }
  }

  /// Registers an instance weakly in the given contexts, in addition to those where it is bound already.
  ///
  /// Nothing is withdrawn elsewhere, and this binding stays when the object is attached elsewhere. What was bound in
  /// the given contexts under the same key is replaced.
  ///
  /// - Parameters:
  ///   - dependency: A class instance: the object itself, or a helper that somebody holds.
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`; the compiler checks the
  ///     conformance.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - contexts: The contexts to register it in; nil for the object's effective context.
  ///   - metadata: Any value by which the registration can be found: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes, for each context.
  public func multiBind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, in contexts: [UDIContext]? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    BindRequest.make(
      dependency, as: type, named: name, metadata: .of(metadata), CallSite(fileID, line), isMulti: true, .anywhere
    ) {
      add($0, in: contexts)
    }
  }

  /// Withdraws what this object bound under a key, in all contexts.
  ///
  /// What somebody else has bound under the key since then stays, for example what a successor of this object has
  /// bound. So this is safe in a `deinit`.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  /// - Returns: Whether there was something to withdraw.
  /// - Complexity: O(bindings of this object), and O(log siblings) on each level whose answer changes.
  @discardableResult
  public func unbind<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    _attachedContext.unbind(.of(.of(type), name))
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
    BindRequest.make(
      dependency, as: type, named: name, metadata: .of(metadata), CallSite(fileID, line), isMulti: false, .mainActor
    ) {
      add($0, in: nil)
    }
  }

  /// Does the same as ``multiBind(_:as:named:in:metadata:fileID:line:)`` on the main actor, for a type that is not
  /// `Sendable`.
  @preconcurrency @MainActor
  public func multiBind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, in contexts: [UDIContext]? = nil,
    metadata: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    BindRequest.make(
      dependency, as: type, named: name, metadata: .of(metadata), CallSite(fileID, line), isMulti: true, .mainActor
    ) {
      add($0, in: contexts)
    }
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIObject {
  func add(_ request: borrowing BindRequest, in contexts: [UDIContext]?) {
    let attachment = _attachedContext
    attachment.remember(owner: Unretained<AnyObject>(self).address)
    guard let contexts else {
      let (type, name) = (request.token.identity, request.name)
      let context = attachment.effectiveContext(
        "bind", self, describing: { describeKey(type.read { $0.text }, name) }, at: request.site)
      if context != nil { _ = attachment.bind(request, in: nil) }
      return
    }
    for context in contexts { _ = attachment.bind(request, in: context) }
  }
}
