/// What is remembered of a binding that is gone.
struct Record {
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
  /// The instance, which may be alive if it was replaced or withdrawn. What is loaded under the tree lock has to leave it.
  weak let object: AnyObject?
  /// Where the instance may be used.
  let reach: Reach
  /// Where it was bound.
  let site: CallSite
  /// The context's `Node.diaryNumber`.
  let place: UInt
  let end: End
  /// When it was found dead, replaced or withdrawn. Of an object that takes part in the tree, when it died.
  let time: ContinuousClock.Instant
}

/// The last bindings that are gone because their objects have died or because of another `bind`, in all trees. Everything here runs
/// under the tree lock.
enum Records {
  /// A key in a context.
  private struct Slot: Hashable {
    /// The context's `Node.diaryNumber`.
    let place: UInt
    /// The key's id.
    let key: UInt64
  }

  /// Guarded by the tree lock: a ring, once it is full. Those that are forgotten stay in it until others take their place.
  @exclusivity(unchecked) private nonisolated(unsafe) static var ring: ContiguousArray<Record> = []
  /// Guarded by the tree lock: where the oldest one is in a full ring.
  @exclusivity(unchecked) private nonisolated(unsafe) static var oldest = 0
  /// Guarded by the tree lock: where those of each slot are in the ring, the oldest first.
  @exclusivity(unchecked) private nonisolated(unsafe) static var indices: [Slot: [Int]] = [:]
  /// Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastPlace: UInt = 0

  /// Notes that a binding is taken out of its context.
  ///
  /// - Parameter end: Why it is taken out, which counts if its object is still alive; nil if that need not be remembered.
  static func note(_ binding: Binding, _ end: Record.End?, _ garbage: inout Garbage) {
    let object = binding.object
    if let object {
      Schedule.reached(.loadedToLook)
      garbage.add(object, of: binding)
    }
    if let end = object == nil ? .died : end { note(binding, of: object, end) }
  }

  private static func note(_ binding: Binding, of object: AnyObject?, _ end: Record.End) {
    // Asked once more under the lock, so that nothing is noted after `removeAll`.
    guard UDIRecording.isOn, let node = binding.node else { return }
    if node.diaryNumber == 0 {
      unsafe lastPlace += 1
      node.diaryNumber = unsafe lastPlace
    }
    let objectType = object.map { type(of: $0) } ?? (binding as? DetailedBinding)?.objectType
    add(
      Record(
        key: binding.keyID, objectType: objectType, object: object, reach: binding.reach, site: binding.site,
        place: node.diaryNumber,
        end: end, time: .now))
  }

  /// So many are kept of one slot, whatever is bound there in turn.
  private static var keptOfSlot: Int { 8 }

  private static func add(_ record: Record) {
    let slot = Slot(place: record.place, key: record.key)
    guard unsafe ring.count == UDIRecording.capacity else {
      unsafe indices[slot, default: []].append(ring.count)
      return unsafe ring.append(record)
    }
    let old = unsafe Slot(place: ring[oldest].place, key: ring[oldest].key)
    unsafe indices[old]?.removeAll { unsafe $0 == oldest }
    if unsafe indices[old]?.isEmpty == true { unsafe indices[old] = nil }
    unsafe indices[slot, default: []].append(oldest)
    unsafe ring[oldest] = record
    unsafe oldest = (oldest + 1) % ring.count
  }

  /// Notes that something is bound in a context, in the place of another binding or of none.
  ///
  /// Forgets the earlier records under its key whose objects are dead, because the new binding counts now, and those of the same instance,
  /// which is bound again. Records of other objects that are alive stay: if the new binding goes, they explain what became of those.
  @inline(never)
  static func noteBind(_ new: Binding, insteadOf replaced: Binding?, in node: Node, _ garbage: inout Garbage) {
    if node.diaryNumber != 0 {
      let slot = Slot(place: node.diaryNumber, key: new.keyID)
      if let known = unsafe indices[slot] {
        let kept = known.filter { index in
          guard let object = unsafe ring[index].object else { return false }
          Schedule.reached(.loadedToLook)
          garbage.add(object, unsafe ring[index].reach)
          return Unretained(object).address != new.form.address
        }
        unsafe indices[slot] = kept.isEmpty ? nil : kept.suffix(keptOfSlot)
      }
    }
    // What is bound once more is not replaced; nor is one that has died, whose successor may be in its place in memory.
    guard let replaced, replaced.form.address != new.form.address, let object = replaced.object else { return }
    Schedule.reached(.loadedToLook)
    garbage.add(object, of: replaced)
    note(replaced, of: object, .replaced(new.site))
  }

  /// Those under a key in one context, the last one first.
  static func of(_ key: KeyIdentity, in node: Node) -> [Record] {
    guard node.diaryNumber != 0 else { return [] }
    let known = unsafe indices[Slot(place: node.diaryNumber, key: key.id)] ?? []
    return known.reversed().map { unsafe ring[$0] }
  }

  static func removeAll() {
    unsafe ring = []
    unsafe oldest = 0
    unsafe indices = [:]
  }
}
