/// The record that an object or a factory has looked up a dependency. The record keeps none of them alive.
struct RecordedUse {
  /// The attachment of the object that looked the dependency up, or the provider whose factory did.
  private(set) weak var dependent: AnyObject?
  /// The class of the object; nil for a provider.
  let objectType: Any.Type?
  /// What was looked up.
  let key: KeyIdentity
  /// The binding, provider or override that was found. It might have been removed from its context since.
  private(set) weak var entry: Entry?
  fileprivate let id: UDIRecording.UseID
  /// A later record has a higher number.
  fileprivate let number: Int

  /// Whether the dependent or the dependency is gone.
  fileprivate func isStale(_ garbage: inout Garbage) -> Bool {
    let (dependent, entry) = (dependent, entry)
    for case let loaded? in [dependent, entry] { garbage.add(loaded) }
    return dependent == nil || (dependent as? Provider).map { $0.node == nil } ?? false || entry?.node == nil
  }
}

/// The records of who needs what. Call everything here under the tree lock.
extension UDIRecording {
  /// Identifies a record under a key. For an object, only its latest result is recorded. A factory runs for several
  /// contexts, so each of its results is recorded.
  fileprivate struct UseID: Hashable {
    /// The address of the provider, or of the object's attachment.
    let dependent: UInt
    /// The address of the entry that a factory found; 0 for an object.
    let entry: UInt
  }

  /// The records, by the ids of the keys and then by their own. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var uses: [UInt64: [UseID: RecordedUse]] = [:]
  /// The number of records, and that of the latest record. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var useCount = 0
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastUse = 0

  /// All records, the oldest first.
  static var allUses: [RecordedUse] { unsafe uses.values.flatMap(\.values).sorted { $0.number < $1.number } }

  /// The records of lookups under the given key, the oldest first.
  static func uses(of key: UInt64) -> [RecordedUse] {
    unsafe (uses[key] ?? [:]).values.sorted { $0.number < $1.number }
  }

  static func removeAllUses() { keepUses([]) }

  private static func keepUses(_ kept: some Collection<RecordedUse>) {
    unsafe uses = [:]
    unsafe useCount = kept.count
    for use in kept { unsafe uses[use.key.id, default: [:]][use.id] = use }
  }

  /// Records that a dependent has found an entry.
  static func noteUse(of found: Entry, by dependent: Dependent, _ garbage: inout Garbage) {
    // `isOn` is checked again under the lock, because recording may have been switched off, and the records removed,
    // since the caller's check.
    guard isOn, let entry = found.registeredEntry else { return }
    garbage.add(entry)
    let id = UseID(
      dependent: Unretained(dependent.identity).address,
      entry: dependent.objectType == nil ? Unretained(entry).address : 0)
    if let present = unsafe uses[entry.keyID]?[id] {
      let presentEntry = present.entry
      if let presentEntry { garbage.add(presentEntry) }
      // The record might be that of a released object or removed provider, whose address has been used again.
      if presentEntry === entry, present.dependent != nil { return }
    } else {
      if unsafe useCount >= capacityOfUses { dropUses(&garbage) }
      unsafe useCount += 1
    }
    unsafe lastUse += 1
    unsafe uses[entry.keyID, default: [:]][id] = RecordedUse(
      dependent: dependent.identity, objectType: dependent.objectType, key: entry.key, entry: entry, id: id,
      number: lastUse)
  }

  /// Drops records until a quarter of the capacity is free: first records whose dependent or dependency is gone, then
  /// the oldest.
  private static func dropUses(_ garbage: inout Garbage) {
    keepUses(allUses.filter { !$0.isStale(&garbage) }.suffix(capacityOfUses * 3 / 4))
  }
}

extension Entry {
  /// The entry that user code registered: this entry itself, or its provider if the entry is an instance that a
  /// provider keeps. Nil if this entry has been removed from its context.
  var registeredEntry: Entry? {
    if node == nil { return nil }
    guard let made = self as? InstanceEntry, !(made is Substitute) else { return self }
    return made.maker
  }
}
