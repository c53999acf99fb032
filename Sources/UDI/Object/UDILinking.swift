/// A place where lookups begin: a context or an object.
///
/// The lookups of an object begin in its effective context.
///
/// The verbs that look something up, and `bind`, are extensions of this protocol, and are therefore declared once for
/// both. A class conforms only through ``UDIObject``. The requirements are for the library only.
public protocol UDILinking: AnyObject {
  // The lookups are requirements of another protocol, because clients compile a function for each requirement of this
  // one and each class that conforms: with three more, 500 classes took 1.9 seconds longer ("compile" in
  // `Benchmarks/cost`).

  /// The type of the instance that performs the lookups.
  associatedtype _Finder: UDIFinder
  /// The instance that performs the lookups: a context itself, or an object's attachment.
  var _attachedContext: _Finder { get }
}

extension UDILinking {
  /// Where the lookup begins, for all lookups that `UDIFinder` does not perform.
  @_alwaysEmitIntoClient var _origin: UDIOrigin { _attachedContext._origin(for: self) }
}

/// An instance that performs lookups: a context, or an object's attachment. For the library only.
@_documentation(visibility: internal)
public protocol UDIFinder: AnyObject {
  // The first two are called by each `link` and `require` without arguments. Their parameters are not bundled: a struct
  // that held the context would retain it, which costs a hit ("link" in `Benchmarks/instructions`) 177 instructions.

  /// Looks up a dependency. For the library only.
  func _find(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, at site: UDICallSite,
    for asker: AnyObject, into memory: UnsafeMutableRawPointer)
  /// Looks up a dependency, and throws if there is none. For the library only.
  func _findOrThrow(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName?, search: UDISearch?, at site: UDICallSite,
    for asker: AnyObject, into memory: UnsafeMutableRawPointer) throws
  /// Returns the place where all other lookups begin. For the library only.
  func _origin(for asker: AnyObject) -> UDIOrigin
}

/// The place where a lookup begins that `UDIFinder` does not perform. For the library only.
@_documentation(visibility: internal)
public enum UDIOrigin {
  /// A context.
  case context(UDIContext)
  /// An object's attachment, and the object.
  case object(UDIAttachment, AnyObject)

  // MARK: - The context

  /// The context where the lookup begins: see `UDIAttachment.context(for:isRequired:_:of:)`.
  func context(for verb: String, isRequired: Bool?, _ request: LookupRequest) throws -> UDIContext? {
    switch self {
    case .context(let context): context
    case .object(let attachment, let owner):
      try attachment.context(for: verb, isRequired: isRequired, request, of: owner)
    }
  }

  /// Does the same for a verb that throws.
  @inline(never)
  func context(requiredFor verb: String, _ request: LookupRequest) throws -> UDIContext {
    try context(for: verb, isRequired: true, request)!
  }

  /// Returns the error to throw for a failed lookup: the given one, with the object that asked, if an object did. If
  /// the object is attached to no context, and nothing is registered, the error gives the missing attachment as the
  /// cause.
  @inline(never)
  func seen(_ error: any Error, at site: UDICallSite) -> any Error {
    guard case .object(let attachment, let owner) = self, var error = error as? UDILinkError else { return error }
    // If the chain has more than one step, it was a factory that asked. The factory's lookup began in the factory's
    // context, so the attachment is not the cause.
    if attachment.state == (nil, false), error.chain.count == 1 {
      error.explanation = error.explanation.blaming(unattached: type(of: owner))
    }
    return error.seen(by: owner, at: site)
  }
}
