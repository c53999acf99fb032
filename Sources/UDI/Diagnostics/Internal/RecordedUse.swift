/// The record that an object or a factory has looked up a dependency. The record keeps none of them alive.
package final class RecordedUse {
  /// The attachment of the object that looked the dependency up, or the provider whose factory did.
  private(set) weak var dependent: AnyObject?
  /// The class of the object; nil for a provider.
  let objectType: Any.Type?
  /// What was looked up.
  package let key: KeyIdentity
  /// The binding, provider or override that was found. It might have been removed from its context since.
  private(set) weak var entry: Entry?
  /// Identifies the record: a hash of the id of the key; of the address of the provider, or of the object's attachment;
  /// and of the address of the entry that the provider's factory found, or 0 for an object. For an object, only its
  /// latest result under the key is recorded. A factory may run for several contexts, so each of its results is
  /// recorded. (If two hashes were equal, which is next to impossible, the later record would replace the earlier one.)
  fileprivate let id: UInt64
  /// A later record has a higher number.
  fileprivate let number: UInt64

  fileprivate init(of entry: Entry, by dependent: Dependent, id: UInt64, number: UInt64) {
    (objectType, key) = (dependent.objectType, entry.key)
    (self.id, self.number) = (id, number)
    self.dependent = dependent.identity
    self.entry = entry
  }

  /// The dependent as seen under the tree lock; nil if the object has been released or the provider has been removed.
  ///
  /// - Returns: What identifies the dependent among all that are alive; the address of the object or the provider; the
  ///   node of the context that the object is attached to or that the provider is registered in; and a description.
  package func sighting(_ garbage: inout Garbage) -> DependentSighting? {
    guard let dependent = garbage.held(dependent) else { return nil }
    let provider = dependent as? Provider
    let attachment = dependent as? UDIAttachment
    let context = garbage.held(attachment?.context)
    let node = provider?.node ?? context?.withNode { $0 }
    if provider != nil, node == nil { return nil }
    let description = UDIDependent(
      isProvider: provider != nil, typeName: (provider?.key.type ?? objectType.map { .of($0) })?.text ?? "",
      name: provider?.name?.description, fullPath: node?.fullPath ?? [])
    let address = attachment?.address ?? Unretained(dependent).address
    return (ObjectIdentifier(dependent), address, node, description)
  }
}

/// What `RecordedUse.sighting` returns.
package typealias DependentSighting = (id: ObjectIdentifier, address: UInt, node: Node?, dependent: UDIDependent)

/// The records of who needs what. Call everything here under the tree lock.
extension UDIRecording {
  /// The records, by their ids. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var uses = ObjectTable<RecordedUse>()
  /// The number of the latest record (`RecordedUse.number`). Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastUse: UInt64 = 0

  /// The records of lookups under the given key, or all records, the oldest first.
  package static func uses(of key: KeyIdentity? = nil) -> [RecordedUse] {
    var found: [RecordedUse] = []
    unsafe uses.forEach { if key == nil || $0.key === key { found.append($0) } }
    return found.inOrder(of: \.number)
  }

  static func removeAllUses() { unsafe uses = ObjectTable() }

  /// Records that a dependent has found an entry.
  static func noteUse(of found: Entry, by dependent: Dependent, _ garbage: inout Garbage) {
    // `isOn` is checked again under the lock, because recording may have been switched off, and the records removed,
    // since the caller's check.
    guard isOn, let entry = found.registeredEntry else { return }
    garbage.add(entry)
    let entryID = dependent.objectType == nil ? Unretained(entry).address : 0
    let words = scrambled(entry.keyID) ^ UInt64(Unretained(dependent.identity).address)
    let id = scrambled(words ^ words >> 32) ^ UInt64(entryID)
    if let present = unsafe uses[id] {
      // The record might be that of a dependent that has been released, and whose address is in use again.
      if garbage.held(present.entry) === entry, present.dependent != nil { return }
    } else if unsafe uses.count >= capacityOfUses {
      // Drops all records whose dependent or dependency is gone, and then the oldest, until at least a quarter of the
      // capacity is free.
      let present = uses().filter { $0.sighting(&garbage) != nil && garbage.held($0.entry)?.node != nil }
      unsafe uses = ObjectTable()
      for use in present.suffix(capacityOfUses * 3 / 4) { unsafe uses[use.id] = use }
    }
    unsafe lastUse += 1
    unsafe uses[id] = RecordedUse(of: entry, by: dependent, id: id, number: lastUse)
  }
}

extension Entry {
  /// The entry that user code registered: this entry itself, or its provider if the entry is an instance that a
  /// provider keeps. Nil if this entry has been removed from its context.
  var registeredEntry: Entry? {
    if node == nil { return nil }
    guard let made = self as? InstanceEntry, !made.isOverride else { return self }
    return made.maker
  }
}
