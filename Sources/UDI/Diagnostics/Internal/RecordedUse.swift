/// The record that an object or a factory has looked something up, and found it. It keeps neither the dependent nor the
/// dependency alive.
package final class RecordedUse {
  /// The attachment of the object, or the provider that the factory belongs to.
  fileprivate weak let dependent: AnyObject?
  /// The address of the attachment or the provider.
  package let dependentAddress: UInt
  /// The class of the object; nil for a provider.
  private let objectType: Any.Type?
  /// The key that was looked up.
  package let key: KeyIdentity
  /// The context where the lookup began. It might be gone, so its address is only compared.
  package let node: Node
  /// The address of the binding, provider or override that was found. It might be gone, or removed from its context.
  package let entryAddress: UInt
  fileprivate weak let entry: Entry?
  /// A later record has a higher number.
  fileprivate let number: UInt64

  fileprivate init(of entry: Entry, by dependent: Dependent, from node: Node, number: UInt64) {
    (self.dependent, objectType) = (dependent.identity, dependent.objectType)
    dependentAddress = Unretained(dependent.identity).address
    (key, self.node, self.number) = (entry.key, node, number)
    (entryAddress, self.entry) = (Unretained(entry).address, entry)
  }

  /// Of an object, only the latest result under each key is recorded. A factory may run for several contexts, so each
  /// of its results is recorded. A record takes the place of another one with the same number here.
  fileprivate var place: UInt64 {
    let found = objectType == nil ? UInt64(entryAddress) : key.id
    return scrambledID(UInt64(dependentAddress)) ^ found
  }

  /// The entry that was found, if it still exists. The garbage keeps it alive.
  package func found(_ garbage: inout Garbage) -> Entry? { garbage.held(entry) }

  /// The dependent as seen under the tree lock; nil if the object has been released or the provider has been removed.
  ///
  /// - Returns: The identity of the dependent among all that are alive; the address of the object or the provider; the
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
    return (ObjectIdentifier(dependent), attachment?.address ?? dependentAddress, node, description)
  }
}

/// The result of `RecordedUse.sighting`.
package typealias DependentSighting = (id: ObjectIdentifier, address: UInt, node: Node?, dependent: UDIDependent)

/// The records of lookups in all trees. Call everything here under the tree lock.
///
/// Code that reads records first compares addresses, and looks only at dependents and entries of the tree that it is
/// about. Looking at those of another tree would hold them for a moment. That would delay the effects of their release,
/// in a program that has nothing to do with the reader.
extension UDIRecording {
  /// The records, by their places. Guarded by the tree lock.
  @exclusivity(unchecked) fileprivate nonisolated(unsafe) static var uses = ObjectTable<RecordedUse>()
  /// The number of the latest record (`RecordedUse.number`). Guarded by the tree lock.
  @exclusivity(unchecked) fileprivate nonisolated(unsafe) static var lastUse: UInt64 = 0

  /// The records that satisfy a predicate, the oldest first.
  package static func uses(where isWanted: (RecordedUse) -> Bool) -> [RecordedUse] {
    unsafe uses.values.filter(isWanted).inOrder(of: \.number)
  }

  static func removeAllUses() { unsafe uses = ObjectTable() }

  /// Drops the records of dependents that are gone and, if there are still too many, the oldest, so that a quarter of
  /// the capacity is free.
  fileprivate static func dropOldUses(_ garbage: inout Garbage) {
    let kept = uses { garbage.held($0.dependent) != nil }.suffix(capacityOfUses * 3 / 4)
    removeAllUses()
    for use in kept { unsafe uses[use.place] = use }
  }
}

extension Node {
  /// Records that a dependent has found an entry in a lookup that began here.
  func noteUse(of found: Entry, by dependent: Dependent, _ garbage: inout Garbage) {
    // `isRecording` is checked again under the lock, because recording may have been switched off, and the records
    // removed, since the caller's check.
    guard isRecording, let entry = found.registeredEntry else { return }
    garbage.add(entry)
    unsafe UDIRecording.lastUse += 1
    let use = unsafe RecordedUse(of: entry, by: dependent, from: self, number: UDIRecording.lastUse)
    let old = unsafe UDIRecording.uses[use.place]
    if garbage.held(old?.dependent) === dependent.identity, garbage.held(old?.entry) === entry { return }
    if unsafe UDIRecording.uses.count >= UDIRecording.capacityOfUses { UDIRecording.dropOldUses(&garbage) }
    unsafe UDIRecording.uses[use.place] = use
  }

  static func description(of entry: Entry, _ garbage: inout Garbage) -> UDIEntry {
    (entry.registeredEntry ?? entry).described(&garbage)
  }
}
