/// An interned key: a type's identity and an optional name, with an id that represents both.
///
/// Lookups compare only ids. For a key without a name, the id is the type's id. For a key with a name, the id is a hash
/// of the type's id and the name. A lookup can compute it without having to find the key (`TypeToken.keyID(named:)`).
///
/// An entry holds its key.
package class KeyIdentity: CustomStringConvertible, @unchecked Sendable {
  // Unchecked: every instance is a `TypeIdentity`, a `NamedKey` or a `ScopeKey`, which say why they may be shared.

  /// Set in the id of every key with a name. Keys with this bit are `NamedKey`s.
  static let namedBit: UInt64 = 1 << 63
  /// Set in the id of every `ScopeKey`, which does not have `namedBit`, but not in that of a `TypeIdentity`.
  static let scopeBit: UInt64 = 1 << 62

  /// Written only in `init`.
  @safe @exclusivity(unchecked) package private(set) final var id: UInt64

  /// - Parameter id: The id of a `NamedKey` or a `ScopeKey`. Nil for a `TypeIdentity`: its id is this object's address
  ///   without the lowest four bits.
  init(id: UInt64?) {
    self.id = id ?? 0
    if id == nil { self.id = UInt64(Unretained(self).address >> 4) }
  }

  package final var typeName: String { type.text }

  final var type: TypeIdentity { typeReference.object }
  /// The type. It need not be held, because a `TypeIdentity` is never freed.
  // The cast is safe: `NamedKey` and `ScopeKey` override this, and every other key is a `TypeIdentity`.
  var typeReference: Unretained<TypeIdentity> { unsafe Unretained(unsafeDowncast(self, to: TypeIdentity.self)) }

  package var name: UDIName? { nil }

  @inline(never) package final var description: String { describeKey(type.text, name?.description) }
}

/// The key under which scopes keep the instances of one provider, in the tables of their providers (`ScopeKeeper`). No
/// lookup asks for this key.
final class ScopeKey: KeyIdentity, @unchecked Sendable {
  // Unchecked, because its superclass is. This class adds a constant.

  /// The key that the provider is registered under.
  private let original: KeyIdentity
  /// The kind of the scopes; nil for any kind.
  let scopeKind: String?
  override var typeReference: Unretained<TypeIdentity> { original.typeReference }
  override var name: UDIName? { original.name }

  /// - Parameter number: The provider's id.
  init(_ original: KeyIdentity, _ number: UInt, scopeKind: String?) {
    (self.original, self.scopeKind) = (original, scopeKind)
    super.init(id: Self.id(number))
  }

  static func id(_ number: UInt) -> UInt64 { UInt64(number) | scopeBit }
}
