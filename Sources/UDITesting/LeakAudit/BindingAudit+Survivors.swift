import UDI

/// The objects and contexts that have outlived the audited operation.
extension BindingAudit {
  // To describe objects, an audit needs strong references to them. To count them, it does not (`Subject.isAlive`).

  /// How many objects and contexts are to be reported, and 1 more if tasks still hold the context that was made for the
  /// audit.
  package func countOfSurvivors() -> Int {
    Garbage.released { loaded in
      let left = subjectsLeft(&loaded) { $0.isAlive(&$1) }
      return left.reported.count + left.heldByTasks.count
    }
  }

  /// How many of the recorded objects and contexts are alive, by class.
  package func countsOfLiving() -> [String: Int] {
    Garbage.released { loaded in
      living(&loaded) { $0.isAlive(&$1) }.reduce(into: [:]) { $0["\($1.objectType)", default: 0] += 1 }
    }
  }

  /// Describes the objects and contexts to report, in the order in which the audit learnt of them. If this audit runs
  /// inside another one, the outer audit does not report them again.
  ///
  /// - Parameter describe: Makes the result. It is given the subjects to report, and the objects that may be alive and
  ///   might hold the subjects. All these objects are alive during the call. The last subject may be a context that
  ///   running tasks hold, which is to be reported only if it holds others (`isHeldByTasks`).
  package func survivors<Leak>(_ describe: (_ reported: [Subject], _ others: [AnyObject]) -> [Leak]) -> [Leak] {
    Garbage.released { loaded in
      let (reported, all, others, heldByTasks) = subjectsLeft(&loaded) { $0.load(into: &$1) }
      let objects = all.compactMap(\.object)
      for audit in sequence(first: self, next: \.outer).dropFirst() { audit.settle(objects) }
      // If tasks that have not ended hold the context that was made for the audit, that is no leak by itself. But what
      // only this context holds is not described as leaks of their own.
      let described = (reported + (reported.isEmpty ? [] : heldByTasks)).map { subject in
        var subject = subject
        subject.areTasksRunning = !heldByTasks.isEmpty
        subject.isHeldByTasks = subject.id == heldByTasks.first?.id
        subject.providers = subject.fullPath.flatMap { subject.context?.registeredProviders(below: $0) } ?? []
        return subject
      }
      return describe(described, unsafe (preparedRoot.map { [$0] } ?? []) + others.compactMap(\.object))
    }
  }

  /// Finds the objects and contexts to report.
  ///
  /// - Parameters:
  ///   - loaded: Gets what has to be loaded to find them.
  ///   - isAlive: Whether a subject is alive.
  /// - Returns: The subjects to report; all subjects that have outlived the operation and are not in the tree,
  ///   including ignored ones; all that are alive, but are no leaks; and the context that was made for the audit, if
  ///   tasks that have not ended hold it.
  private func subjectsLeft(
    _ loaded: inout Garbage, where isAlive: (Subject, inout Garbage) -> Bool
  ) -> (reported: [Subject], all: [Subject], others: [Subject], heldByTasks: [Subject]) {
    let present = contents(of: unsafe preparedRoot.map { [$0] } ?? [], &loaded)
    let living = living(&loaded, where: isAlive)
    let left = living.filter { !present.contains($0.id) }
    let ignored = left.filter { subject in
      subject.isSettled || ignoredClasses.contains { isKind(subject.objectType, of: $0) }
    }
    let ignoredIDs = contents(of: ignored.compactMap { $0.context ?? $0.heldContext }, &loaded)
      .union(ignored.map(\.id))
    let counted = left.filter { !$0.wasThereBefore && !ignoredIDs.contains($0.id) }

    // A context is not reported if another reported object or context holds it, because both would be released
    // together. Contexts are compared by their nodes, so that no context is retained on the way up.
    let nodes = Set(counted.compactMap(\.context).map { $0.withNode { $0 } })
    let attachedTo = Set(counted.compactMap(\.heldContext))
    let rootOfTasks = unsafe rootHolder == nil ? nil : newRoot
    let reported = counted.filter { subject in
      guard let context = subject.context else { return true }
      return subject.id != rootOfTasks && !attachedTo.contains(context) && !context.isBelow(nodes)
    }
    let ids = Set(counted.map(\.id))
    let others = living.filter { !ids.contains($0.id) }
    return (reported, left.filter { !$0.wasThereBefore }, others, counted.filter { $0.id == rootOfTasks })
  }

  /// The subjects that are alive, in order.
  ///
  /// - Parameters:
  ///   - loaded: Gets what has to be loaded to find them.
  ///   - isAlive: Whether a subject is alive. Called under the tree lock.
  private func living(_ loaded: inout Garbage, where isAlive: (Subject, inout Garbage) -> Bool) -> [Subject] {
    let living = Tree.change { _ in unsafe subjects.values.filter { isAlive($0, &loaded) } }
    return living.sorted { $0.serial < $1.serial }
  }

  /// The identities of the given contexts, of all contexts below them, and of all objects that these contexts own.
  ///
  /// - Parameter loaded: Gets a strong reference to each of these contexts.
  private func contents(of roots: [UDIContext], _ loaded: inout Garbage) -> Set<ObjectIdentifier> {
    var contents: Set<ObjectIdentifier> = []
    var storages: [any UDIStorage] = []
    Tree.change { _ in
      for root in roots where !contents.contains(ObjectIdentifier(root)) {
        let node = root.withNode { $0 }
        for below in node.branch {
          if let context = below == node ? root : below.context {
            contents.insert(ObjectIdentifier(context))
            loaded.add(context)
          }
          for content in below.contents(&loaded) {
            contents.formUnion(content.owned.map { ObjectIdentifier($0) })
            storages += content.storages
          }
        }
      }
    }
    // A storage's `load` is user code, so it is called after the lock has been released.
    return contents.union(storages.compactMap { $0.load()?.objectID })
  }
}

extension BindingAudit.Subject {
  // No other object is loaded from its weak reference, because this thread might have to release it.
  fileprivate var context: UDIContext? { objectType == UDIContext.self ? object as? UDIContext : nil }
  /// The context that the object is attached to, if the object holds it strongly. Do not read this while holding a
  /// lock.
  fileprivate var heldContext: UDIContext? { attachment?.heldContext }
}

extension UDIContext {
  /// Whether this context is below one of the given nodes. If so, that node's context holds this one.
  fileprivate func isBelow(_ nodes: Set<Node>) -> Bool {
    change { node, _ in node.ancestors.contains { nodes.contains($0) } }
  }

  /// The providers that are registered in this context and below it, in order.
  ///
  /// - Parameter path: The path that this context had in its tree, which it may have left since.
  fileprivate func registeredProviders(below path: [String]) -> [UDIExplanation.Place] {
    change { node, garbage in
      let depth = node.fullPath.count
      return node.branch.flatMap { below in
        let path = path + below.fullPath.dropFirst(depth)
        let providers = below.contents(&garbage).map(\.entry).filter(\.isProvider)
        return providers.map { UDIExplanation.Place(fullPath: path, finding: $0) }
      }
    }
  }
}

extension Garbage {
  /// Runs `body` with garbage of its own, and then releases what `body` has added.
  fileprivate static func released<Result>(after body: (inout Garbage) -> Result) -> Result {
    var garbage = Garbage()
    defer { garbage.release() }
    return body(&garbage)
  }
}
