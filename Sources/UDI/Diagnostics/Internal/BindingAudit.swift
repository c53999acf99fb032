import Synchronization

/// Records what is registered, attached and made during an operation, to find out afterwards what has outlived it.
/// `UDITesting` uses this to find leaks.
///
/// An audit records objects that are bound, attached, or owned by a context, and contexts that are made. It does so for
/// the tree that it watches, and, in any tree, for the operation's task and the tasks that this one starts. It holds
/// none of these objects.
package final class BindingAudit: Sendable {
  /// One object or one context, and what is known about it.
  package struct Subject {
    let id: ObjectIdentifier
    package let objectType: Any.Type
    package weak let object: AnyObject?
    /// The subject's position in the order in which the subjects became known.
    let serial: Int
    /// Where the object may be released. The reach of an object that is only attached is unknown; then it counts as the
    /// main actor.
    var reach = Reach.mainActor
    /// The object's attachment, if it was attached.
    weak var attachment: UDIAttachment?
    /// The tags from the root to a context, as of the last time it was added to a parent; nil for any other object.
    package var contextPath: [String]?
    /// The registrations and attachments of an object, in order.
    package var notes: [Note] = []
    /// The providers in a context and below it, one of which may hold the context. Collected when it is reported.
    package var providers: [Note] = []
    /// Whether the subject was in the tree before the operation began. If so, it is no leak, whatever happens to it.
    var wasThereBefore = false
    /// Whether an audit inside this one has reported the subject or was told to ignore it.
    var isSettled = false

    package func isInstance(of type: Any.Type) -> Bool { object.map { UDI.isInstance(type, $0) } ?? false }
  }

  /// One registration or attachment of an object, or the registration of a provider.
  package struct Note {
    weak let context: UDIContext?
    let contextID: ObjectIdentifier?
    /// The tags from the root to the context.
    package let path: [String]
    /// Nil for an attachment.
    let key: KeyIdentity?
    /// The call; for an object that a provider made, the provider's registration. Nil if it is not known.
    package let site: CallSite?

    package var isContextAlive: Bool { context != nil }
    /// The type that it was registered under; nil for an attachment.
    package var typeName: String? { key?.type.text }
    package var name: String? { key?.name?.description }
  }

  /// Guarded by the tree lock: the subjects by their addresses.
  nonisolated(unsafe) var subjects: [ObjectIdentifier: Subject] = [:]
  /// Guarded by the tree lock.
  private nonisolated(unsafe) var nextSerial = 0
  /// Guarded by the tree lock: the number of subjects at which the dead ones are removed next.
  private nonisolated(unsafe) var nextSweep = 64
  /// Guarded by the tree lock: the context that is watched, with all contexts below it, while the operation runs.
  private nonisolated(unsafe) var root: Node?
  /// The same context, if it existed before. Set before the operation, and read after it.
  private(set) nonisolated(unsafe) var preparedRoot: UDIContext?
  /// Otherwise the context's identity, and what is alive while tasks hold it. Set before the operation, and read after
  /// it.
  private(set) nonisolated(unsafe) var newRoot: ObjectIdentifier?
  private(set) nonisolated(unsafe) weak var rootHolder: AnyObject?
  /// The audit that this one runs inside, if any.
  let outer: BindingAudit?

  /// The audit of the task.
  @TaskLocal private static var ofTask: BindingAudit?
  /// The number of running audits. While it is zero, nothing else is checked.
  private static let count = Atomic<Int>(0)
  /// Guarded by the tree lock: the running audits.
  @exclusivity(unchecked) private nonisolated(unsafe) static var all: [BindingAudit] = []

  /// Decides which subjects are ignored.
  let isIgnored: @Sendable (Subject) -> Bool

  /// Makes an audit for this task to run.
  ///
  /// - Parameter isIgnored: Decides which objects and contexts may live on. The contexts that they are attached to, and
  ///   what those own, may then live on, too. Called while no lock is held; the object is alive.
  package init(isIgnored: @escaping @Sendable (Subject) -> Bool = { _ in false }) {
    self.isIgnored = isIgnored
    outer = Self.ofTask
  }

  /// Audits an operation.
  ///
  /// - Parameters:
  ///   - root: The context to watch, with all contexts below it. The caller keeps it alive during the operation.
  ///   - holder: If the context was made for the audit, an object that is alive while tasks hold the context; the
  ///     context must not outlive that object. Nil if the context existed before: what it already contains does not
  ///     count, and what is in its tree at the end, or owned there, may live on.
  ///   - operation: The operation.
  nonisolated(nonsending) package func watch<Result>(
    _ root: UDIContext, madeWith holder: AnyObject? = nil,
    operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    begin(root, holder)
    defer { end() }
    return try await Self.$ofTask.withValue(self) { try await operation() }
  }

  /// The same for an operation that is not asynchronous.
  package func watch<Result>(
    _ root: UDIContext, madeWith holder: AnyObject? = nil, operation: () throws -> Result
  ) rethrows -> Result {
    begin(root, holder)
    defer { end() }
    return try Self.$ofTask.withValue(self) { try operation() }
  }

  private func begin(_ context: UDIContext, _ holder: AnyObject?) {
    if holder == nil { unsafe preparedRoot = context } else { unsafe newRoot = ObjectIdentifier(context) }
    unsafe rootHolder = holder
    context.change { node, garbage in
      if holder == nil {
        notePresent(node, &garbage)
      } else {
        update(context, &garbage) { $0.notePath(of: node) }
      }
      unsafe root = node
      unsafe Self.all.append(self)
    }
    Self.count.add(1, ordering: .sequentiallyConsistent)
  }

  private func end() {
    Self.count.subtract(1, ordering: .sequentiallyConsistent)
    Tree.change { _ in
      unsafe root = nil
      unsafe Self.all.removeAll { $0 === self }
    }
  }
}

// MARK: - What happens. Everything here runs under the tree lock

extension BindingAudit {
  /// Whether any audit is running. While none is, this check is all that audits cost.
  @inline(__always)
  static var isOn: Bool { count.load(ordering: .relaxed) > 0 }

  /// Records that an object is bound, or that a context now owns it.
  @inline(__always)
  static func note(_ object: @autoclosure () -> AnyObject?, _ entry: Entry, _ node: Node, _ garbage: inout Garbage) {
    guard count.load(ordering: .relaxed) > 0, let object = object() else { return }
    noteForAll(object, entry, node, &garbage)
    garbage.add(object, of: entry)
  }

  @inline(never)
  private static func noteForAll(_ object: AnyObject, _ entry: Entry, _ node: Node, _ garbage: inout Garbage) {
    let context = node.context
    if let context { garbage.add(context) }
    update(object, at: node, &garbage) { subject in
      if entry.reach == .anywhere { subject.reach = .anywhere }
      subject.add(context, node, entry.key, entry.site)
    }
  }

  /// Records that an object is about to be attached to a context.
  @inline(never)
  static func noteAttachment(
    _ object: AnyObject, _ attachment: UDIAttachment, to context: UDIContext, _ site: CallSite?,
    _ garbage: inout Garbage
  ) {
    if let previous = attachment.context {
      previous.withNode { node in
        for audit in unsafe all where audit.watches(node) && !audit.knows(object) {
          audit.notePresent(object, &garbage)
        }
      }
      garbage.add(previous)
    }
    context.withNode { node in
      // After this, `Node.context` works for what is bound there next.
      node.remember(context)
      update(object, at: node, &garbage) { subject in
        subject.attachment = attachment
        subject.add(context, node, nil, site)
      }
    }
  }

  /// Records that a context is made.
  @inline(never)
  static func noteMade(_ context: UDIContext, _ node: Node, _ garbage: inout Garbage) {
    node.remember(context)
    update(context, at: node, &garbage) { $0.notePath(of: node) }
  }

  /// Records that a context has a new parent.
  @inline(never)
  static func noteMoved(_ context: UDIContext, _ node: Node, _ garbage: inout Garbage) {
    for audit in unsafe all where audit.knows(context) { audit.update(context, &garbage) { $0.notePath(of: node) } }
  }

  /// Updates what is known about an object, in each audit that has to record what this task does at a node.
  private static func update(
    _ object: AnyObject, at node: Node, _ garbage: inout Garbage, _ change: (inout Subject) -> Void
  ) {
    let own = ofTask
    for audit in unsafe all {
      // If two audits of one context run side by side, each in its own task, only this task's audit records it.
      let isBeside = unsafe own?.root == audit.root
      if own?.isPart(of: audit) ?? false || !isBeside && audit.watches(node) {
        audit.update(object, &garbage, change)
      }
    }
  }

  /// Whether this audit is the other one, or runs inside it.
  private func isPart(of other: BindingAudit) -> Bool { sequence(first: self, next: \.outer).contains { $0 === other } }

  /// Whether a node is the watched one or below it.
  private func watches(_ node: Node) -> Bool {
    unsafe root.map { node.andAncestors.contains($0) } ?? false
  }
}

// MARK: - What is known. Everything here runs under the tree lock

extension BindingAudit {
  /// Whether an object is known.
  ///
  /// The weak reference that is stored under the object's address refers to that very object, or is dead. The caller
  /// holds the object, so the reference loaded here is not its last one.
  private func knows(_ object: AnyObject) -> Bool { unsafe subjects[ObjectIdentifier(object)]?.object != nil }

  /// Updates what is known about an object, of which nothing may be known yet.
  private func update(_ object: AnyObject, _ garbage: inout Garbage, _ change: (inout Subject) -> Void) {
    let id = ObjectIdentifier(object)
    if !knows(object) {
      if unsafe subjects.count >= nextSweep { sweep(&garbage) }
      let new = unsafe Subject(id: id, objectType: type(of: object), object: object, serial: nextSerial)
      if let dead = unsafe subjects.updateValue(new, forKey: id) { discard(dead, &garbage) }
      unsafe nextSerial += 1
    }
    unsafe change(&subjects[id]!)
  }

  /// Records an object that was in the tree before the operation.
  private func notePresent(_ object: AnyObject, _ garbage: inout Garbage) {
    update(object, &garbage) { $0.wasThereBefore = true }
  }

  /// Records all objects that are bound or owned at a node or below it before the operation.
  private func notePresent(_ root: Node, _ garbage: inout Garbage) {
    for element in BreadthFirst(root) {
      element.node.treeLocked.bindings.forEachEntry { entry in
        guard let object = entry.object else { return }
        notePresent(object, &garbage)
        Schedule.reached(.loadedToLook)
        garbage.add(object, of: entry.binding)
      }
      element.node.forEachOwned { notePresent($0, &garbage) }
    }
  }

  /// Removes the subjects that have died.
  private func sweep(_ garbage: inout Garbage) {
    unsafe subjects = subjects.filter { _, subject in
      guard let object = subject.object else {
        discard(subject, &garbage)
        return false
      }
      // This may be the last reference now, so it must not be released under the lock.
      Schedule.reached(.loadedToLook)
      garbage.add(object, subject.reach)
      return true
    }
    unsafe nextSweep = max(64, subjects.count * 2)
  }

  /// Releases a dead subject's keys after the lock has been given back: releasing the last reference to a key runs the
  /// `deinit` of its name.
  private func discard(_ subject: Subject, _ garbage: inout Garbage) {
    for case let key? in subject.notes.map(\.key) { garbage.add(key) }
  }

  /// Records objects that an audit inside this one has reported or was told to ignore. Do not call this while holding a
  /// lock.
  func settle(_ objects: [AnyObject]) {
    Tree.change { _ in
      for object in objects where knows(object) { unsafe subjects[ObjectIdentifier(object)]?.isSettled = true }
    }
  }
}

extension BindingAudit.Subject {
  /// Records where a context is.
  fileprivate mutating func notePath(of node: Node) {
    contextPath = node.fullPath
    reach = .anywhere
  }

  /// Adds a note, unless it is there: an object that is bound again and again is recorded only once.
  fileprivate mutating func add(_ context: UDIContext?, _ node: Node, _ key: KeyIdentity?, _ site: CallSite?) {
    if wasThereBefore { return }
    let id = context.map { ObjectIdentifier($0) }
    // For the weak reference that is loaded here, see `knows`.
    let isRepeated = notes.suffix(4).contains {
      id != nil && $0.contextID == id && $0.key === key && $0.isContextAlive
    }
    if isRepeated { return }
    notes.append(BindingAudit.Note(context: context, contextID: id, path: node.fullPath, key: key, site: site))
  }
}
