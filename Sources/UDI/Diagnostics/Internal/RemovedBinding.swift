/// The record of a binding that is gone.
struct RemovedBinding {
  /// Whether its object had died, or else what another `bind` did with it.
  let kind: UDIExplanation.Finding.Kind
  /// The call that replaced or withdrew it.
  let endedBy: CallSite?
  /// When it was found dead, replaced or withdrawn. For an object that takes part in the tree, this is when it died.
  let time: ContinuousClock.Instant
  let objectType: Any.Type?
  /// The instance, which may be alive if it was replaced or withdrawn. A reference that is loaded while the tree lock
  /// is held must not be released there.
  weak let object: AnyObject?
  /// Where the instance may be used.
  let reach: Reach
  /// The call that bound it.
  let site: CallSite
}

/// The records of the most recent bindings, in all trees, that are gone because their objects have died or because of
/// another `bind`. Everything here runs under the tree lock.
extension UDIRecording {
  /// Guarded by the tree lock: the last records, by their numbers. `NodeExtras.removedBindings` says where they belong.
  @exclusivity(unchecked) private nonisolated(unsafe) static var records: [Int: RemovedBinding] = [:]
  /// Guarded by the tree lock: the number of the last record. Numbers are never reused.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastNumber = 0

  /// The records under a key in one context, the last one first.
  static func records(of key: KeyIdentity, in node: Node) -> [RemovedBinding] {
    let numbers = node.treeLocked.extras?.removedBindings[key.id] ?? []
    return numbers.reversed().compactMap { unsafe records[$0] }
  }

  static func removeAllRecords() { unsafe records = [:] }

  /// Records that a binding is removed from its context, if its object has died or another `bind` withdraws it.
  ///
  /// - Parameter site: The call of that `bind`.
  @inline(never)
  static func noteRemoval(of binding: Binding, withdrawnBy site: CallSite?, _ garbage: inout Garbage) {
    guard let object = binding.object else { return add(binding, nil, .dead, nil) }
    Schedule.reached(.loadedToLook)
    garbage.add(object, of: binding)
    if let site { add(binding, object, .withdrawn, site) }
  }

  /// Records that something is bound in a context, in the place of another binding or of none.
  ///
  /// This forgets the earlier records under the binding's key whose objects are dead, because the new binding counts
  /// now, and the records of the same instance, which is bound again. Records of other objects that are alive stay: if
  /// the new binding goes, they explain what became of those objects.
  @inline(never)
  static func noteBind(_ new: Binding, insteadOf replaced: Binding?, in node: Node, _ garbage: inout Garbage) {
    if let extras = node.treeLocked.extras, let known = extras.removedBindings[new.keyID] {
      let kept = known.filter { number in
        guard let record = unsafe records[number], let object = record.object else { return false }
        Schedule.reached(.loadedToLook)
        garbage.add(object, record.reach)
        return Unretained(object).address != new.form.address
      }
      extras.removedBindings[new.keyID] = kept.isEmpty ? nil : kept.suffix(capacityOfKey)
    }
    // An instance that is bound again is not replaced. Nor is one that has died, because its successor may be at the
    // same address.
    guard let replaced, replaced.form.address != new.form.address, let object = replaced.object else { return }
    Schedule.reached(.loadedToLook)
    garbage.add(object, of: replaced)
    add(replaced, object, .replaced, new.site)
  }

  @inline(never)
  private static func add(
    _ binding: Binding, _ object: AnyObject?, _ kind: UDIExplanation.Finding.Kind, _ endedBy: CallSite?
  ) {
    // This is checked again under the lock, so that nothing is recorded after `removeAllRecords`.
    guard isOn, let node = binding.node else { return }
    unsafe lastNumber += 1
    unsafe records[lastNumber] = RemovedBinding(
      kind: kind, endedBy: endedBy, time: .now,
      objectType: object.map { type(of: $0) } ?? (binding as? DetailedBinding)?.objectType, object: object,
      reach: binding.reach, site: binding.site)
    unsafe records[lastNumber - capacity] = nil
    let extras = node.treeLocked.ensureExtras()
    unsafe extras.removedBindings[binding.keyID, default: []].append(lastNumber)
    // Keys that do not come back would otherwise leave numbers of dropped records for as long as the context lives.
    if extras.removedBindings.count > 2 * capacity {
      extras.removedBindings = extras.removedBindings.filter { _, numbers in
        numbers.contains { unsafe records[$0] != nil }
      }
    }
  }
}
