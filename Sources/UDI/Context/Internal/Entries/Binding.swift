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
  /// Whether `multiBind` made the binding. Such a binding stays when its object is attached elsewhere.
  final let isMulti: Bool
  /// The next newer binding of the same instance.
  final var previousOfInstance: Unretained<Binding>?
  /// The next older binding of the same instance.
  final var nextOfInstance: Unretained<Binding>?

  override func withdraw(_ garbage: inout Garbage) {
    if UDIRecording.isOn { UDIRecording.noteRemoval(of: self, withdrawnBy: nil, &garbage) }
    takeOut(&garbage)
  }

  /// Withdraws the binding because its instance has been bound in another context.
  @inline(never)
  final func withdraw(insteadOf other: Binding, _ garbage: inout Garbage) {
    if UDIRecording.isOn { UDIRecording.noteRemoval(of: self, withdrawnBy: other.site, &garbage) }
    takeOut(&garbage)
  }

  init(_ request: borrowing BindRequest, binder: Binder) {
    let token = request.token
    self.binder = binder
    isMulti = request.isMulti
    super.init(
      .binding, request.form, key: .of(token.identity, request.name), isExact: token.isExact, request.reach,
      request.site)
  }
}

/// A binding with properties that most bindings do not need.
final class DetailedBinding: Binding, @unchecked Sendable {
  // Unchecked: this class adds only constants.

  /// The attachment of the object whose verb made the binding; nil if the bound object itself or a context made it. The
  /// binding is withdrawn when this object is released, so the reference never dangles.
  let maker: Unretained<UDIAttachment>?
  /// The class of the bound object, which explanations need after the object has been released. Nil if recording was
  /// off when the binding was made.
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
  /// - Parameter maker: The attachment of the object whose verb makes the binding; nil if the bound object itself or a
  ///   context makes it.
  static func make(_ request: borrowing BindRequest, binder: Binder, maker: UDIAttachment? = nil) -> Binding {
    maker == nil && request.metadata == nil && !UDIRecording.isOn
      ? Binding(request, binder: binder) : DetailedBinding(request, binder: binder, maker: maker)
  }
}
