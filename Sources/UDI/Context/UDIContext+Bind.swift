/// Binding: registering an instance that somebody else keeps alive.
///
/// Every verb that takes a dependency is declared twice: once for `Sendable` types, callable from anywhere, and, below
/// the mark, once for all other types, on the main actor. The compiler chooses by the dependency's type, so what is not
/// `Sendable` never leaves the main actor.
extension UDIContext {
  /// Registers an instance weakly in this context, and withdraws it from all other contexts where it is bound under the
  /// same key.
  ///
  /// If something is bound under the key here, it is replaced. The context does not keep the instance alive: hold it
  /// elsewhere.
  ///
  /// - Parameters:
  ///   - dependency: A class instance.
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; the compiler checks the conformance.
  ///   - name: Tells dependencies of one type apart.
  ///   - metadata: Anything by which to find the registration: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes, and O(bindings of the instance) to
  ///   withdraw it.
  @inlinable
  public func bind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, type, name, .of(metadata), CallSite(fileID, line), isMulti: false, .anywhere)
  }

  /// Registers an instance weakly in this context, in addition to the contexts where it is bound already.
  ///
  /// The instance stays bound in those other contexts. If something is bound under the key here, it is replaced.
  ///
  /// - Parameters:
  ///   - dependency: A class instance.
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; the compiler checks the conformance.
  ///   - name: Tells dependencies of one type apart.
  ///   - metadata: Anything by which to find the registration: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable
  public func multiBind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, type, name, .of(metadata), CallSite(fileID, line), isMulti: true, .anywhere)
  }

  /// Withdraws what is bound under a key in this very context, whoever bound it.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  /// - Returns: Whether something was bound, dead or alive.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func unbind<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    let key = KeyIdentity.of(.of(type), name)
    defer { withExtendedLifetime(key) {} }
    return change { node, garbage in
      guard let binding = node.ownBinding(key) else { return false }
      binding.takeOut(&garbage)
      return true
    }
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// Does the same for a type that is not `Sendable`, on the main actor; see
  /// ``bind(_:as:named:metadata:fileID:line:)``.
  @inlinable @preconcurrency @MainActor
  public func bind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, type, name, .of(metadata), CallSite(fileID, line), isMulti: false, .mainActor)
  }

  /// Does the same for a type that is not `Sendable`, on the main actor; see
  /// ``multiBind(_:as:named:metadata:fileID:line:)``.
  @inlinable @preconcurrency @MainActor
  public func multiBind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    bind(dependency, type, name, .of(metadata), CallSite(fileID, line), isMulti: true, .mainActor)
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIContext {
  /// Does the work of all the verbs above. Only the check whether there is metadata, `Metadata.of`, is compiled in
  /// clients, where the compiler knows the result. Otherwise, the benchmark "make a scope, bind 3, link 5, end it"
  /// would take 9 % longer.
  @usableFromInline
  func bind<Dependency>(
    _ dependency: Dependency, _ type: Dependency.Type, _ name: UDIName?, _ metadata: BindRequest.Metadata?,
    _ site: CallSite, isMulti: Bool, _ reach: Reach
  ) {
    BindRequest.make(dependency, as: type, named: name, metadata: metadata, site, isMulti: isMulti, reach) { add($0) }
  }

  func add(_ request: borrowing BindRequest) {
    request.tellAttachment()
    // An optional, from which the closure takes the binding: a closure cannot consume a constant that it captures.
    var binding = Optional(Binding.make(request, binder: .context))
    let isMulti = request.isMulti
    change { node, garbage in
      if let binding = binding.take() { node.bind(binding, moving: !isMulti, &garbage) }
    }
  }
}
