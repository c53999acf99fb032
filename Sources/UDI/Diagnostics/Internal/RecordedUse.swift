/// The record of a dependency that somebody looked up. It keeps neither the one nor the other alive.
struct RecordedUse {
  /// The object that looked the dependency up, and its class; nil if a factory did.
  private(set) weak var attachment: UDIAttachment?
  let objectType: Any.Type?
  /// The provider whose factory looked the dependency up; nil if an object did.
  private(set) weak var provider: Provider?
  /// The type that was looked up.
  let type: TypeIdentity
  /// The description of the name that was looked up, if there was one.
  fileprivate(set) var name: String?
  let keyID: UInt64
  /// The binding, the provider or the override that was found. It might have left its context since.
  private(set) weak var entry: Entry?

  fileprivate init(_ dependent: Dependent, _ entry: Entry) {
    switch dependent {
    case .object(let attachment, let type): (self.attachment, objectType) = (attachment, type)
    case .provider(let provider): (self.provider, objectType) = (provider, nil)
    }
    type = entry.key.type
    keyID = entry.keyID
    self.entry = entry
  }
}

/// The records of who needs what. Everything here runs under the tree lock.
extension UDIRecording {
  /// What distinguishes records. Of what an object looks up under one key, only the latest counts. A factory runs for
  /// several contexts, so everything that it finds counts.
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

  /// Guarded by the tree lock: the records by their numbers, which rise.
  @exclusivity(unchecked) private nonisolated(unsafe) static var uses: [Int: (id: UseID, use: RecordedUse)] = [:]
  /// Guarded by the tree lock: the numbers of the records.
  @exclusivity(unchecked) private nonisolated(unsafe) static var useNumbers: [UseID: Int] = [:]
  /// Guarded by the tree lock: the numbers of the records about what was found under a key, by the keys' ids.
  @exclusivity(unchecked) private nonisolated(unsafe) static var useNumbersOfKeys: [UInt64: Set<Int>] = [:]
  /// Guarded by the tree lock: the number of the last record.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastUse = 0

  /// All records, the oldest first.
  static var allUses: [RecordedUse] { unsafe uses.sorted { $0.key < $1.key }.map(\.value.use) }

  /// The records about what was found under a key, the oldest first.
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

  /// Records that an entry was found.
  static func noteUse(of found: Entry, by dependent: Dependent, _ garbage: inout Garbage) {
    // `isOn` is checked again under the lock, so that nothing is recorded after the records have been removed.
    guard isOn, let entry = found.registeredEntry else { return }
    garbage.add(entry)
    let id = UseID(dependent, entry)
    if let number = unsafe useNumbers[id], let present = unsafe uses[number]?.use {
      let presentEntry = present.entry
      if let presentEntry { garbage.add(presentEntry) }
      // A record of somebody who is dead by now might have the same id.
      if presentEntry === entry, present.attachment != nil || present.provider != nil { return }
      removeUse(number)
    } else if unsafe uses.count >= capacityOfUses {
      dropUses(&garbage)
    }
    unsafe lastUse += 1
    unsafe uses[lastUse] = (id, RecordedUse(dependent, entry))
    unsafe useNumbers[id] = lastUse
    unsafe useNumbersOfKeys[id.key, default: []].insert(lastUse)
    if let name = entry.name { garbage.add(UsedName(unsafe lastUse, name)) }
  }

  /// Drops records until a quarter is free: first those of dependents or dependencies that are gone, then the oldest.
  private static func dropUses(_ garbage: inout Garbage) {
    for number in unsafe uses.filter({ $0.value.use.isStale(&garbage) }).keys { removeUse(number) }
    let excess = unsafe uses.count - capacityOfUses * 3 / 4
    if excess > 0 { for number in unsafe uses.keys.sorted().prefix(excess) { removeUse(number) } }
  }

  fileprivate static func setName(_ name: String, ofUse number: Int) { unsafe uses[number]?.use.name = name }
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
  /// What was registered: the entry itself, or the provider if this is an instance that a provider keeps. Nil if the
  /// entry has left its context.
  var registeredEntry: Entry? {
    if node == nil { return nil }
    guard let made = self as? InstanceEntry, !(made is Substitute) else { return self }
    return made.maker
  }
}

/// Describes the name in a new record. The description is user code, so this happens when the change's garbage is
/// released.
private final class UsedName {
  private let number: Int
  private let name: UDIName

  init(_ number: Int, _ name: UDIName) {
    self.number = number
    self.name = name
  }

  deinit {
    let text = name.description
    Tree.change { _ in UDIRecording.setName(text, ofUse: number) }
  }
}
