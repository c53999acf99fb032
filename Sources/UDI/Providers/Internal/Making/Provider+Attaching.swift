/// How a provider attaches an instance that takes part in the tree.
extension Provider {
  /// If a new instance takes part in the tree and is not attached yet, attaches it to the context that its factory was
  /// given. If the context owns the instance, the attachment does not hold the context.
  ///
  /// - Returns: The attachment, if the instance has been attached and requires something, which has not been looked up
  ///   yet.
  final func attach(_ object: AnyObject, to context: UDIContext, isOwned: Bool) -> UDIAttachment? {
    guard let member = member(object, for: context) else { return nil }
    let attachment = member._attachedContext
    let isNew = Tree.change { attachment.attach(providedBy: self, object, to: context, isOwned: isOwned, &$0) }
    guard isNew else { return nil }
    member.didAttachContext()
    return Node.hasRequired(object) ? attachment : nil
  }

  /// The object as a `UDIObject`, if it takes part in the tree and can be attached on this thread; otherwise nil. If it
  /// takes part in the tree, but cannot be attached here, reports that.
  final func member(_ object: AnyObject, for context: UDIContext) -> (any UDIObject)? {
    guard UDIAttachment.exists(for: object) else { return nil }
    // The cast of an `Any` checks whether the conformance may be used on this thread: a conformance that is isolated to
    // the main actor may be used only there.
    if let member = (object as Any) as? any UDIObject { return member }
    // Attaching it later, on its actor, would not help: the caller that links it now would already use it unattached.
    let name = describeType(type(of: object))
    UDIReporter.current.report(
      .notAttached,
      """
      The \(name) that was made for \(key) is not attached to "\(describePath(context.fullPath))". Its conformance to \
      UDIObject belongs to an actor, usually the main actor, and the object was made elsewhere. Make or provide it on \
      that actor: register a closure that belongs to the actor.
      """, at: site)
    return nil
  }
}

extension UDIAttachment {
  /// Attaches an object that a provider has made, or that `provide` was given, unless the object is already attached to
  /// a context. Called under the tree lock.
  ///
  /// - Parameter isOwned: Whether the context owns the object. If so, this is recorded even if the object is already
  ///   attached.
  /// - Returns: True if the call attached the object. The caller must then call `didAttachContext`, after releasing the
  ///   tree lock.
  func attach(
    providedBy provider: Provider, _ object: AnyObject, to context: UDIContext, isOwned: Bool, _ garbage: inout Garbage
  ) -> Bool {
    let present = self.context
    if let present { garbage.add(present) } else { remember(owner: object) }
    if isOwned { setOwner(context, &garbage) }
    if provider.sharing == .weak { unsafe weakKeeper = provider }
    if present == nil { attach(object, to: context, at: provider.site, &garbage) }
    return present == nil
  }
}
