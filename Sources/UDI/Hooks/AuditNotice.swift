package import Synchronization

/// What leak audits are told about an object or a context. Audits are in `UDITesting`; while none is running, checking
/// `isOn` is all that the library does for them.
///
/// Notices are sent and received under the tree lock, so a receiver must not run user code or release an object.
package struct AuditNotice {
  package enum Kind {
    /// An object is being bound, or a provider keeps it from now on.
    case registered
    /// An object is about to be attached to the context.
    case attached
    /// An object is attached to the context, or bound in it.
    case present
    /// A context has been made.
    case made
    /// A context has a new parent, or a new place among its siblings.
    case moved
    /// The object is an instance that a provider keeps strongly.
    case owned
    /// The object is a provider. It might be an alias, which has no factory.
    case provider(isAlias: Bool)
    /// The object is a provider's closer, which holds a user's closure.
    case closer
    /// The object is the user's storage of a provider, an `any UDIStorage`.
    case storage
  }

  package let kind: Kind
  package let object: AnyObject
  /// The node of the context that the notice is about.
  package let node: Node
  /// The context; nil if it is going away, and in what `forEachBound` and `forEachHeld` list.
  package let context: UDIContext?
  /// Where the object may be released. If it was only attached, this is not known, so the main actor is assumed.
  package var reach = UDIReach.mainActor
  package var attachment: UDIAttachment?
  /// The key of the binding or of the provider.
  package var key: KeyIdentity?
  /// The call that has bound or attached the object, or has registered the provider.
  package var site: UDICallSite?

  /// The number of running audits.
  package static let audits = Atomic<Int>(0)
  @inline(__always)
  static var isOn: Bool { audits.load(ordering: .relaxed) > 0 }

  /// Passes a notice on to the audits. Guarded by the tree lock.
  package nonisolated(unsafe) static var receive: (AuditNotice, inout Garbage) -> Void = { _, _ in }

  /// Sends the notice.
  private func send(_ garbage: inout Garbage) {
    // Otherwise, `node.context` might be nil when something is bound there next.
    if let context { node.remember(context) }
    unsafe Self.receive(self, &garbage)
  }
}

// MARK: - What happens

extension AuditNotice {
  /// Sends a notice of an object that is being bound, or that a provider keeps from now on.
  @inline(never)
  static func note(_ object: AnyObject?, as entry: Entry, in node: Node, _ garbage: inout Garbage) {
    guard let object else { return }
    let context = node.context
    AuditNotice(.registered, object, as: entry, in: node, context: context).send(&garbage)
    if let context { garbage.add(context) }
    garbage.add(object, of: entry)
  }

  /// Sends a notice of the context that an object is attached to, and one of the context that it is about to be
  /// attached to, if there are such contexts. A context does not know which objects are attached to it, so this is done
  /// whenever an object binds itself or is attached.
  @inline(never)
  static func note(
    _ object: AnyObject, _ attachment: UDIAttachment, attachingTo new: UDIContext? = nil, at site: UDICallSite?,
    _ garbage: inout Garbage
  ) {
    func send(_ kind: Kind, _ context: UDIContext, at site: UDICallSite?) {
      let node = context.withNode { $0 }
      AuditNotice(kind: kind, object: object, node: node, context: context, attachment: attachment, site: site)
        .send(&garbage)
    }
    if let present = attachment.context {
      send(.present, present, at: nil)
      garbage.add(present)
    }
    if let new { send(.attached, new, at: site) }
  }

  /// Sends a notice of a context that has been made or moved.
  @inline(never)
  static func note(_ kind: Kind, _ context: UDIContext, node: Node, _ garbage: inout Garbage) {
    AuditNotice(kind: kind, object: context, node: node, context: context, reach: .anywhere).send(&garbage)
  }

  fileprivate init(_ kind: Kind, _ object: AnyObject, as entry: Entry, in node: Node, context: UDIContext?) {
    self.init(
      kind: kind, object: object, node: node, context: context, reach: entry.reach, key: entry.key, site: entry.site)
  }
}

// MARK: - What is there. Called under the tree lock

extension Node {
  /// This node and the nodes below it, breadth-first.
  package var branch: [Node] { BreadthFirst(self).map(\.node) }

  /// Calls `body` with a notice of each live object that is bound here.
  package func forEachBound(_ garbage: inout Garbage, _ body: (AuditNotice) -> Void) {
    treeLocked.bindings.forEachEntry { entry in
      guard let object = entry.binding.liveObject(&garbage) else { return }
      body(AuditNotice(.present, object, as: entry.binding, in: self, context: nil))
    }
  }

  /// Calls `body` with a notice of each provider of the context, and of each instance, closer and storage that the
  /// provider holds.
  package func forEachHeld(_ body: (AuditNotice) -> Void) {
    var providers: [Provider] = []
    treeLocked.providers.forEach { providers.append($0.provider) }
    for provider in providers.inOrder(of: { UInt64($0.serial) }) {
      func pass(_ kind: AuditNotice.Kind, _ object: AnyObject) {
        body(AuditNotice(kind, object, as: provider, in: self, context: nil))
      }
      provider.forEachOwned { pass(.owned, $0) }
      pass(.provider(isAlias: provider is Alias), provider)
      if let closer = provider.closer { pass(.closer, closer) }
      for storage in provider.storages { pass(.storage, storage) }
    }
  }
}
