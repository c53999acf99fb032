import Synchronization

/// A key with a name. There is one object for each pair of type and name, which lives as long as something holds it.
final class NamedKey: KeyIdentity, @unchecked Sendable {
  // Unchecked, because its superclass is. This class adds only constants that are `Sendable`.

  private let namedType: Unretained<TypeIdentity>
  private let givenName: UDIName
  override var typeReference: Unretained<TypeIdentity> { namedType }
  override var name: UDIName? { givenName }

  private init(id: UInt64, type: TypeIdentity, name: UDIName) {
    (namedType, givenName) = (Unretained(type), name)
    super.init(id: id)
    type.namedKeys.add(1, ordering: .relaxed)
  }

  deinit {
    namedType.read { _ = $0.namedKeys.subtract(1, ordering: .relaxed) }
    Self.lock.withLock {
      // Another thread might have added a new object for the same key in the meantime.
      if unsafe Self.table[id]?.form.address == Unretained(self).address { unsafe Self.table[id] = nil }
    }
  }

  /// No reference to a key may be released under this lock, because `deinit` takes it.
  static let lock = Lock()
  /// All keys with a name, by their ids. Guarded by `lock`.
  private(set) nonisolated(unsafe) static var table = ObjectTable<WeakEntry>()

  /// Finds or makes the key of the given type and name.
  @inline(never)
  static func of(_ type: TypeIdentity, _ name: UDIName) -> NamedKey {
    let id = TypeToken.of(type.firstType).keyID(named: name)
    let key = lock.withLock {
      // The cast is safe, because the table has only such keys.
      if let found = unsafe table[id]?.object { return unsafe unsafeDowncast(found, to: NamedKey.self) }
      let new = NamedKey(id: id, type: type, name: name)
      unsafe table[id] = WeakEntry(StoredForm(address: Unretained(new).address, words: (0, 0), wordCount: 0))
      return new
    }
    // Ids have 63 bits of a hash that nobody can predict. Even of a million keys in use, two have the same id in only
    // one process out of 18 million.
    guard key.typeReference == Unretained(type), key.givenName == name else {
      fatalError("\(describeKey(type.text, name.description)) has the same hash as \(key)")
    }
    return key
  }
}
