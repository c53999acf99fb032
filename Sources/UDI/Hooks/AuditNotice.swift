package import Synchronization

/// What leak audits are told about an object or a context. Audits are in `UDITesting`; while none is running, checking
/// `isOn` is all that the library does for them.
///
/// Notices are sent and received under the tree lock, so a receiver must not run user code or release an object.
package struct AuditNotice {
  package enum Kind {
    /// An object is being bound, a provider keeps it from now on, or it is about to be attached to the context.
    case added
    /// An object is attached to the context, or bound in it.
    case present
    /// A context has been made.
    case made
    /// A context has a new parent, or a new place among its siblings.
    case moved
    /// The object is an instance that a provider keeps strongly.
    case owned
    /// The object is a provider with a factory.
    case provider
    /// The object is an alias of a provider.
    case alias
    /// The object is a provider's closer, which holds a user's closure.
    case closer
    /// The object is the user's storage of a provider, an `any UDIStorage`.
    case storage
  }

  package let kind: Kind
  package let object: AnyObject
  /// The node of the context that the notice is about.
  package let node: Node
  /// The context; nil if it is going away, and in what `Node.contents` lists.
  package let context: UDIContext?
  /// Where the object may be released. If it was only attached, this is not known, so the main actor is assumed.
  package var reach = UDIReach.mainActor
  package var attachment: UDIAttachment?
  /// The binding or the provider; nil if the object was attached.
  package var entry: UDIEntry?
  /// The call that has attached the object.
  package var site: UDICallSite?

  /// The number of running audits.
  package static let audits = Atomic<Int>(0)
  @inline(__always)
  static var isOn: Bool { audits.load(ordering: .relaxed) > 0 }

  /// Passes a notice on to the audits. Guarded by the tree lock.
  package nonisolated(unsafe) static var receive: (AuditNotice, inout Garbage) -> Void = { _, _ in }

  /// Sends the notice.
  private func send(_ garbage: inout Garbage) {
    unsafe Self.receive(self, &garbage)
    guard let context else { return }
    // Otherwise, `node.context` might be nil when something is bound there next.
    node.remember(context)
    garbage.add(context)
  }
}

// MARK: - What happens

extension AuditNotice {
  /// Sends a notice of an object that is being bound, or that a provider keeps from now on.
  @inline(never)
  static func note(_ object: AnyObject?, as entry: Entry, in node: Node, _ garbage: inout Garbage) {
    guard let object else { return }
    AuditNotice(.added, object, as: entry, in: node, context: node.context, &garbage).send(&garbage)
    garbage.add(object, of: entry)
  }

  /// Sends a notice of the context that an object is attached to, and one of the context that it is about to be
  /// attached to, if there are such contexts. A context does not know which objects are attached to it, so this is done
  /// whenever an object binds itself or is attached.
  static func note(
    _ object: AnyObject, _ attachment: UDIAttachment, attachingTo new: UDIContext? = nil, at site: UDICallSite?,
    _ garbage: inout Garbage
  ) {
    if let present = attachment.context { note(.present, object, in: present, attachment: attachment, &garbage) }
    if let new { note(.added, object, in: new, attachment: attachment, at: site, &garbage) }
  }

  /// Sends a notice of an object and a context, or of a context that has been made or moved.
  @inline(never)
  static func note(
    _ kind: Kind, _ object: AnyObject, in context: UDIContext, attachment: UDIAttachment? = nil,
    at site: UDICallSite? = nil, _ garbage: inout Garbage
  ) {
    let node = context.withNode { $0 }
    AuditNotice(kind: kind, object: object, node: node, context: context, attachment: attachment, site: site)
      .send(&garbage)
  }

  fileprivate init(
    _ kind: Kind, _ object: AnyObject, as entry: Entry, in node: Node, context: UDIContext?, _ garbage: inout Garbage
  ) {
    let registered = Sighting(entry.registeredEntry ?? entry, &garbage).entry.timeless
    self.init(kind: kind, object: object, node: node, context: context, reach: entry.reach, entry: registered)
  }
}

// MARK: - What is there. Called under the tree lock

extension Node {
  /// This node and the nodes below it, breadth-first.
  package var branch: [Node] { BreadthFirst(self).map(\.node) }

  /// A notice of each live object that is bound here, of each provider, and of what each provider holds: instances, its
  /// closer, and its storages. The garbage keeps the bound objects alive.
  package func contents(_ garbage: inout Garbage) -> [AuditNotice] {
    var contents: [AuditNotice] = []
    for entry in allEntries {
      func add(_ kind: AuditNotice.Kind, _ object: AnyObject) {
        contents.append(AuditNotice(kind, object, as: entry, in: self, context: nil, &garbage))
      }
      if entry is Binding, let object = entry.liveObject(&garbage) { add(.present, object) }
      guard let provider = entry as? Provider else { continue }
      provider.forEachOwned { add(.owned, $0) }
      add(provider is Alias ? .alias : .provider, provider)
      if let closer = provider.closer { add(.closer, closer) }
      for storage in provider.storages { add(.storage, storage) }
    }
    return contents
  }
}
