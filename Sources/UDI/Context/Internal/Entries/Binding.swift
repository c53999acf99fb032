/// A binding: the weak entry for one key in one context.
class Binding: Entry, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the tree lock.

  /// Who called the verb that made the binding.
  enum Binder: UInt8 {
    case context
    /// The bound object itself.
    case instance
    /// Another object: the binding is a `DetailedBinding`.
    case other
  }

  final let binder: Binder
  /// Whether `multiBind` made it. Such a binding stays when the object is attached elsewhere.
  final let isMulti: Bool
  /// The binding of the same instance that was made after this one.
  final var previousOfInstance: Unretained<Binding>?
  /// The binding of the same instance that was made before this one.
  final var nextOfInstance: Unretained<Binding>?

  override func withdraw(_ garbage: inout Garbage) {
    if UDIRecording.isOn { UDIRecording.noteRemoval(of: self, withdrawnBy: nil, &garbage) }
    takeOut(&garbage)
  }

  /// Takes the binding out of its context because its instance is now bound in another one.
  @inline(never)
  final func withdraw(insteadOf other: Binding, _ garbage: inout Garbage) {
    if UDIRecording.isOn { UDIRecording.noteRemoval(of: self, withdrawnBy: other.site, &garbage) }
    takeOut(&garbage)
  }

  init(_ request: borrowing BindRequest, binder: Binder) {
    let token = TypeToken.of(request.type)
    self.binder = binder
    isMulti = request.isMulti
    super.init(
      .binding, request.form, key: .of(token.identity, request.name), isExact: token.isExact, request.reach,
      request.site)
  }
}

/// A binding with details that most bindings do not have.
final class DetailedBinding: Binding, @unchecked Sendable {
  // Unchecked: it adds only constants.

  /// The attachment of the object whose verb made the binding; nil if the bound object itself made it, or a context.
  /// The binding is withdrawn when its maker dies, so the reference never dangles.
  let maker: Unretained<UDIAttachment>?
  /// The class of the bound object. It is stored because a dead object cannot be asked for its class. Nil if recording
  /// was off.
  let objectType: Any.Type?
  private let details: BindRequest.Metadata?
  override var metadata: (any Sendable)? { details?.value }

  init(_ request: borrowing BindRequest, binder: Binder, maker: UDIAttachment?) {
    self.maker = maker.map { Unretained($0) }
    objectType = UDIRecording.isOn ? request.form.borrowed.read { Swift.type(of: $0) } : nil
    details = request.metadata
    super.init(request, binder: binder)
  }
}

extension Binding {
  /// Makes the binding that a request describes.
  ///
  /// - Parameter maker: The attachment of the object whose verb makes the binding; nil if it is the bound object
  ///   itself, or a context.
  static func make(_ request: borrowing BindRequest, binder: Binder, maker: UDIAttachment? = nil) -> Binding {
    maker == nil && request.metadata == nil && !UDIRecording.isOn
      ? Binding(request, binder: binder) : DetailedBinding(request, binder: binder, maker: maker)
  }
}
