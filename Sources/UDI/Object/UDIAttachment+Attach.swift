import Synchronization

/// Attaching an object, and which contexts own it.
///
/// An object that a context owns must hold neither that context nor one above it: the object and the context would keep
/// each other alive.
extension UDIAttachment {
  /// Attaches an object that a provider has made or was given, unless it is already attached to a context. Called under
  /// the tree lock.
  ///
  /// - Parameter isOwned: Whether the context owns the object.
  /// - Returns: Whether this has attached the object, so that the caller has to call `didAttachContext`.
  func attach(
    providedBy provider: Provider, _ object: AnyObject, to context: UDIContext, isOwned: Bool, _ garbage: inout Garbage
  ) -> Bool {
    let present = self.context
    if let present {
      garbage.add(present)
    } else {
      remember(owner: Unretained(object).address)
    }
    if isOwned { setOwner(context, &garbage) }
    if present != nil { return false }
    attach(object, to: context, at: provider.site, &garbage)
    return true
  }

  /// Attaches the object to another context, or to none, and withdraws what the object has bound so far.
  ///
  /// - Parameters:
  ///   - object: The object whose attachment this is.
  ///   - context: The context to attach to. Nil detaches the object, and also withdraws the bindings made by
  ///     `multiBind`, which stay otherwise.
  ///   - site: The call, or the registration, that led to this, if known.
  func attach(_ object: AnyObject, to context: UDIContext?, at site: CallSite? = nil) {
    Tree.change { garbage in attach(object, to: context, at: site, &garbage) }
  }

  /// Does the same; called under the tree lock.
  private func attach(_ object: AnyObject, to context: UDIContext?, at site: CallSite?, _ garbage: inout Garbage) {
    if BindingAudit.isOn, let context { BindingAudit.noteAttachment(object, self, to: context, site, &garbage) }
    withdraw(where: { context == nil || !$0.isMulti }, &garbage)
    store(context, &garbage)
    unsafe comesFromLook = Tree.isLooking
    attachments.add(1, ordering: .relaxed)
  }

  /// Records that a context owns the object. From then on, the object holds neither that context nor a context above
  /// it, wherever these are moved. Called under the tree lock.
  private func setOwner(_ context: UDIContext, _ garbage: inout Garbage) {
    let alive = lock.withLock { unsafe owners.compactMap(\.context) }
    Schedule.reached(.loadedToLook)
    let all = alive.contains(context) ? alive : alive + [context]
    lock.withLock { unsafe owners = all.map { Owner(context: $0) } }
    // These were loaded from weak references, so by now they might be the last references.
    for owner in alive { garbage.add(owner) }
    storeAgain(&garbage)
  }

  /// Stores the context, weakly if it leads to a context that owns the object. Called under the tree lock.
  private func store(_ context: UDIContext?, _ garbage: inout Garbage) {
    var leadsToOwner = false
    var isOwned = false
    for owner in lock.withLock({ unsafe owners.compactMap(\.context) }) {
      isOwned = true
      if context?.leads(to: owner) ?? false { leadsToOwner = true }
      Schedule.reached(.loadedToLook)
      garbage.add(owner)
    }
    noteHolding(isOwned && context != nil && !leadsToOwner)
    let search = context?.withNode { $0.shared.search }
    let old = lock.withLock {
      if let search { unsafe storedSearch = search }
      let old = unsafe attached
      unsafe attached = leadsToOwner ? nil : context
      unsafe attachedNode = attached?.withNode { $0 }
      unsafe attachedWeakly = leadsToOwner ? context : nil
      unsafe isWeak = leadsToOwner
      return old
    }
    if let old { garbage.add(old) }
  }

  /// Guarded by the tree lock: the attachments of owned objects that hold a context. Such an object was attached, by
  /// its factory or later, to a context that does not lead to its owner; few programs have such objects. An attachment
  /// that dies removes itself.
  // Attaching an object always looks at this table. With a check for overlapping accesses, it would take 8 % more
  // instructions.
  @exclusivity(unchecked) private nonisolated(unsafe) static var holding = CompactTable<Unretained<UDIAttachment>>()

  /// Records whether the object is owned and holds a context. Called under the tree lock.
  func noteHolding(_ holds: Bool) {
    let me = Unretained(self)
    if holds {
      if unsafe Self.holding.find(me) == nil { unsafe Self.holding.insert(me) }
    } else if unsafe !Self.holding.isEmpty {
      unsafe Self.holding.remove(me)
    }
  }

  /// Makes each owned object release its context if the context now leads to the object's owner: otherwise the object
  /// would be kept alive for ever. Called under the tree lock, after a context was moved.
  static func breakCircles(_ garbage: inout Garbage) {
    if unsafe holding.isEmpty { return }
    var all: [Unretained<UDIAttachment>] = []
    unsafe holding.forEach { all.append($0) }
    for attachment in all { attachment.read { $0.storeAgain(&garbage) } }
  }

  /// Makes the object hold its context weakly if the context now leads to the object's owner. Called under the tree
  /// lock.
  private func storeAgain(_ garbage: inout Garbage) {
    guard let present = lock.withLock({ unsafe attached }) else { return }
    store(present, &garbage)
    garbage.add(present)
  }
}

extension UDIContext {
  /// Whether this context is the other one or above it. Called under the tree lock.
  fileprivate func leads(to other: UDIContext) -> Bool {
    withNode { node in other.withNode { $0.andAncestors.contains(node) } }
  }
}
