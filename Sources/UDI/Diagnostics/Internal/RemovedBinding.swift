/// The record of a binding that is gone.
struct RemovedBinding {
  /// A key in a context. Neither is held: the key's name may be an object.
  struct Place: Hashable {
    /// The context's `NodeExtras.logNumber`.
    let logNumber: Int
    let keyID: UInt64
  }

  let place: Place
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
  /// Guarded by the tree lock: the records by their numbers. Forgotten ones stay until others have as many successors.
  @exclusivity(unchecked) private nonisolated(unsafe) static var records: [Int: RemovedBinding] = [:]
  /// Guarded by the tree lock: the numbers of the records of each place, the oldest first.
  @exclusivity(unchecked) private nonisolated(unsafe) static var numbers: [RemovedBinding.Place: [Int]] = [:]
  /// Guarded by the tree lock: the number of the last record.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastNumber = 0

  /// The records under a key in one context, the last one first.
  static func records(of key: KeyIdentity, in node: Node) -> [RemovedBinding] {
    guard let place = place(key.id, in: node) else { return [] }
    return unsafe numbers[place, default: []].reversed().compactMap { unsafe records[$0] }
  }

  static func removeAllRecords() {
    unsafe records = [:]
    unsafe numbers = [:]
  }

  /// Records that a binding is removed from its context, if its object has died or another `bind` withdraws it.
  ///
  /// - Parameter site: The call of that `bind`.
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
    if let place = place(new.keyID, in: node), let known = unsafe numbers[place] {
      let kept = known.filter { number in
        guard let record = unsafe records[number], let object = record.object else { return false }
        Schedule.reached(.loadedToLook)
        garbage.add(object, record.reach)
        return Unretained(object).address != new.form.address
      }
      unsafe numbers[place] = kept.isEmpty ? nil : kept.suffix(capacityOfKey)
    }
    // An instance that is bound again is not replaced. Nor is one that has died, because its successor may be at the
    // same address.
    guard let replaced, replaced.form.address != new.form.address, let object = replaced.object else { return }
    Schedule.reached(.loadedToLook)
    garbage.add(object, of: replaced)
    add(replaced, object, .replaced, new.site)
  }

  /// A key in a context of which there are, or were, records.
  private static func place(_ keyID: UInt64, in node: Node) -> RemovedBinding.Place? {
    guard let logNumber = node.treeLocked.extras?.logNumber, logNumber != 0 else { return nil }
    return RemovedBinding.Place(logNumber: logNumber, keyID: keyID)
  }

  @inline(never)
  private static func add(
    _ binding: Binding, _ object: AnyObject?, _ kind: UDIExplanation.Finding.Kind, _ endedBy: CallSite?
  ) {
    // This is checked again under the lock, so that nothing is recorded after `removeAllRecords`.
    guard isOn, let node = binding.node else { return }
    unsafe lastNumber += 1
    let extras = node.treeLocked.ensureExtras()
    if extras.logNumber == 0 { extras.logNumber = unsafe lastNumber }
    let place = RemovedBinding.Place(logNumber: extras.logNumber, keyID: binding.keyID)
    unsafe numbers[place, default: []].append(lastNumber)
    unsafe records[lastNumber] = RemovedBinding(
      place: place, kind: kind, endedBy: endedBy, time: .now,
      objectType: object.map { type(of: $0) } ?? (binding as? DetailedBinding)?.objectType, object: object,
      reach: binding.reach, site: binding.site)
    let oldest = unsafe lastNumber - capacity
    guard let old = unsafe records.removeValue(forKey: oldest)?.place else { return }
    unsafe numbers[old]?.removeAll { $0 == oldest }
    if unsafe numbers[old]?.isEmpty == true { unsafe numbers[old] = nil }
  }
}
