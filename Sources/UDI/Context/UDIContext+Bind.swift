/// Binding: registering an instance that somebody else keeps alive.
///
/// Every verb that takes a dependency stands here twice: once for `Sendable` types, callable from anywhere, and once
/// for all others, on the main actor. The type decides, so what is not `Sendable` never leaves the main actor.
extension UDIContext {
  /// Registers an instance in this context, weakly, and withdraws the same instance under the same key from every other one.
  ///
  /// What was bound under the key here is replaced. The context does not keep the instance alive: hold it elsewhere.
  ///
  /// - Parameters:
  ///   - dependency: A class instance.
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; the compiler checks the conformance.
  ///   - name: Tells apart several dependencies of one type.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable
  public func bind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    add(Offer(dependency, as: type, named: name, CallSite(fileID, line)))
  }

  /// Registers an instance that is not `Sendable`, on the main actor; otherwise the same.
  ///
  /// - Parameters:
  ///   - dependency: A class instance.
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; the compiler checks the conformance.
  ///   - name: Tells apart several dependencies of one type.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable @preconcurrency @MainActor
  public func bind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    add(Offer(dependency, as: type, named: name, CallSite(fileID, line)))
  }

  /// Registers an instance in this context as well, weakly: other contexts in which it is bound keep it.
  ///
  /// - Parameters:
  ///   - dependency: A class instance.
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; the compiler checks the conformance.
  ///   - name: Tells apart several dependencies of one type.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable
  public func multiBind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    add(Offer(dependency, as: type, named: name, CallSite(fileID, line), isMulti: true))
  }

  /// Registers an instance that is not `Sendable` in this context as well, on the main actor; otherwise the same.
  ///
  /// - Parameters:
  ///   - dependency: A class instance.
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; the compiler checks the conformance.
  ///   - name: Tells apart several dependencies of one type.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @inlinable @preconcurrency @MainActor
  public func multiBind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    add(Offer(dependency, as: type, named: name, CallSite(fileID, line), isMulti: true))
  }

  /// Takes back what is bound under a key in this very context, whoever bound it.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  /// - Returns: Whether something was bound, dead or alive.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func unbind<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    let key = KeyIdentity.of(.of(type), name)
    return Tree.change { garbage in
      guard let binding = node.ownBinding(key.id) else { return false }
      binding.withdraw(&garbage)
      return true
    }
  }

  @usableFromInline
  func add(_ offer: Offer) {
    // Only so that the binding goes at the very moment its object does; otherwise it goes when it is touched next. Off the
    // main actor the cast fails for classes whose conformance is isolated to it.
    if let object = offer.dependency.object as? any UDIObject {
      object._attachedContext.remember(owner: offer.dependency.form.address)
    }
    let binding = offer.makeBinding(binder: nil)
    Tree.change { garbage in node.bind(binding, moving: !offer.isMulti, &garbage) }
  }
}

/// What a caller of `bind` or `multiBind` gives, without its type, so that the work is compiled once.
@usableFromInline
struct Offer {
  let dependency: CapturedDependency
  let type: Any.Type
  let name: UDIName?
  let site: CallSite
  let isMulti: Bool

  @usableFromInline
  init(_ dependency: CapturedDependency, _ type: Any.Type, _ name: UDIName?, _ site: CallSite, _ isMulti: Bool) {
    self.dependency = dependency
    self.type = type
    self.name = name
    self.site = site
    self.isMulti = isMulti
  }

  @inlinable
  init<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName?, _ site: CallSite,
    isMulti: Bool = false
  ) {
    guard let captured = CapturedDependency.of(dependency) else {
      Self.refuse(Swift.type(of: dependency as Any), type)
    }
    self.init(captured, type, name, site, isMulti)
  }

  @usableFromInline
  static func refuse(_ value: Any.Type, _ type: Any.Type) -> Never {
    preconditionFailure(
      """
      \(String(reflecting: value)) was bound as \(String(reflecting: type)), but it is a value type, and a context holds what is bound only \
      weakly: it would be gone at once. Bind a class instance; for a value register a provider, which makes or keeps it.
      """)
  }

  func makeBinding(binder: UDIAttachment?) -> Binding {
    Binding(
      dependency, as: type, key: .of(.of(type), name), site: site, isMulti: isMulti, binder: binder)
  }
}
