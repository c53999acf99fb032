/// An interned key: a type's identity and an optional name, with an id that represents both.
///
/// Lookups compare only ids. For a key without a name, the id is the type's id. For a key with a name, the id is a hash
/// of the type's id and the name, so that a lookup can compute it without having to find the key
/// (`TypeToken.keyID(named:)`).
///
/// An entry holds its key.
package class KeyIdentity: @unchecked Sendable {
  // Unchecked: every instance is a `TypeIdentity` or a `NamedKey`, which have only atomics and constants that are
  // `Sendable`.

  /// Set in the id of every key with a name. Keys with this bit are `NamedKey`s.
  static let namedBit: UInt64 = 1 << 63
  /// Set in the id of every `ScopeKey`, which does not have `namedBit`, but not in that of a `TypeIdentity`.
  static let scopeBit: UInt64 = 1 << 62

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
    // The cast is safe: without either bit, this is a `TypeIdentity`.
    namedKey?.read { $0.typeReference.object } ?? scopeKey?.original.type
      ?? (unsafe unsafeDowncast(self, to: TypeIdentity.self))
  }

  package final var name: UDIName? { namedKey?.read { $0.givenName } ?? scopeKey?.original.name }

  private final var namedKey: Unretained<NamedKey>? {
    id & Self.namedBit == 0 ? nil : unsafe Unretained(address: Unretained(self).address)
  }

  private final var scopeKey: ScopeKey? {
    id & (Self.namedBit | Self.scopeBit) == Self.scopeBit ? unsafe unsafeDowncast(self, to: ScopeKey.self) : nil
  }
}

/// The key under which scopes keep the instances of one provider, in the tables of their providers (`ScopeKeeper`). No
/// lookup asks for this key.
final class ScopeKey: KeyIdentity, @unchecked Sendable {
  // Unchecked, because its superclass is. This class adds a constant.

  /// The key that the provider is registered under.
  let original: KeyIdentity

  /// - Parameter number: The provider's id.
  init(_ original: KeyIdentity, _ number: UInt) {
    self.original = original
    super.init(id: Self.id(number))
  }

  static func id(_ number: UInt) -> UInt64 { UInt64(number) | scopeBit }
}

extension KeyIdentity: CustomStringConvertible {
  package var description: String { describeKey(type.text, name?.description) }
}
