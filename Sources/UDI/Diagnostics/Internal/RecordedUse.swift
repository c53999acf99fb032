/// What an object or a factory has looked up. The record keeps neither the dependent nor what it has found alive.
package final class DependentUses {
  /// The attachment of the object, or the provider that the factory belongs to.
  fileprivate weak let dependent: AnyObject?
  /// The address of the attachment or the provider.
  package let address: UInt
  /// The class of the object; nil for a provider.
  let objectType: Any.Type?
  fileprivate var uses: [RecordedUse] = []

  fileprivate init(_ dependent: Dependent) {
    (self.dependent, objectType) = (dependent.identity, dependent.objectType)
    address = Unretained(dependent.identity).address
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
    return (ObjectIdentifier(dependent), attachment?.address ?? address, node, description)
  }
}

/// The record that a dependent has found something.
package final class RecordedUse {
  /// Holds this record, and so is not held by it.
  package unowned let dependent: DependentUses
  /// The key that was looked up.
  package let key: KeyIdentity
  /// The context where the lookup began. It might be gone, so its address is only compared.
  package let node: Node
  /// The address of the binding, provider or override that was found. It might be gone, or removed from its context.
  package let entryAddress: UInt
  fileprivate weak let entry: Entry?
  /// A later record has a higher number.
  fileprivate let number: UInt64

  fileprivate init(of entry: Entry, by dependent: DependentUses, from node: Node, number: UInt64) {
    (self.dependent, key, self.node, self.number) = (dependent, entry.key, node, number)
    (entryAddress, self.entry) = (Unretained(entry).address, entry)
  }

  /// What was found, if it still exists. The garbage keeps it alive.
  package func found(_ garbage: inout Garbage) -> Entry? { garbage.held(entry) }
}

/// What `DependentUses.sighting` returns.
package typealias DependentSighting = (id: ObjectIdentifier, address: UInt, node: Node?, dependent: UDIDependent)

/// The records of who needs what, of all trees. Call everything here under the tree lock.
///
/// Whoever reads records first compares addresses, and looks only at dependents and entries of the tree that it is
/// about. To look at those of another tree would hold them for a moment, and so put off what their release does, in a
/// program that has nothing to do with the reader.
extension UDIRecording {
  /// The records, by the addresses of the dependents. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var uses = ObjectTable<DependentUses>()
  /// The number of the latest record (`RecordedUse.number`). Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var lastUse: UInt64 = 0
  /// How many records there are. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var useCount = 0

  /// The records that satisfy a predicate, the oldest first.
  package static func uses(where isWanted: (RecordedUse) -> Bool) -> [RecordedUse] {
    var found: [RecordedUse] = []
    unsafe uses.forEach { found += $0.uses.filter(isWanted) }
    return found.inOrder(of: \.number)
  }

  static func removeAllUses() {
    unsafe uses = ObjectTable()
    unsafe useCount = 0
  }

  /// Removes the records of a dependent that goes away.
  @inline(__always)
  static func removeUses(of dependent: AnyObject) { if unsafe useCount > 0 { remove(Unretained(dependent).address) } }

  private static func remove(_ dependent: UInt) {
    let address = UInt64(dependent)
    guard let gone = unsafe uses[address] else { return }
    unsafe useCount -= gone.uses.count
    unsafe uses[address] = nil
  }

  /// Records that a dependent has found an entry in a lookup that began at the given node. Of an object, only the
  /// latest result under each key is recorded. A factory may run for several contexts, so each of its results is
  /// recorded.
  static func noteUse(of found: Entry, by dependent: Dependent, from node: Node, _ garbage: inout Garbage) {
    // `isOn` is checked again under the lock, because recording may have been switched off, and the records removed,
    // since the caller's check.
    guard isOn, let entry = found.registeredEntry else { return }
    // The records of a provider go when it leaves its context, so there must not be any after that.
    if let provider = dependent.identity as? Provider, provider.node == nil { return }
    garbage.add(entry)
    let (address, entryAddress) = (UInt64(Unretained(dependent.identity).address), Unretained(entry).address)
    // There might be the records of a dependent that had the same address, and has been released.
    if unsafe uses[address]?.dependent !== dependent.identity { removeUses(of: dependent.identity) }
    let all = unsafe uses[address] ?? DependentUses(dependent)
    let old = all.uses.firstIndex {
      $0.key === entry.key && (dependent.objectType != nil || $0.entryAddress == entryAddress)
    }
    if let old, garbage.held(all.uses[old].entry) === entry { return }
    if unsafe old == nil && useCount >= capacityOfUses { dropOldUses() }
    unsafe lastUse += 1
    let use = unsafe RecordedUse(of: entry, by: all, from: node, number: lastUse)
    if let old {
      all.uses[old] = use
    } else {
      all.uses.append(use)
      unsafe useCount += 1
    }
    unsafe uses[address] = all
  }

  /// Drops the oldest records, so that a quarter of the capacity is free.
  private static func dropOldUses() {
    let kept = uses { _ in true }.suffix(capacityOfUses * 3 / 4)
    let oldest = kept.first?.number ?? 0
    unsafe uses.forEach { $0.uses.removeAll { $0.number < oldest } }
    unsafe useCount = kept.count
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
