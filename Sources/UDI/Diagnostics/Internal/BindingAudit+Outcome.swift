/// What has outlived the audited operation.
extension BindingAudit {
  /// An object or a context that has outlived the audited operation.
  package struct Survivor: Sendable {
    package let objectType: Any.Type
    /// The registrations of an object, in order.
    package let registrations: [Registration]
    /// The contexts that an object was attached to, in order.
    package let attachments: [Attachment]
    /// The tags from the root to a context; nil for any other object.
    package let contextPath: [String]?
    /// The providers that are registered in a context and below it. One of them may hold it.
    package let providers: [Registration]
  }

  /// One registration of an object, or one provider of a context.
  package struct Registration: Sendable {
    package let typeName: String
    package let name: String?
    package let path: [String]
    /// Whether the context is still alive.
    package let isContextAlive: Bool
    package let fileID: String
    package let line: Int
  }

  /// One context that an object was attached to.
  package struct Attachment: Sendable {
    package let path: [String]
    /// Whether the context is still alive.
    package let isContextAlive: Bool
    /// The call of `attached(to:)`, or the registration of the provider that made the object; nil if `attachedContext`
    /// was set.
    package let site: (fileID: String, line: Int)?
  }

  /// What may live on.
  package struct Exceptions {
    /// The context that existed before the operation and is still in use: the contexts in its tree, and what they own,
    /// may live on.
    package var prepared: UDIContext?
    /// Whether tasks still hold the context that was made for the audit. Then it is alive for a good reason.
    package var tasksHoldRoot: Bool
    /// Decides which objects and contexts are ignored. The contexts that they are attached to, and what those own, may
    /// live on, too.
    package var isIgnored: (AnyObject) -> Bool

    /// Makes a description of what may live on.
    package init(prepared: UDIContext?, tasksHoldRoot: Bool, isIgnored: @escaping (AnyObject) -> Bool) {
      self.prepared = prepared
      self.tasksHoldRoot = tasksHoldRoot
      self.isIgnored = isIgnored
    }
  }

  /// The number of objects and contexts to report.
  package func countOfSurvivors(_ exceptions: Exceptions) -> Int {
    withOutcome(exceptions) { reported, _ in reported.count }
  }

  /// The objects and contexts to report, in the order in which they became known. Audits around this one do not report
  /// them again.
  package func survivors(_ exceptions: Exceptions) -> [Survivor] {
    withOutcome(exceptions) { reported, all in
      var next = outer
      while let audit = next {
        audit.settle(all.map(\.object))
        next = audit.outer
      }
      return reported.map { Survivor($0) }
    }
  }
}

// MARK: - What to report

extension BindingAudit {
  /// A subject that is alive while `withOutcome` runs.
  fileprivate struct Living {
    /// This does not hold the object, because its last reference could then be released on any thread. `withOutcome`
    /// holds it.
    private let reference: Unretained<AnyObject>
    let subject: Subject

    init(_ object: AnyObject, _ subject: Subject) {
      reference = Unretained(object)
      self.subject = subject
    }

    var object: AnyObject { reference.object }
    /// The context that the object holds because it is attached to it. Do not read this while holding a lock.
    var held: UDIContext? { subject.attachment?.heldContext }
    var id: ObjectIdentifier { ObjectIdentifier(object) }
    var context: UDIContext? { object as? UDIContext }
  }

  /// Some contexts, all contexts below them, and what these contexts own. All of it may live on.
  private struct Contents {
    var contexts: Set<UDIContext> = []
    var owned: Set<ObjectIdentifier> = []

    func contains(_ living: Living) -> Bool {
      owned.contains(living.id) || living.context.map { contexts.contains($0) } ?? false
    }
  }

  /// Decides what to report.
  ///
  /// - Parameter body: Receives what to report, and everything that has outlived the operation and is not in the tree,
  ///   including what is ignored.
  private func withOutcome<Result>(
    _ exceptions: Exceptions, _ body: (_ reported: [Living], _ all: [Living]) -> Result
  ) -> Result {
    let root = Tree.change { _ in unsafe newRoot }
    let present = contents(of: exceptions.prepared.map { [$0] } ?? [])
    // Checking whether the objects are alive means holding them. These references may be the last by the time they are
    // released.
    var loaded = Garbage()
    defer { loaded.release() }
    let left = living(&loaded).filter { !present.contains($0) }
    var counted: [Living] = []
    var excused: [UDIContext] = []
    for living in left {
      if living.subject.isSettled || exceptions.isIgnored(living.object) {
        if let context = living.context ?? living.held { excused.append(context) }
      } else if !living.subject.wasThereBefore {
        counted.append(living)
      }
    }
    let ignored = contents(of: excused)
    counted.removeAll { ignored.contains($0) }

    // If something that is reported holds a context, the context goes together with it, and so is not reported itself.
    let contexts = counted.compactMap(\.context)
    // These are nodes, so that no context is retained on the way up.
    let nodes = unsafe Set(contexts.map { unsafe $0.withNode(\.address) })
    let attachedTo = Set(counted.compactMap(\.held))
    let reported = counted.filter { living in
      guard let context = living.context else { return true }
      if living.id == root, exceptions.tasksHoldRoot { return false }
      return unsafe !attachedTo.contains(context) && !context.isBelow(nodes)
    }
    return body(reported, left.filter { !$0.subject.wasThereBefore })
  }

  /// The subjects that are alive, in order.
  ///
  /// - Parameter loaded: Receives references to them.
  private func living(_ loaded: inout Garbage) -> [Living] {
    let living = Tree.change { _ in
      unsafe subjects.values.compactMap { subject -> Living? in
        guard let object = subject.object else { return nil }
        let living = Living(object, subject)
        loaded.add(object, subject.reach)
        return living
      }
    }
    return living.sorted { $0.subject.serial < $1.subject.serial }
  }

  /// Collects the contents of some contexts and of those below them.
  private func contents(of roots: [UDIContext]) -> Contents {
    var contents = Contents()
    guard !roots.isEmpty else { return contents }
    var storages: [any UDIStorage] = []
    Tree.change { _ in
      for root in roots where !contents.contexts.contains(root) {
        root.withNode { node in
          for element in BreadthFirst(node) {
            if let context = element.node == node ? root : element.node.context { contents.contexts.insert(context) }
            element.node.forEachOwned { contents.owned.insert(ObjectIdentifier($0)) }
            element.node.treeLocked.providers.forEach { storages += $0.provider.storages }
          }
        }
      }
    }
    // This is user code, so it runs after the lock has been given back.
    for storage in storages {
      if let kept = storage.load() { contents.owned.insert(kept.objectID) }
    }
    return contents
  }
}

// MARK: - What is reported

extension BindingAudit.Survivor {
  fileprivate init(_ living: BindingAudit.Living) {
    objectType = type(of: living.object)
    let notes = living.subject.notes
    registrations = notes.compactMap { note in
      guard let key = note.key, let site = note.site else { return nil }
      return BindingAudit.Registration(key, in: note.path, isContextAlive: note.context != nil, site)
    }
    attachments = notes.filter { $0.key == nil }.map { note in
      BindingAudit.Attachment(
        path: note.path, isContextAlive: note.context != nil, site: note.site.map { ($0.fileID, $0.line) })
    }
    contextPath = living.subject.contextPath
    providers = contextPath.flatMap { living.context?.registeredProviders(below: $0) } ?? []
  }
}

extension BindingAudit.Registration {
  fileprivate init(_ key: KeyIdentity, in path: [String], isContextAlive: Bool, _ site: CallSite) {
    typeName = key.type.text
    name = key.name?.description
    self.path = path
    self.isContextAlive = isContextAlive
    fileID = site.fileID
    line = site.line
  }
}

extension UDIContext {
  /// Whether this context is below one of the given nodes, whose contexts then hold it.
  fileprivate func isBelow(_ nodes: Set<UnsafeRawPointer>) -> Bool {
    change { node, _ in
      var next = node.shared.parent
      while let node = next {
        if unsafe nodes.contains(node.address) { return true }
        next = node.shared.parent
      }
      return false
    }
  }

  /// The providers that are registered here and below, in order.
  ///
  /// - Parameter path: The path of this context, which may have left its tree since.
  fileprivate func registeredProviders(below path: [String]) -> [BindingAudit.Registration] {
    let found = change { node, _ in
      let depth = node.fullPath.count
      return BreadthFirst(node).flatMap { element in
        var providers: [Provider] = []
        // An alias has no factory of its own.
        element.node.treeLocked.providers.forEach { if !($0.provider is Alias) { providers.append($0.provider) } }
        let path = path + element.node.fullPath.dropFirst(depth)
        return providers.sorted { $0.serial < $1.serial }.map { ($0.key, path, $0.site) }
      }
    }
    return found.map { BindingAudit.Registration($0, in: $1, isContextAlive: true, $2) }
  }
}

// MARK: - What a context owns. Under the tree lock

extension Node {
  /// Calls `body` with each instance that a provider of this node has made and keeps strongly, except for instances in
  /// users' storages.
  func forEachOwned(_ body: (AnyObject) -> Void) {
    treeLocked.providers.forEach { entry in
      if let owned = entry.provider.shown?.owned { body(owned) }
      entry.provider.forEachOwned(body)
    }
  }
}
