import Synchronization

/// Attaching what was made, if it takes part in the tree.
extension Provider {
  /// Whether an object's class is known to take no part in the tree.
  @inline(__always)
  final func isPlain(_ form: StoredForm) -> Bool {
    plainClass.load(ordering: .relaxed).isClass(of: form.borrowed)
  }

  /// Attaches what was made to the context that its factory got, if it takes part in the tree. The attachment is weak
  /// if the context owns the instance.
  final func attach(_ instance: Instance, to context: UDIContext, isOwned: Bool) {
    guard !instance.isBox, instance.form.address == 0 || !isPlain(instance.form) else { return }
    attach(instance.object, to: context, isOwned: isOwned)
  }

  final func attach(_ object: AnyObject, to context: UDIContext, isOwned: Bool) {
    guard let member = member(object, for: context) else { return }
    let attachment = member._attachedContext
    let isNew = Tree.change { garbage in
      attachment.attach(providedBy: self, object, to: context, isOwned: isOwned, &garbage)
    }
    if isNew { member.didAttachContext() }
  }

  /// The object as one to attach to a context, if it takes part in the tree and can be attached here.
  final func member(_ object: AnyObject, for context: UDIContext) -> (any UDIObject)? {
    guard UDIAttachment.areInUse else {
      notePlainClass(of: object)
      return nil
    }
    let identity = TypeToken.of(type(of: object)).identity
    if identity.read({ $0.membership }) == .plain {
      notePlainClass(of: object)
      return nil
    }
    // The reference is checked first: if a class does not conform, this looks through the program's conformances once,
    // and a cast of an `Any` does so three times.
    guard object is any UDIObject else {
      identity.read { $0.membership = .plain }
      notePlainClass(of: object)
      return nil
    }
    // The cast of an `Any` also checks whether the conformance can be used here: one that is isolated to the main actor
    // cannot be used elsewhere.
    if let member = (object as Any) as? any UDIObject { return member }
    reportUnattached(object, to: context)
    return nil
  }

  /// Reports that an object takes part in the tree but cannot be attached here. It would not help to attach it later on
  /// its actor, because whoever gets it now would get it unattached.
  private final func reportUnattached(_ object: AnyObject, to context: UDIContext) {
    let name = TypeIdentity.of(type(of: object)).text
    let path = context.change { node, _ in node.fullPath }
    UDIReporter.current.report(
      .notAttached,
      """
      The \(name) that was made for \(key) is not attached to "\(describePath(path))". Its conformance to UDIObject \
      belongs to an actor, usually the main actor, and it was made elsewhere. Make or provide it on that actor: \
      register a closure that belongs to it.
      """, at: site)
  }

  /// Records that the class of what it made takes no part in the tree.
  private final func notePlainClass(of object: AnyObject) {
    let isInFirstWord = TypeToken.of(madeType).holdsReferences
    // Sequentially consistent, as is the outcome that `forgetFailure` reads next: see `note`.
    plainClass.store(PlainClass(of: object, isInFirstWord: isInFirstWord), ordering: .sequentiallyConsistent)
  }
}
