/// An interned key: a type's identity and an optional name, with an id that represents both.
///
/// Lookups compare only ids. For a key without a name, the id is the type's id. For a key with a name, the id is a hash
/// of the type's id and the name, so that a lookup can compute it without having to find the key
/// (`TypeToken.keyID(named:)`).
///
/// An entry holds its key.
package class KeyIdentity: @unchecked Sendable {
  // Unchecked: every instance is a `TypeIdentity` or a `NamedKey`, which say why they may be shared.

  /// Set in the id of every key with a name. Keys with this bit are `NamedKey`s, and all others are `TypeIdentity`s.
  static let namedBit: UInt64 = 1 << 63

  package final var id: UInt64 { unsafe uncheckedID }
  /// Written only in `init`.
  @exclusivity(unchecked) private final var uncheckedID: UInt64

  /// - Parameter id: The id of a key with a name. Nil for any other key: its id is this object's address without the
  ///   lowest four bits.
  init(id: UInt64?) {
    unsafe uncheckedID = id ?? 0
    if id == nil { unsafe uncheckedID = UInt64(Unretained(self).address >> 4) }
  }

  package final var typeName: String { type.text }

  final var type: TypeIdentity {
    // The cast is safe: without `namedBit`, this is a `TypeIdentity`.
    namedKey?.read { $0.typeReference.object } ?? (unsafe unsafeDowncast(self, to: TypeIdentity.self))
  }

  package final var name: UDIName? { namedKey?.read { $0.givenName } }

  private final var namedKey: Unretained<NamedKey>? {
    id & Self.namedBit == 0 ? nil : unsafe Unretained(address: Unretained(self).address)
  }
}

extension KeyIdentity: CustomStringConvertible {
  package var description: String { describeKey(type.text, name?.description) }
}
