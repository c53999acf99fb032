/// What a lookup searches for: an id, and a test whether an entry with this id has the right key.
protocol LookupKey {
  var id: UInt64 { get }

  /// Whether an entry with this id certainly has this key. Called under locks, so it must not call the user's code.
  func isSurelyKey(of entry: Entry) -> Bool
}

/// A key whose id belongs to no other key: it has no name, or the caller holds its `KeyIdentity`.
struct KnownKey: LookupKey {
  let id: UInt64
  @inline(__always) func isSurelyKey(of entry: Entry) -> Bool { true }
}

/// A key with a name. Its id is made from the name's hash, so another key might have the same id.
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
