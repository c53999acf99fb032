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
  weak var object: AnyObject?
  /// Where it was bound.
  let site: CallSite
  /// The context's `Node.diaryNumber`; 0 when it no longer counts.
  var place: UInt
  let end: End
  /// When it was found dead, replaced or withdrawn. Of an object that takes part in the tree, when it died.
  let time: ContinuousClock.Instant
}

/// The last bindings that are gone because their objects have died or because of another `bind`, in all trees. Everything here runs
/// under the tree lock.
enum Records {
  /// Guarded by the tree lock: a ring, once it is full.
  @exclusivity(unchecked) private nonisolated(unsafe) static var ring: ContiguousArray<Record> = []
  /// Guarded by the tree lock: where the oldest one is in a full ring.
  @exclusivity(unchecked) private nonisolated(unsafe) static var oldest = 0
  /// Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastPlace: UInt = 0

  /// Notes that a binding is taken out of its context.
  ///
  /// - Parameter end: Why, if its object is alive; nil where that is nothing to remember.
  static func note(_ binding: Binding, _ end: Record.End?, _ garbage: inout Garbage) {
    // Asked once more under the lock, so that nothing is noted after `removeAll`.
    guard UDIRecording.isOn, let node = binding.node else { return }
    let object = binding.object
    if let object { garbage.add(object) }
    guard let end = object == nil ? .died : end else { return }
    if node.diaryNumber == 0 {
      unsafe lastPlace += 1
      node.diaryNumber = unsafe lastPlace
    }
    let objectType = object.map { type(of: $0) } ?? (binding as? DetailedBinding)?.objectType
    let record = Record(
      key: binding.keyID, objectType: objectType, object: object, site: binding.site, place: node.diaryNumber, end: end,
      time: .now)
    guard unsafe ring.count == UDIRecording.capacity else { return unsafe ring.append(record) }
    unsafe ring[oldest] = record
    unsafe oldest = (oldest + 1) % ring.count
  }

  /// Notes that something is bound in a context, in the place of another binding or of none.
  ///
  /// Of earlier ones under its key those are forgotten that are dead, because what counts is the new one, and those of the same instance,
  /// which is back. One that is alive and is not back stays: if the new one goes, that is what is missed.
  static func noteBind(_ new: Binding, insteadOf replaced: Binding?, in node: Node, _ garbage: inout Garbage) {
    if node.diaryNumber != 0 {
      for index in unsafe ring.indices
      where unsafe ring[index].place == node.diaryNumber && ring[index].key == new.keyID {
        let object = unsafe ring[index].object
        if let object { garbage.add(object) }
        guard object.map({ Unretained($0).address == new.form.address }) ?? true else { continue }
        unsafe ring[index].place = 0
        unsafe ring[index].object = nil
      }
    }
    // What is dead is replaced by nothing that it would matter to know.
    guard let replaced, let object = replaced.object else { return }
    garbage.add(object)
    if Unretained(object).address != new.form.address { note(replaced, .replaced(new.site), &garbage) }
  }

  /// Those under a key in one context, the last one first.
  static func of(_ key: KeyIdentity, in node: Node) -> [Record] {
    guard node.diaryNumber != 0 else { return [] }
    let count = unsafe ring.count
    return (0..<count).reversed().compactMap { age in
      let record = unsafe ring[(oldest + age) % count]
      return record.place == node.diaryNumber && record.key == key.id ? record : nil
    }
  }

  static func removeAll() {
    unsafe ring = []
    unsafe oldest = 0
  }
}
