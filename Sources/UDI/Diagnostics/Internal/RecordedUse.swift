/// The record that an object or a factory has looked up a dependency. The record keeps none of them alive.
struct RecordedUse {
  /// The attachment and the class of the object that looked the dependency up; nil if a factory did.
  private(set) weak var attachment: UDIAttachment?
  let objectType: Any.Type?
  /// The provider whose factory looked the dependency up; nil if an object did.
  private(set) weak var provider: Provider?
  /// The type that was looked up.
  let type: TypeIdentity
  /// The description of the name that was looked up, if there was one.
  let name: String?
  let keyID: UInt64
  /// The binding, provider or override that was found. It might have been removed from its context since.
  private(set) weak var entry: Entry?

  fileprivate init(_ dependent: Dependent, _ entry: Entry) {
    switch dependent {
    case .object(let attachment, let type): (self.attachment, objectType) = (attachment, type)
    case .provider(let provider): (self.provider, objectType) = (provider, nil)
    }
    (type, name) = (entry.key.type, entry.name?.description)
    keyID = entry.keyID
    self.entry = entry
  }
}

/// The records of who needs what. Call everything here under the tree lock.
extension UDIRecording {
  /// Identifies a record. For an object, only its latest result under a key is recorded. A factory runs for several
  /// contexts, so each of its results is recorded.
  fileprivate struct UseID: Hashable {
    /// The provider's id, or the address of the object's attachment.
    private let dependent: UInt
    private let isProvider: Bool
    let key: UInt64
    private let entry: UInt

    init(_ dependent: Dependent, _ found: Entry) {
      key = found.keyID
      switch dependent {
      case .object(let attachment, _):
        (self.dependent, isProvider, entry) = (Unretained(attachment).address, false, 0)
      case .provider(let provider):
        (self.dependent, isProvider, entry) = (provider.id, true, Unretained(found).address)
      }
    }
  }

  /// The records by their numbers. A later record has a higher number. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var uses: [Int: (id: UseID, use: RecordedUse)] = [:]
  /// The number of each record. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var useNumbers: [UseID: Int] = [:]
  /// For the id of each key, the numbers of the records of lookups under that key. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var useNumbersOfKeys: [UInt64: Set<Int>] = [:]
  /// The number of the latest record. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastUse = 0

  /// All records, the oldest first.
  static var allUses: [RecordedUse] { unsafe uses.sorted { $0.key < $1.key }.map(\.value.use) }

  /// The records of lookups under the given key, the oldest first.
  static func uses(of key: UInt64) -> [RecordedUse] {
    unsafe (useNumbersOfKeys[key] ?? []).sorted().compactMap { unsafe uses[$0]?.use }
  }

  static func removeAllUses() {
    unsafe uses = [:]
    unsafe useNumbers = [:]
    unsafe useNumbersOfKeys = [:]
  }

  private static func removeUse(_ number: Int) {
    guard let id = unsafe uses.removeValue(forKey: number)?.id else { return }
    unsafe useNumbers[id] = nil
    unsafe useNumbersOfKeys[id.key]?.remove(number)
    if unsafe useNumbersOfKeys[id.key]?.isEmpty == true { unsafe useNumbersOfKeys[id.key] = nil }
  }

  /// Records that a dependent has found an entry.
  static func noteUse(of found: Entry, by dependent: Dependent, _ garbage: inout Garbage) {
    // `isOn` is checked again under the lock, because recording may have been switched off, and the records removed,
    // since the caller's check.
    guard isOn, let entry = found.registeredEntry else { return }
    garbage.add(entry)
    let id = UseID(dependent, entry)
    if let number = unsafe useNumbers[id], let present = unsafe uses[number]?.use {
      let presentEntry = present.entry
      if let presentEntry { garbage.add(presentEntry) }
      // The record might be that of a released object or removed provider, whose address or id has been used again.
      if presentEntry === entry, present.attachment != nil || present.provider != nil { return }
      removeUse(number)
    } else if unsafe uses.count >= capacityOfUses {
      dropUses(&garbage)
    }
    unsafe lastUse += 1
    unsafe uses[lastUse] = (id, RecordedUse(dependent, entry))
    unsafe useNumbers[id] = lastUse
    unsafe useNumbersOfKeys[id.key, default: []].insert(lastUse)
  }

  /// Drops records until a quarter of the capacity is free: first records whose dependent or dependency is gone, then
  /// the oldest.
  private static func dropUses(_ garbage: inout Garbage) {
    for number in unsafe uses.filter({ $0.value.use.isStale(&garbage) }).keys { removeUse(number) }
    let excess = unsafe uses.count - capacityOfUses * 3 / 4
    if excess > 0 { for number in unsafe uses.keys.sorted().prefix(excess) { removeUse(number) } }
  }
}

extension RecordedUse {
  /// Whether the dependent or the dependency is gone.
  fileprivate func isStale(_ garbage: inout Garbage) -> Bool {
    let (attachment, provider, entry) = (attachment, provider, entry)
    for case let loaded? in [attachment, provider, entry] as [AnyObject?] { garbage.add(loaded) }
    return attachment == nil && provider?.node == nil || entry?.node == nil
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
