/// An entry for an instance that was bound. It holds the instance weakly.
class Binding: Entry, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the tree lock.

  /// Whose verb made the binding.
  enum Binder: UInt8 {
    case context
    /// The bound object itself.
    case instance
    /// Another object: the binding is a `DetailedBinding`.
    case other
  }

  final let binder: Binder
  /// Whether an object's `multiBind` made the binding. Such a binding is a `DetailedBinding`, and stays when that
  /// object is attached elsewhere.
  final let isMulti: Bool
  /// The next newer binding of the same instance.
  final var previousOfInstance: Unretained<Binding>?
  /// The next older binding of the same instance.
  final var nextOfInstance: Unretained<Binding>?

  override func withdraw(_ garbage: inout Garbage) { withdraw(ifAlive: nil, &garbage) }

  /// Withdraws the binding, and records this: see `UDIRecording.noteRemoval`.
  final func withdraw(ifAlive kind: UDIEntry.Kind?, by end: UDICallSite? = nil, _ garbage: inout Garbage) {
    if UDIRecording.isOn { UDIRecording.noteRemoval(of: self, ifAlive: kind, by: end, &garbage) }
    takeOut(&garbage)
  }

  init(_ request: BindRequest, binder: Binder) {
    let token = request.token
    self.binder = binder
    isMulti = request.isMulti && binder != .context
    super.init(
      .binding, request.form, isWeak: true, key: .of(token.identity.object, request.name), isExact: token.isExact,
      request.reach, request.site)
  }
}

/// A binding with properties that most bindings do not need.
final class DetailedBinding: Binding, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the tree lock.

  /// The attachment of the object whose verb made this binding; nil if the bound object bound itself, or if a context
  /// made the binding. When the object with this attachment is released, the binding is withdrawn, so the reference
  /// never dangles.
  let maker: Unretained<UDIAttachment>?
  /// The class of the bound object, which explanations need after the object has been released. Nil if recording was
  /// off when the binding was made.
  let objectType: Any.Type?
  /// If the bound object bound itself, the call or the registration that had attached it. Nil if that is not known, or
  /// if recording was off.
  var attachSite: UDICallSite?
  private let details: BindRequest.Metadata?
  override var metadata: (any Sendable)? { details?.value }
  /// The node of the other context with which the binding ends. The object whose verb made the binding is attached to
  /// that context. Nil if the object is attached to the context that the binding is in, or to none.
  fileprivate var endsWith: Node?

  init(_ request: BindRequest, binder: Binder, maker: UDIAttachment?) {
    self.maker = maker.map { Unretained($0) }
    objectType = UDIRecording.isOn ? request.form.borrowed.read { Swift.type(of: $0) } : nil
    details = request.metadata
    super.init(request, binder: binder)
  }
}

extension Binding {
  /// Makes the binding that a request describes.
  ///
  /// - Parameter maker: The attachment of the object whose verb makes the binding; nil if the bound object itself or a
  ///   context makes it.
  static func make(_ request: BindRequest, binder: Binder, maker: UDIAttachment? = nil) -> Binding {
    let isPlain = maker == nil && request.metadata == nil && !(request.isMulti && binder == .instance)
    return isPlain && !UDIRecording.isOn
      ? Binding(request, binder: binder) : DetailedBinding(request, binder: binder, maker: maker)
  }
}

// MARK: - Bindings that end with another context

// An object whose context has ended finds nothing any more, so it is not to be found either. What is bound in that
// context goes with the context. But `multiBind` also binds in other contexts, and those bindings have to be withdrawn.

extension Binding {
  /// Lets a binding that `multiBind` has made end with the given context, in addition to the context that the binding
  /// is in. The given context replaces the one that an earlier call has given. Called under the tree lock.
  ///
  /// - Parameter other: The node of the given context, which must not be ending; nil if there is none.
  final func end(with other: Node?) {
    guard let binding = self as? DetailedBinding else { preconditionFailure("`multiBind` makes detailed bindings") }
    let other = other == node ? nil : other
    if other == binding.endsWith { return }
    let me = Unretained(binding)
    binding.endsWith?.treeLocked.extras?.bindingsElsewhere.remove(me)
    binding.endsWith = other
    other?.treeLocked.ensureExtras().bindingsElsewhere.insert(me)
  }
}

extension Node {
  /// Withdraws the bindings in other contexts that end with this one. Called under the tree lock.
  @inline(never)
  func withdrawBindingsElsewhere(_ garbage: inout Garbage) {
    var all: [DetailedBinding] = []
    treeLocked.extras?.bindingsElsewhere.forEach { all.append($0.object) }
    for binding in all { binding.withdraw(ifAlive: .withdrawn, &garbage) }
  }
}
