/// The record of a binding that has been removed. It keeps neither the instance nor the context alive.
package final class RemovedBinding {
  /// The binding as it was removed.
  private let entry: UDIEntry
  package let key: KeyIdentity
  /// The node of the context from which the binding was removed. When that context ends, the record is dropped.
  fileprivate let node: Node
  /// When the binding was replaced, withdrawn, or found to be dead. If the object's attachment knew that the object was
  /// bound (see `BindRequest.tellAttachment`), the release was noticed at once, so this is the time of the release.
  private let time = ContinuousClock.now
  /// The instance, which can still be alive if the binding was replaced or withdrawn. Reading this weak reference makes
  /// a strong one, which must not be released under the tree lock.
  private weak let object: AnyObject?
  /// Where the instance may be used.
  private let reach: UDIReach

  fileprivate init(_ entry: UDIEntry, of binding: Binding, in node: Node, _ object: AnyObject?) {
    (self.entry, key, self.node, self.object, reach) = (entry, binding.key, node, object, binding.reach)
  }

  /// Describes the binding as it is now.
  package func entry(_ garbage: inout Garbage) -> UDIEntry {
    var entry = entry
    entry.isAlive = garbage.held(object, reach) != nil
    entry.deadFor = time.duration(to: .now)
    return entry
  }
}

/// The records of the bindings, in all trees, that were removed most recently. No record is made if a call such as
/// `unbind` removes the binding of a live object. Everything here is called under the tree lock.
extension UDIRecording {
  /// The latest records, the earliest first. `NodeExtras.hasRemovedBindings` says whether a context may have some.
  /// Guarded by the tree lock.
  @exclusivity(unchecked) nonisolated(unsafe) static var records: [RemovedBinding] = []

  /// The records of the given context, the earliest first: all, or those under the given key.
  package static func records(of key: KeyIdentity? = nil, in node: Node) -> [RemovedBinding] {
    guard node.treeLocked.extras?.hasRemovedBindings == true else { return [] }
    return unsafe records.filter { $0.node == node && (key == nil || $0.key === key) }
  }
}

// MARK: - What the tree tells

extension Node {
  /// Updates the records when an instance is bound in a context, whether this replaces another binding or not. Drops
  /// the earlier records under the same key, because only the new binding counts now, and the one that it replaces.
  func noteBind(_ new: Binding, insteadOf replaced: Binding?, _ garbage: inout Garbage) {
    if treeLocked.extras?.hasRemovedBindings == true {
      unsafe UDIRecording.records.removeAll { $0.node == self && $0.key === new.key }
    }
    // If the same instance is bound again, nothing is recorded. If the old instance has been released, nothing is
    // recorded either, because this cannot always be noticed: the new instance may have the old one's address.
    guard let replaced, replaced.form.address != new.form.address, replaced.liveObject(&garbage) != nil else { return }
    noteRemoval(of: replaced, ifAlive: .replaced, by: new.site, &garbage)
  }

  /// Records that a binding is being removed from this context.
  ///
  /// - Parameters:
  ///   - alive: The record's kind if the object is alive. Nil to record nothing, because a call such as `unbind` has
  ///     asked for the removal.
  ///   - end: The call that replaces or withdraws the binding, if there is one.
  @inline(never)
  func noteRemoval(of binding: Binding, ifAlive alive: UDIEntry.Kind?, by end: UDICallSite?, _ garbage: inout Garbage) {
    let object = binding.liveObject(&garbage)
    // This is read under the tree lock, so that nothing is recorded after the records have been removed. (The callers
    // have read it under the same lock, but only to save this call.)
    guard isRecording, let kind = object == nil ? .dead : alive else { return }
    let objectType = object.map { type(of: $0) } ?? (binding as? DetailedBinding)?.objectType
    let entry = UDIEntry(kind, binding, type: objectType, isAlive: object != nil, endedBy: object == nil ? nil : end)
    if unsafe UDIRecording.records.count == UDIRecording.capacity { unsafe UDIRecording.records.removeFirst() }
    unsafe UDIRecording.records.append(RemovedBinding(entry, of: binding, in: self, object))
    treeLocked.ensureExtras().hasRemovedBindings = true
  }

  func removeRecords() { unsafe UDIRecording.records.removeAll { $0.node == self } }
}
