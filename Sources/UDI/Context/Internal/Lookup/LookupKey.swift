/// The key that a lookup searches for: an id, and a test that tells whether an entry with this id really has the key.
protocol LookupKey {
  var id: UInt64 { get }

  /// Whether an entry with this id certainly has this key. Called under locks, so it must not call user code.
  func isSurelyKey(of entry: Entry) -> Bool
}

/// A key whose id belongs to no other key, because it has no name or because the caller holds its `KeyIdentity`.
struct KnownKey: LookupKey {
  let id: UInt64
  @inline(__always) func isSurelyKey(of entry: Entry) -> Bool { true }
}

/// A key with a name. Its id is computed from the name's hash, so another key might have the same id.
struct HashedKey: LookupKey {
  let id: UInt64
  private let typeID: UInt64
  private let name: UDIName

  @inline(__always)
  init(_ type: TypeToken, _ name: UDIName) {
    id = KeyIdentity.hashedID(type.id, name)
    typeID = type.id
    self.name = name
  }

  @inline(__always)
  func isSurelyKey(of entry: Entry) -> Bool { entry.readKey { $0.isSurely(typeID, name) } }
}
