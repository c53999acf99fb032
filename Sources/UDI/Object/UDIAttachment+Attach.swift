import Synchronization

/// Attaching an object to a context, and keeping track of the contexts that own the object.
///
/// An object that a context owns must not hold that context or one above it strongly. Otherwise the object and the
/// context would keep each other alive.
extension UDIAttachment {
  /// Attaches the object to the given context, or to none, and withdraws the bindings that the object has made so far.
  /// Called under the tree lock.
  ///
  /// - Parameters:
  ///   - object: The object that this attachment belongs to.
  ///   - context: The context to attach to. Nil detaches the object. Bindings made by `multiBind` stay, unless this is
  ///     nil, or a context that has ended or is being closed.
  ///   - site: The call, or the registration, that attaches the object, if known.
  func attach(_ object: AnyObject, to context: UDIContext?, at site: UDICallSite?, _ garbage: inout Garbage) {
    if AuditNotice.isOn, let context {
      if let present = self.context { AuditNotice.note(object, isNew: false, in: present, attachment: self, &garbage) }
      AuditNotice.note(object, isNew: true, in: context, attachment: self, at: site, &garbage)
    }
    if isRecording { context?.withNode { $0.recordLookups() } }
    // The node that bindings made by `multiBind` end with from now on; nil if they end now.
    let end = context?.withNode { $0.treeLocked.state.isEnding ? nil : $0 }
    for binding in bindings {
      if binding.isMulti, let end { binding.detailed?.end(with: end) } else { binding.withdraw(&garbage) }
    }
    store(context, &garbage)
    if unsafe followers != nil { stopFollowing() }
    unsafe attachSite = site
    unsafe comesFromLook = Tree.isLooking
    attachments.add(1, ordering: .relaxed)
  }

  /// Stops everything that follows dependencies for the object. Called under the tree lock.
  func stopFollowing() { Node.stop(unsafe followers.take() ?? []) }

  /// Records that a context owns the object. From then on, the object does not strongly hold that context or one above
  /// it, wherever these are moved. Called under the tree lock.
  func setOwner(_ context: UDIContext, _ garbage: inout Garbage) {
    let alive = liveOwners(&garbage)
    let all = alive.contains(context) ? alive : alive + [context]
    lock.withLock { unsafe owners = all.map { Owner(context: $0) } }
    storeAgain(&garbage)
  }

  /// The contexts that own the object. The garbage keeps them alive: they were loaded from weak references, and the
  /// loaded references might have become the last ones.
  private func liveOwners(_ garbage: inout Garbage) -> [UDIContext] {
    let alive = lock.withLock { unsafe owners.compactMap(\.context) }
    for owner in alive { garbage.add(owner, .anywhere) }
    return alive
  }

  /// Stores the context to which the object is attached: weakly if this context owns the object or is above a context
  /// that owns the object, and otherwise strongly. Called under the tree lock.
  private func store(_ context: UDIContext?, _ garbage: inout Garbage) {
    let owners = liveOwners(&garbage)
    let node = context?.withNode { $0 }
    let leadsToOwner = node.map { node in owners.contains { $0.withNode { $0.andAncestors.contains(node) } } } ?? false
    noteHolding(!owners.isEmpty && context != nil && !leadsToOwner)
    let old = lock.withLock {
      if let node { unsafe storedSearch = node.shared.search }
      unsafe attachedNode = leadsToOwner ? nil : node
      unsafe attachedWeakly = leadsToOwner ? context : nil
      unsafe isWeak = leadsToOwner
      return unsafe exchange(&attached, with: leadsToOwner ? nil : context)
    }
    if let old { garbage.add(old) }
  }

  /// The attachments, by their addresses, of objects that are owned by a context and strongly hold a context. Such an
  /// object was attached, by its factory or later, to a context that is neither its owner nor above its owner; this is
  /// rare. An attachment that is released removes itself from this table. Until then, it is held weakly, because it may
  /// be released on another thread while this one reads it. Guarded by the tree lock.
  // The tree lock excludes overlapping accesses, so they are not checked.
  @exclusivity(unchecked) private nonisolated(unsafe) static var holding = ObjectTable<WeakEntry>()

  /// Adds the attachment to the table, or removes it, depending on whether its object is owned and strongly holds a
  /// context. Called under the tree lock.
  func noteHolding(_ holds: Bool) {
    if unsafe !holds && Self.holding.isEmpty { return }
    let form = StoredForm(address: Unretained(self).address, words: (0, 0), wordCount: 0)
    unsafe Self.holding[UInt64(form.address)] = holds ? WeakEntry(form) : nil
  }

  /// Called under the tree lock, after a context was moved. For each owned object whose context is now its owner or
  /// above its owner, stores the context weakly. Otherwise the object and the owner would keep each other alive for
  /// ever.
  static func breakCircles(_ garbage: inout Garbage) {
    for attachment in unsafe holding.values.compactMap(\.object) {
      unsafe unsafeDowncast(attachment, to: UDIAttachment.self).storeAgain(&garbage)
      garbage.add(attachment, .anywhere)
    }
  }

  /// Stores the attached context again: weakly if it is now the object's owner or above the owner. Called under the
  /// tree lock.
  private func storeAgain(_ garbage: inout Garbage) {
    guard let present = lock.withLock({ unsafe attached }) else { return }
    store(present, &garbage)
    garbage.add(present)
  }
}
