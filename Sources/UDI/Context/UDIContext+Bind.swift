/// Binding: registering an instance that somebody else keeps alive.
///
/// Every verb that takes a dependency stands here twice: once for `Sendable` types, callable from anywhere, and, below the mark, once
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
  ///   - metadata: Anything to find it by: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes; and O(bindings of the instance), to withdraw.
  public func bind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    BindRequest.make(
      dependency, as: type, named: name, metadata: .of(metadata), CallSite(fileID, line), isMulti: false, .anywhere
    ) {
      add($0)
    }
  }

  /// Registers an instance in this context as well, weakly: other contexts in which it is bound keep it. What was bound under the same key here is
  /// replaced.
  ///
  /// - Parameters:
  ///   - dependency: A class instance.
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; the compiler checks the conformance.
  ///   - name: Tells apart several dependencies of one type.
  ///   - metadata: Anything to find it by: see ``UDIContext/registrations(of:search:)``.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Precondition: `dependency` is a class instance; a value cannot be held weakly.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  public func multiBind<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    BindRequest.make(
      dependency, as: type, named: name, metadata: .of(metadata), CallSite(fileID, line), isMulti: true, .anywhere
    ) {
      add($0)
    }
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
  /// The same for a type that is not `Sendable`, on the main actor; see ``bind(_:as:named:metadata:fileID:line:)``.
  @preconcurrency @MainActor
  public func bind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    BindRequest.make(
      dependency, as: type, named: name, metadata: .of(metadata), CallSite(fileID, line), isMulti: false, .mainActor
    ) {
      add($0)
    }
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``multiBind(_:as:named:metadata:fileID:line:)``.
  @preconcurrency @MainActor
  public func multiBind<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName? = nil, metadata: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    BindRequest.make(
      dependency, as: type, named: name, metadata: .of(metadata), CallSite(fileID, line), isMulti: true, .mainActor
    ) {
      add($0)
    }
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIContext {
  func add(_ request: borrowing BindRequest) {
    request.tellAttachment()
    // To be taken, because a closure cannot consume a constant of its surroundings.
    var binding = Optional(Binding.make(request, binder: .context))
    let isMulti = request.isMulti
    change { node, garbage in
      if let binding = binding.take() { node.bind(binding, moving: !isMulti, &garbage) }
    }
  }
}

/// What a caller of `bind` or `multiBind` gives, without its type, so that the work is compiled once.
///
/// It does not hold the dependency, which the caller does for the time of the call.
struct BindRequest: ~Copyable {
  let form: StoredForm
  let type: Any.Type
  let name: UDIName?
  let site: CallSite
  let metadata: Metadata?
  let isMulti: Bool
  let reach: Reach

  /// What a registration is described with, which few are: behind a reference, so that it is cheap to pass on where there is none.
  final class Metadata: Sendable {
    let value: any Sendable
    private init(_ value: any Sendable) { self.value = value }

    @inline(__always)
    static func of(_ value: (any Sendable)?) -> Metadata? {
      // Asked before the value is taken out, which would copy nothing at length.
      if case .none = value { return nil }
      return box(value)
    }

    @inline(never)
    static func box(_ value: (any Sendable)?) -> Metadata? { value.map { Metadata($0) } }
  }

  init(
    _ form: StoredForm, _ type: Any.Type, _ name: UDIName?, _ metadata: Metadata?, _ site: CallSite,
    _ isMulti: Bool, _ reach: Reach
  ) {
    self.form = form
    self.type = type
    self.name = name
    self.metadata = metadata
    self.site = site
    self.isMulti = isMulti
    self.reach = reach
  }

  /// Takes a request apart and hands it to `body`.
  @inline(__always)
  static func make<Dependency>(
    _ dependency: Dependency, as type: Dependency.Type, named name: UDIName?, metadata: Metadata?,
    _ site: CallSite, isMulti: Bool, _ reach: Reach, _ body: (borrowing BindRequest) -> Void
  ) {
    reach.assertIsolation(type)
    guard let form = StoredForm.of(dependency, as: type) else {
      refuse(Swift.type(of: dependency as Any), type, site)
    }
    if type != Dependency.self { check(form, type, site) }
    body(BindRequest(form, type, name, metadata, site, isMulti, reach))
    withExtendedLifetime(dependency) {}
  }

  /// Stops the program where an instance is bound as a class that it is not of. The compiler lets that pass where the class is given by a
  /// variable of its superclass's metatype.
  @inline(never)
  static func check(_ form: StoredForm, _ type: Any.Type, _ site: CallSite) {
    form.borrowed.read { object in
      if isInstance(type, object) { return }
      fatalError(
        """
        \(site.fileID):\(site.line): a \(String(reflecting: Swift.type(of: object))) was bound or provided as \(String(reflecting: type)), \
        and is none.
        """)
    }
  }

  /// Stops the program: a value cannot be held weakly.
  static func refuse(_ value: Any.Type, _ type: Any.Type, _ site: CallSite) -> Never {
    // Not a precondition, which says nothing in release builds; and the place is the caller's, not this one.
    fatalError(
      """
      \(site.fileID):\(site.line): \(String(reflecting: value)) was bound as \(String(reflecting: type)), but it is a \
      value type, and a context holds what is bound only weakly: it would be gone at once. Bind a class instance; for a \
      value register a provider, which makes or keeps it.
      """)
  }

  /// Tells an object's attachment that the object is bound, so that the binding goes at the very moment the object does;
  /// otherwise it would go when it is touched next.
  ///
  /// Objects that were ever attached, or used a verb of their own, have told it already. For the others this asks them, which is
  /// only done on the main actor: a conformance may be isolated to it, and calling that from elsewhere stops the program.
  /// What is missed is only when the binding goes, so nothing rests on the cast either.
  func tellAttachment() {
    guard UDIAttachment.areInUse else { return }
    form.borrowed.read { object in
      let facts = TypeToken.of(Swift.type(of: object)).facts
      if facts.contains(.isClassified), !facts.contains(.isObject) { return }
      let member = object as? any UDIObject
      if !facts.contains(.isClassified) {
        TypeToken.note(member == nil ? .isClassified : [.isClassified, .isObject], of: Swift.type(of: object))
      }
      guard let member, MainActorCheck.isOnMainActor else { return }
      member._attachedContext.remember(owner: form.address)
    }
  }
}
