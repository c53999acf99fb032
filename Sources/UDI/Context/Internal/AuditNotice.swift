package import Synchronization

/// A notice for leak audits that something happens to an object or a context. Audits are in `UDITesting`; while none is
/// running, checking `isOn` is all that the library does for them.
///
/// Notices are sent and received under the tree lock, so a receiver must not run user code or release an object.
package struct AuditNotice {
  /// An object that takes part in the tree, or a context.
  package let object: AnyObject
  /// Whether the object is being bound, is kept by a provider from now on, is about to be attached to the context, or
  /// is a context that has been made. Otherwise, it was attached to the context or bound there before, or it is a
  /// context that has been moved.
  package let isNew: Bool
  /// The node of the context that the notice is about.
  package let node: Node
  /// The context; nil if it is going away.
  package let context: UDIContext?
  /// Where the object may be released. If it was only attached, this is not known, so the main actor is assumed.
  package var reach = UDIReach.mainActor
  package var attachment: UDIAttachment?
  /// The binding or the provider; nil if the object was attached.
  package var entry: UDIEntry?
  /// The call that has attached the object.
  package var site: UDICallSite?

  /// Twice the number of running audits, plus 1 if there is something in `entered`.
  package static let listeners = Atomic<Int>(0)
  static var isOn: Bool { listeners.load(ordering: .relaxed) > 1 }
  /// Whether `noteEntering` has something to do.
  static var isEnteringNoted: Bool { listeners.load(ordering: .relaxed) > 0 }

  /// Passes a notice on to the audits. Guarded by the tree lock.
  package nonisolated(unsafe) static var receive: (AuditNotice, inout Garbage) -> Void = { _, _ in }

  /// Notified of each entry that a context gets, before lookups find it, and of the context. Guarded by the tree lock.
  package nonisolated(unsafe) static var entered: (Entry, Node, inout Garbage) -> Void = { _, _, _ in }

  /// Sends the notice.
  private func send(_ garbage: inout Garbage) {
    unsafe Self.receive(self, &garbage)
    guard let context else { return }
    // Otherwise, `node.context` might be nil when something is bound there next.
    node.remember(context)
    garbage.add(context)
  }

  // MARK: - What happens

  /// Sends a notice of an object that is being bound, or that a provider keeps from now on.
  @inline(never)
  static func note(_ object: AnyObject?, as entry: Entry, in node: Node, _ garbage: inout Garbage) {
    guard let object else { return }
    AuditNotice(
      object: object, isNew: true, node: node, context: node.context, reach: entry.reach,
      entry: Node.description(of: entry, &garbage)
    ).send(&garbage)
    garbage.add(object, entry.reach)
  }

  /// Sends a notice of a binding, or of a provider that keeps something from the start, and tells `entered`. Called
  /// before lookups find the entry.
  static func noteEntering(_ entry: Entry, _ node: Node, _ garbage: inout Garbage) {
    if isOn, entry.kind == .binding { note(entry.object, as: entry, in: node, &garbage) }
    if isOn, let kept = entry.current as? InstanceEntry, kept.kind == .owned {
      note(kept.owned, as: kept, in: node, &garbage)
    }
    unsafe entered(entry, node, &garbage)
  }

  /// Sends a notice of an object and the context that it is attached to, or is about to be attached to; or of a context
  /// that has been made or moved. A context does not know which objects are attached to it, so a notice is sent
  /// whenever an object binds itself or is attached.
  @inline(never)
  static func note(
    _ object: AnyObject, isNew: Bool, in context: UDIContext, attachment: UDIAttachment? = nil,
    at site: UDICallSite? = nil, _ garbage: inout Garbage
  ) {
    let node = context.withNode { $0 }
    AuditNotice(object: object, isNew: isNew, node: node, context: context, attachment: attachment, site: site)
      .send(&garbage)
  }
}
