/// The record of a binding that has been removed.
final class RemovedBinding {
  /// The binding, as it was removed, and its key; nil if this record has been dropped.
  private var content: (entry: UDIEntry, key: KeyIdentity)?
  /// A later record has a higher number.
  fileprivate let number: UInt64
  /// When the binding was replaced, withdrawn, or found to be dead. If the object's attachment knew that the object was
  /// bound (see `BindRequest.tellAttachment`), the release was noticed at once, so this is the time of the release.
  private let time = ContinuousClock.now
  /// The instance, which can still be alive if the binding was replaced or withdrawn. Reading this weak reference makes
  /// a strong one, which must not be released under the tree lock.
  private weak var object: AnyObject?
  /// Where the instance may be used.
  private let reach: UDIReach

  /// The record before this one, of the same key and context.
  fileprivate var earlier: RemovedBinding?
  /// Whether this record has been dropped, because there were too many, or because recording was switched off.
  fileprivate var isDropped: Bool { content == nil }

  fileprivate init(_ entry: UDIEntry, _ number: UInt64, of binding: Binding, _ object: AnyObject?) {
    (content, self.number, reach) = ((entry, binding.key), number, binding.reach)
    self.object = object
  }

  // Records that have been dropped are not given out.
  var key: KeyIdentity { content!.key }

  /// Describes the binding as it is now.
  func entry(_ garbage: inout Garbage) -> UDIEntry {
    var entry = content!.entry
    entry.isAlive = liveObject(&garbage) != nil
    entry.deadFor = time.duration(to: .now)
    return entry
  }

  fileprivate func liveObject(_ garbage: inout Garbage) -> AnyObject? { garbage.held(object, reach) }

  /// Forgets what was recorded. The records before this one have been dropped, too, because they are older.
  fileprivate func drop() { (content, earlier, object) = (nil, nil, nil) }

  /// This record and all earlier ones, without those that have been dropped.
  fileprivate var kept: [RemovedBinding] {
    var kept: [RemovedBinding] = []
    var next: RemovedBinding? = self
    while let record = next {
      if !record.isDropped { kept.append(record) }
      next = record.earlier
    }
    return kept
  }
}

/// The records of the bindings, in all trees, that were removed most recently. No record is made if a call such as
/// `unbind` removes the binding of a live object. Everything here is called under the tree lock.
extension UDIRecording {
  /// The latest records, by their numbers. `NodeExtras.removedBindings` has the last one for each context and key.
  /// Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var records = ObjectTable<RemovedBinding>()
  /// The number of the latest record. Numbers are never reused. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastNumber: UInt64 = 0

  /// The records under the given key in the given context, the latest first.
  static func records(of key: KeyIdentity, in node: Node) -> [RemovedBinding] {
    node.treeLocked.extras?.removedBindings[key.id]?.kept ?? []
  }

  /// All records of the given context, the earliest first.
  static func allRecords(in node: Node) -> [RemovedBinding] {
    var all: [RemovedBinding] = []
    node.treeLocked.extras?.removedBindings.forEach { all += $0.kept }
    return all.inOrder(of: \.number)
  }

  static func removeAllRecords() {
    unsafe records.forEach { $0.drop() }
    unsafe records = ObjectTable()
  }

  /// Updates the records when an instance is bound in a context, whether this replaces another binding or not.
  ///
  /// This method drops two kinds of earlier records under the same key: those whose objects have been released, because
  /// only the new binding counts now, and those of the instance itself, which is bound again. The latest records of
  /// other live objects are kept: if the new binding is removed later, they explain what became of these objects.
  @inline(never)
  static func noteBind(_ new: Binding, insteadOf replaced: Binding?, in node: Node, _ garbage: inout Garbage) {
    if let extras = node.treeLocked.extras, let last = extras.removedBindings[new.keyID] {
      var later: RemovedBinding?
      var count = 0
      for record in last.kept where count < capacityOfKey {
        guard let object = record.liveObject(&garbage), Unretained(object).address != new.form.address
        else { continue }
        if let later { later.earlier = record } else { extras.removedBindings[new.keyID] = record }
        (later, count) = (record, count + 1)
      }
      if let later { later.earlier = nil } else { extras.removedBindings[new.keyID] = nil }
    }
    // If the same instance is bound again, nothing is recorded. If the old instance has been released, nothing is
    // recorded either, because this cannot always be noticed: the new instance may have the old one's address.
    guard let replaced, replaced.form.address != new.form.address else { return }
    noteRemoval(of: replaced, ifAlive: .replaced, ifDead: nil, by: new.site, &garbage)
  }

  /// Records that a binding is being removed from its context.
  ///
  /// - Parameters:
  ///   - alive: The record's kind if the object is alive. Nil to record nothing, because a call such as `unbind` has
  ///     asked for the removal.
  ///   - dead: The record's kind if the object has been released; nil to record nothing.
  ///   - end: The call that replaces or withdraws the binding, if there is one.
  @inline(never)
  static func noteRemoval(
    of binding: Binding, ifAlive alive: UDIEntry.Kind?, ifDead dead: UDIEntry.Kind? = .dead,
    by end: UDICallSite? = nil, _ garbage: inout Garbage
  ) {
    let object = garbage.held(binding.object, binding.reach)
    // `isOn` is read under the tree lock, so that nothing is recorded after `removeAllRecords`. (The callers have read
    // it under the same lock, but only to save this call.)
    guard isOn, let kind = object == nil ? dead : alive, let node = binding.node else { return }
    let objectType = object.map { type(of: $0) } ?? (binding as? DetailedBinding)?.objectType
    let endedBy = object == nil ? nil : end
    unsafe lastNumber += 1
    let entry = UDIEntry(kind, binding, type: objectType, isAlive: object != nil, endedBy: endedBy)
    let record = unsafe RemovedBinding(entry, lastNumber, of: binding, object)
    unsafe records[lastNumber] = record
    if unsafe lastNumber > UInt64(capacity), let oldest = unsafe records[lastNumber - UInt64(capacity)] {
      oldest.drop()
      unsafe records[oldest.number] = nil
    }
    let extras = node.treeLocked.ensureExtras()
    record.earlier = extras.removedBindings[binding.keyID]
    extras.removedBindings[binding.keyID] = record
    // Keys whose records have all been dropped are removed here. Otherwise, a key that is never bound again would stay
    // as long as the context exists.
    if extras.removedBindings.count > 2 * capacity {
      var kept = ObjectTable<RemovedBinding>()
      extras.removedBindings.forEach { if !$0.isDropped { kept[$0.key.id] = $0 } }
      extras.removedBindings = kept
    }
  }
}
