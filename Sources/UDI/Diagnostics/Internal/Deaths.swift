/// A binding whose object has died.
struct Death {
  /// The key's id. The key itself is not held: its name may be an object.
  let key: UInt64
  let objectType: Any.Type?
  let site: CallSite
  /// The context's `Node.diaryNumber`; 0 when it no longer counts.
  var place: UInt
  /// When it was found dead; of an object that takes part in the tree, when it died.
  let noticed: ContinuousClock.Instant
}

/// The last bindings whose objects have died, in all trees. Everything here runs under the tree lock.
enum Deaths {
  /// Guarded by the tree lock: a ring, once it is full.
  @exclusivity(unchecked) private nonisolated(unsafe) static var ring: ContiguousArray<Death> = []
  /// Guarded by the tree lock: where the oldest one is in a full ring.
  @exclusivity(unchecked) private nonisolated(unsafe) static var oldest = 0
  /// Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastPlace: UInt = 0

  /// Notes that a binding is withdrawn, if it is because its object has died.
  static func note(_ binding: Binding, _ garbage: inout Garbage) {
    // Asked once more under the lock, so that nothing is noted after `removeAll`.
    guard UDIRecording.isOn, let node = binding.node else { return }
    if let alive = binding.object {
      Schedule.reached(.loadedToLook)
      return garbage.add(alive)
    }
    if node.diaryNumber == 0 {
      unsafe lastPlace += 1
      node.diaryNumber = unsafe lastPlace
    }
    let death = Death(
      key: binding.keyID, objectType: (binding as? DetailedBinding)?.objectType, site: binding.site,
      place: node.diaryNumber, noticed: .now)
    guard unsafe ring.count == UDIRecording.capacity else { return unsafe ring.append(death) }
    unsafe ring[oldest] = death
    unsafe oldest = (oldest + 1) % ring.count
  }

  /// Those under a key in one context, the last one first.
  static func of(_ key: KeyIdentity, in node: Node) -> [Death] {
    guard node.diaryNumber != 0 else { return [] }
    let count = unsafe ring.count
    return (0..<count).reversed().compactMap { age in
      let death = unsafe ring[(oldest + age) % count]
      return death.place == node.diaryNumber && death.key == key.id ? death : nil
    }
  }

  /// Forgets those under a key in one context, where something else is bound now.
  static func forget(_ key: KeyIdentity, in node: Node) {
    guard node.diaryNumber != 0 else { return }
    for index in unsafe ring.indices where unsafe ring[index].place == node.diaryNumber && ring[index].key == key.id {
      unsafe ring[index].place = 0
    }
  }

  static func removeAll() {
    unsafe ring = []
    unsafe oldest = 0
  }
}
