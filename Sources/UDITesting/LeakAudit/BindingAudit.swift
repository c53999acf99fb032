import Synchronization
package import UDI

/// Records the objects that are registered or attached, and the contexts that are made, during an operation, to find
/// out afterwards which of them have outlived it. `UDITesting` uses this to find leaks.
///
/// An audit records objects that are bound, attached or owned by a context, and contexts that are made. In the tree
/// that it watches, it records what all tasks do. In other trees, it records only what the operation's task and the
/// tasks that it starts do. An audit keeps none of these objects alive.
package final class BindingAudit: Sendable {
  /// An object or a context, and everything that the audit knows about it.
  package struct Subject {
    let id: ObjectIdentifier
    package let objectType: Any.Type
    package weak let object: AnyObject?
    /// The subject's number, in the order in which the audit learnt of its subjects.
    let serial: Int
    /// Where the object can be released. If the object was only attached, this is not known, so the main actor is
    /// assumed.
    var reach = UDIReach.mainActor
    /// The object's attachment, if it was attached and the attachment still exists.
    fileprivate(set) weak var attachment: UDIAttachment?
    /// Whether `attachment` has been set.
    fileprivate(set) var wasAttached = false
    /// If the subject is a context, the tags from the root to it, at the time when it was made or last got a parent.
    /// Nil for any other object.
    package var fullPath: [String]?
    /// The registrations and attachments of an object, in order.
    package var notes: [Note] = []
    /// If the subject is a context, the providers in this context and below, one of which might hold the context. They
    /// are collected only when the subject is reported.
    package var providers: [UDIExplanation.Place] = []
    /// Whether the subject was in the tree before the operation began. Such a subject is never reported as a leak.
    var wasThereBefore = false
    /// Whether an audit inside this one has reported or ignored the subject.
    var isSettled = false
    /// Whether tasks that the operation has started have not ended when the subject is reported. They hold the context
    /// that was made for the audit.
    var areTasksRunning = false
    /// Whether this is that context.
    var isHeldByTasks = false

    /// Whether the object is alive.
    ///
    /// A reference to an object that might not be `Sendable` has to be released on the main actor. If the main actor is
    /// busy, the object lives until then, and an audit would find what only an audit holds. So if there is an
    /// attachment, that is checked instead: only the object holds it, and it can be released anywhere.
    ///
    /// - Parameter loaded: Gets what was loaded to find out, which must not be released under the lock.
    func isAlive(_ loaded: inout Garbage) -> Bool {
      if reach == .mainActor, wasAttached {
        guard let attachment else { return false }
        loaded.add(attachment)
        return true
      }
      return load(into: &loaded)
    }

    /// Keeps the object alive until the garbage is released. This reference may then be the last one.
    ///
    /// - Returns: Whether the object is alive.
    func load(into loaded: inout Garbage) -> Bool {
      guard let object else { return false }
      loaded.add(object, reach)
      return true
    }
  }

  /// A registration or attachment of an object.
  package struct Note {
    weak let context: UDIContext?
    let contextID: ObjectIdentifier?
    /// The tags from the root to the context.
    package let path: [String]
    /// The registration, or that of the provider that made the object; nil for an attachment.
    package let entry: UDIEntry?
    /// The call that made the attachment. For an object that a provider made, the call that registered the provider.
    /// Nil if the call is not known.
    package let site: UDICallSite?

    package var isContextAlive: Bool { context != nil }

    init(_ notice: AuditNotice) {
      (context, entry, site) = (notice.context, notice.entry, notice.site)
      contextID = notice.context.map { ObjectIdentifier($0) }
      path = notice.node.fullPath
    }
  }

  /// The subjects by their addresses. Guarded by the tree lock.
  nonisolated(unsafe) var subjects: [ObjectIdentifier: Subject] = [:]
  /// The serial number of the next subject. Guarded by the tree lock.
  private nonisolated(unsafe) var nextSerial = 0
  /// The number of subjects at which the dead ones are next removed. Guarded by the tree lock.
  private nonisolated(unsafe) var nextSweep = 64
  /// While the operation runs, the node of the watched context. The contexts below it are watched, too. Guarded by the
  /// tree lock.
  private nonisolated(unsafe) var root: Node?
  /// The watched context, if it existed before the audit. Set before the operation, and read after it.
  private(set) nonisolated(unsafe) var preparedRoot: UDIContext?
  /// If the watched context was made for the audit, its identity. In that case, `rootHolder` is an object that is alive
  /// as long as any task holds the context. Both are set before the operation, and read after it.
  private(set) nonisolated(unsafe) var newRoot: ObjectIdentifier?
  private(set) nonisolated(unsafe) weak var rootHolder: AnyObject?
  /// The audit that this one runs inside, if any.
  let outer: BindingAudit?

  /// The audit that the current task runs in.
  @TaskLocal private static var ofTask: BindingAudit?
  /// The running audits. Guarded by the tree lock.
  private nonisolated(unsafe) static var all: [BindingAudit] = []

  /// The classes whose objects are ignored.
  let ignoredClasses: [AnyClass]

  /// Makes an audit, which the current task will run.
  ///
  /// - Parameter ignored: The classes whose objects are allowed to outlive the operation. If an object is, so is the
  ///   context that the object is attached to. If a context is, so are all contexts below it, and the objects that any
  ///   of these contexts owns.
  package init(ignoring ignored: [AnyClass] = []) {
    ignoredClasses = ignored
    outer = Self.ofTask
  }

  /// Audits an operation.
  ///
  /// - Parameters:
  ///   - root: The context to watch, together with all contexts below it. The caller keeps it alive during the
  ///     operation.
  ///   - holder: If the context was made for the audit, an object that is alive as long as any task holds the context.
  ///     The context is reported if it outlives this object. Nil if the context existed before. In that case, the
  ///     audit reports nothing that the context contains at the beginning, and nothing that is in the context's tree or
  ///     owned there at the end.
  ///   - operation: The operation.
  nonisolated(nonsending) package func watch<Result>(
    _ root: UDIContext, madeWith holder: AnyObject? = nil,
    operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    begin(root, holder)
    defer { end() }
    return try await Self.$ofTask.withValue(self) { try await operation() }
  }

  /// Audits a synchronous operation; see the asynchronous form.
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
      if holder == nil { notePresent(node, &garbage) } else { update(context, &garbage) { $0.notePath(of: node) } }
      unsafe root = node
      unsafe Self.all.append(self)
      unsafe AuditNotice.receive = Self.receive
    }
    AuditNotice.listeners.add(2, ordering: .sequentiallyConsistent)
  }

  private func end() {
    AuditNotice.listeners.subtract(2, ordering: .sequentiallyConsistent)
    Tree.change { _ in
      unsafe root = nil
      unsafe Self.all.removeAll { $0 === self }
    }
  }
}

// MARK: - What happens. Everything here runs under the tree lock

extension BindingAudit {
  private static func receive(_ notice: AuditNotice, _ garbage: inout Garbage) {
    let (object, node) = (notice.object, notice.node)
    if notice.isNew { return update(object, at: node, &garbage) { $0.note(notice) } }
    if object is UDIContext {
      for audit in unsafe all where audit.knows(object) { audit.update(object, &garbage) { $0.note(notice) } }
    } else {
      for audit in unsafe all where audit.watches(node) && !audit.knows(object) {
        audit.notePresent(object, notice.reach, notice.attachment, &garbage)
      }
    }
  }

  /// Updates an object's subject in every audit that records what the current task does at the given node.
  private static func update(
    _ object: AnyObject, at node: Node, _ garbage: inout Garbage, _ change: (inout Subject) -> Void
  ) {
    let own = ofTask
    for audit in unsafe all {
      // Two audits may watch the same context at the same time, each for its own task. In that case, only the current
      // task's audit records this change.
      let isBeside = unsafe own?.root == audit.root
      if own?.isPart(of: audit) ?? false || !isBeside && audit.watches(node) {
        audit.update(object, &garbage, change)
      }
    }
  }

  /// Whether this audit is the given one or runs inside it.
  private func isPart(of other: BindingAudit) -> Bool { sequence(first: self, next: \.outer).contains { $0 === other } }

  /// Whether the given node is the watched one or is below it.
  private func watches(_ node: Node) -> Bool { unsafe root.map { node.andAncestors.contains($0) } ?? false }

  // MARK: - What is known. Everything here runs under the tree lock

  /// Whether the audit has a subject for the given object.
  ///
  /// The subject that is stored under the object's address belongs to this object or to a released one; in the latter
  /// case, its weak reference is nil. Reading the reference retains the object for a moment, which is harmless, because
  /// the caller also holds the object.
  private func knows(_ object: AnyObject) -> Bool { unsafe subjects[ObjectIdentifier(object)]?.object != nil }

  /// Updates the subject of the given object, after making it if there is none.
  private func update(_ object: AnyObject, _ garbage: inout Garbage, _ change: (inout Subject) -> Void) {
    let id = ObjectIdentifier(object)
    if !knows(object) {
      if unsafe subjects.count >= nextSweep { sweep(&garbage) }
      let new = unsafe Subject(id: id, objectType: type(of: object), object: object, serial: nextSerial)
      unsafe subjects[id] = new
      unsafe nextSerial += 1
    }
    unsafe change(&subjects[id]!)
  }

  /// Records an object that was in the tree before the operation.
  private func notePresent(
    _ object: AnyObject, _ reach: UDIReach, _ attachment: UDIAttachment?, _ garbage: inout Garbage
  ) {
    update(object, &garbage) { subject in
      subject.wasThereBefore = true
      subject.note(reach, attachment)
    }
  }

  /// Records all objects that are bound or owned at the given node or below it. Called before the operation begins.
  private func notePresent(_ root: Node, _ garbage: inout Garbage) {
    for content in root.branch.flatMap({ $0.contents(&garbage) }) {
      for object in [content.bound].compactMap(\.self) + content.owned {
        notePresent(object, content.reach, nil, &garbage)
      }
    }
  }

  /// Removes the subjects whose objects have been released.
  private func sweep(_ garbage: inout Garbage) {
    unsafe subjects = subjects.filter { _, subject in subject.isAlive(&garbage) }
    unsafe nextSweep = max(64, subjects.count * 2)
  }

  /// Marks objects as settled, after an audit inside this one has reported or ignored them. Do not call this while
  /// holding a lock.
  func settle(_ objects: [AnyObject]) {
    Tree.change { _ in
      for object in objects where knows(object) { unsafe subjects[ObjectIdentifier(object)]?.isSettled = true }
    }
  }
}

extension BindingAudit.Subject {
  /// Records the path of a context in its tree.
  fileprivate mutating func notePath(of node: Node) {
    fullPath = node.fullPath
    reach = .anywhere
  }

  /// Records what a notice says, unless one of the last few notes says the same. This keeps an object that is bound
  /// again and again from being recorded each time.
  fileprivate mutating func note(_ notice: AuditNotice) {
    // A context can also be bound, like any object.
    if notice.entry == nil, notice.object is UDIContext { return notePath(of: notice.node) }
    note(notice.reach, notice.attachment)
    if wasThereBefore { return }
    let id = notice.context.map { ObjectIdentifier($0) }
    // `isContextAlive` reads a weak reference, which is safe here for the same reason as in `knows`.
    let isRepeated = notes.suffix(4).contains {
      id != nil && $0.contextID == id && $0.entry?.key == notice.entry?.key && $0.isContextAlive
    }
    if !isRepeated { notes.append(BindingAudit.Note(notice)) }
  }

  /// Records where the object may be released, and its attachment, as far as this is known.
  fileprivate mutating func note(_ reach: UDIReach, _ attachment: UDIAttachment?) {
    if reach == .anywhere { self.reach = .anywhere }
    guard let attachment else { return }
    self.attachment = attachment
    wasAttached = true
  }
}
