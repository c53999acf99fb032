/// The record of a binding that is gone.
struct RemovedBinding {
  /// Why it is gone.
  enum End {
    case died
    /// Another instance was bound in its place, by this call.
    case replaced(CallSite)
    /// The same instance was bound in another context, by this call.
    case withdrawn(CallSite)
  }

  /// The key's id. The key itself is not held: its name may be an object.
  let key: UInt64
  let objectType: Any.Type?
  /// The instance, which may be alive if it was replaced or withdrawn. A reference that is loaded while the tree lock
  /// is held must not be released there.
  weak let object: AnyObject?
  /// Where the instance may be used.
  let reach: Reach
  /// The call that bound it.
  let site: CallSite
  /// The context's `Node.logNumber`.
  let logNumber: UInt
  let end: End
  /// When it was found dead, replaced or withdrawn. For an object that takes part in the tree, this is when it died.
  let time: ContinuousClock.Instant
}

/// The most recent bindings, in all trees, that are gone because their objects have died or because of another `bind`.
/// Everything here runs under the tree lock.
enum RemovedBindingLog {
  /// A key in a context.
  private struct ContextKey: Hashable {
    /// The context's `Node.logNumber`.
    let logNumber: UInt
    /// The key's id.
    let key: UInt64
  }

  /// Guarded by the tree lock: the records, which form a ring once this is full. Forgotten records stay in it until
  /// others overwrite them.
  @exclusivity(unchecked) private nonisolated(unsafe) static var ring: ContiguousArray<RemovedBinding> = []
  /// Guarded by the tree lock: the index of the oldest record in a full ring.
  @exclusivity(unchecked) private nonisolated(unsafe) static var oldest = 0
  /// Guarded by the tree lock: the indices in the ring of the records of each key in a context, the oldest first.
  @exclusivity(unchecked) private nonisolated(unsafe) static var indices: [ContextKey: [Int]] = [:]
  /// Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastLogNumber: UInt = 0

  /// Records that a binding is removed from its context.
  ///
  /// - Parameter end: Why it is removed, which counts if its object is still alive; nil if that need not be recorded.
  static func note(_ binding: Binding, _ end: RemovedBinding.End?, _ garbage: inout Garbage) {
    let object = binding.object
    if let object {
      Schedule.reached(.loadedToLook)
      garbage.add(object, of: binding)
    }
    if let end = object == nil ? .died : end { note(binding, of: object, end) }
  }

  @inline(never)
  private static func note(_ binding: Binding, of object: AnyObject?, _ end: RemovedBinding.End) {
    // This is checked again under the lock, so that nothing is recorded after `removeAll`.
    guard UDIRecording.isOn, let node = binding.node else { return }
    let extras = node.treeLocked.ensureExtras()
    if extras.logNumber == 0 {
      unsafe lastLogNumber += 1
      extras.logNumber = unsafe lastLogNumber
    }
    let objectType = object.map { type(of: $0) } ?? (binding as? DetailedBinding)?.objectType
    add(
      RemovedBinding(
        key: binding.keyID, objectType: objectType, object: object, reach: binding.reach, site: binding.site,
        logNumber: extras.logNumber,
        end: end, time: .now))
  }

  /// The number of records that are kept for one key in a context, whatever is bound there in turn.
  private static var keptOfKey: Int { 8 }

  private static func add(_ record: RemovedBinding) {
    let contextKey = ContextKey(logNumber: record.logNumber, key: record.key)
    guard unsafe ring.count == UDIRecording.capacity else {
      unsafe indices[contextKey, default: []].append(ring.count)
      return unsafe ring.append(record)
    }
    let old = unsafe ContextKey(logNumber: ring[oldest].logNumber, key: ring[oldest].key)
    unsafe indices[old]?.removeAll { unsafe $0 == oldest }
    if unsafe indices[old]?.isEmpty == true { unsafe indices[old] = nil }
    unsafe indices[contextKey, default: []].append(oldest)
    unsafe ring[oldest] = record
    unsafe oldest = (oldest + 1) % ring.count
  }

  /// Records that something is bound in a context, in the place of another binding or of none.
  ///
  /// This forgets the earlier records under the binding's key whose objects are dead, because the new binding counts
  /// now, and the records of the same instance, which is bound again. Records of other objects that are alive stay: if
  /// the new binding goes, they explain what became of those objects.
  @inline(never)
  static func noteBind(_ new: Binding, insteadOf replaced: Binding?, in node: Node, _ garbage: inout Garbage) {
    if let logNumber = node.treeLocked.extras?.logNumber, logNumber != 0 {
      let contextKey = ContextKey(logNumber: logNumber, key: new.keyID)
      if let known = unsafe indices[contextKey] {
        let kept = known.filter { index in
          guard let object = unsafe ring[index].object else { return false }
          Schedule.reached(.loadedToLook)
          garbage.add(object, unsafe ring[index].reach)
          return Unretained(object).address != new.form.address
        }
        unsafe indices[contextKey] = kept.isEmpty ? nil : kept.suffix(keptOfKey)
      }
    }
    // An instance that is bound again is not replaced. Nor is one that has died, because its successor may be at the
    // same address.
    guard let replaced, replaced.form.address != new.form.address, let object = replaced.object else { return }
    Schedule.reached(.loadedToLook)
    garbage.add(object, of: replaced)
    note(replaced, of: object, .replaced(new.site))
  }

  /// The records under a key in one context, the last one first.
  static func of(_ key: KeyIdentity, in node: Node) -> [RemovedBinding] {
    guard let logNumber = node.treeLocked.extras?.logNumber, logNumber != 0 else { return [] }
    let known = unsafe indices[ContextKey(logNumber: logNumber, key: key.id)] ?? []
    return known.reversed().map { unsafe ring[$0] }
  }

  static func removeAll() {
    unsafe ring = []
    unsafe oldest = 0
    unsafe indices = [:]
  }
}
