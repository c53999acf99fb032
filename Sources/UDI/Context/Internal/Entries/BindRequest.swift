/// The arguments of a call of `bind` or `multiBind`. The struct is not generic, so that the code that uses it is
/// compiled once for all types.
///
/// The request does not hold the dependency; the caller holds it during the call.
@usableFromInline
struct BindRequest {
  let form: StoredForm
  let token: TypeToken
  let name: UDIName?
  let site: UDICallSite
  let metadata: Metadata?
  /// Whether this is an object's `multiBind`.
  let isMulti: Bool
  let reach: UDIReach

  /// The metadata of a binding. Few have any. It is behind an optional reference, which is cheap to pass on while it is
  /// nil.
  @usableFromInline
  final class Metadata: Sendable {
    let value: any Sendable

    @usableFromInline
    init(_ value: any Sendable) { self.value = value }

    @_alwaysEmitIntoClient @inline(__always)
    static func of(_ value: (any Sendable)?) -> Metadata? {
      // Nil is checked for first, because unwrapping would make a slow copy even if there is no value.
      if case .none = value { return nil }
      return value.map { Metadata($0) }
    }
  }

  /// Lets the bound object's attachment know that the object is bound, so that the binding is withdrawn at the very
  /// moment the object is released. Otherwise the binding would be withdrawn only when something finds it dead.
  ///
  /// If the object was ever attached, or has bound anything itself, its attachment knows this already. For all other
  /// objects, this function lets the attachment know, but only on the main actor: the conformance to `UDIObject` might
  /// be isolated to the main actor, and using it elsewhere would stop the program. Elsewhere, the only effect is that
  /// the binding is withdrawn later.
  func tellAttachment() {
    form.borrowed.read { object in
      guard UDIAttachment.exists(for: object), runsOnMainActor else { return }
      (object as? any UDIObject)?._attachedContext.remember(owner: object)
    }
  }
}
