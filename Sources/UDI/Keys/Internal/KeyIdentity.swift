/// A key, interned: the type's identity and the name, with an id that stands for both.
///
/// Lookups compare nothing but ids. The id of a key without a name is the type's id. The id of a key with a name is a
/// hash of the type's id and the name, so that a lookup can compute it without searching for the key. If two keys have
/// the same hash, which is rare, the second one gets a running number instead (`NamedKey`).
///
/// An entry holds its key (`HeldKey`). Releasing the last reference to a key with a name may run a user's `deinit`, so
/// it must not happen under a lock. Therefore everything that is dropped with an entry goes into `Garbage`, and whoever
/// looks for a key holds the key during the call.
class KeyIdentity: @unchecked Sendable {
  // Unchecked: an instance is a `TypeIdentity` or a `NamedKey`. Both have only constants that are `Sendable`, and
  // atomics.

  final var id: UInt64 { unsafe uncheckedID }
  /// Written only in `init`.
  @exclusivity(unchecked) private final var uncheckedID: UInt64

  /// - Parameter id: The id of a key with a name, or a reserved id. If it is nil, this is the key of a type without a
  ///   name, and its id is the address of this object without the lowest four bits.
  init(id: UInt64?) {
    unsafe uncheckedID = id ?? 0
    if id == nil { unsafe uncheckedID = UInt64(Unretained(self).address >> 4) }
  }

  /// The identity for `type` and `name`. It is made if there is none. This is too slow for the hot path.
  static func of(_ type: TypeIdentity, _ name: UDIName?) -> KeyIdentity {
    guard let name else { return type }
    return NamedKey.of(type, name)
  }

  final var type: TypeIdentity {
    // This is either a `NamedKey` or a `TypeIdentity`: see `namedBit`.
    namedKey?.read { $0.typeReference.object } ?? (unsafe unsafeDowncast(self, to: TypeIdentity.self))
  }

  final var name: UDIName? { namedKey?.read { $0.givenName } }

  /// Whether this is the key of a type and a name, as far as this is known without calling the user's `==`. False can
  /// also mean that only `==` could tell.
  @inline(__always)
  final func isSurely(_ typeID: UInt64, _ other: UDIName) -> Bool {
    namedKey?.read { $0.typeReference.read { $0.id } == typeID && $0.givenName.isSurely(other) } ?? false
  }

  private final var namedKey: Unretained<NamedKey>? {
    id & Self.namedBit == 0 ? nil : unsafe Unretained(address: Unretained(self).address)
  }
}

extension KeyIdentity: CustomStringConvertible {
  var description: String { describeKey(type.text, name) }
}

// MARK: - Ids

extension KeyIdentity {
  /// The ids up to this one belong to no type. They are for entries that nobody looks up by a type.
  static var lastReservedID: UInt64 { 3 }
  /// Set in the id of every key with a name: such keys are `NamedKey`s, and all others are `TypeIdentity`s.
  static let namedBit: UInt64 = 1 << 63
  /// Also set if another key already had the hash as its id. The id is then a running number.
  static let collisionBit: UInt64 = 1 << 62

  /// The id of the key of a type and a name, unless another key already had it.
  @inline(__always)
  static func hashedID(_ typeID: UInt64, _ name: UDIName) -> UInt64 {
    let hash = scrambled(UInt64(UInt(bitPattern: name.digest)) ^ scrambled(typeID))
    return (hash | namedBit) & ~collisionBit
  }
}

// MARK: - Holding a key

/// An entry's reference to its key. It is counted only if the key has a name, because a key without a name is never
/// freed.
///
/// If all keys were counted, the benchmarks "bind 16 fresh keys in a new context, each" and "make a scope, bind 3, link
/// 5, end it" would each take 2 % longer.
@safe
struct HeldKey: ~Copyable {
  let identity: Unretained<KeyIdentity>

  init(_ key: KeyIdentity) {
    identity = Unretained(key)
    if isCounted { identity.retain() }
  }

  private init(uncounted key: Unretained<KeyIdentity>) { identity = key }

  /// The same key.
  init(copying other: borrowing HeldKey) {
    identity = other.identity
    if isCounted { identity.retain() }
  }

  static func of(_ type: Unretained<TypeIdentity>, _ name: UDIName?) -> HeldKey {
    guard let name else { return unsafe HeldKey(uncounted: Unretained(address: type.address)) }
    return HeldKey(type.read { KeyIdentity.of($0, name) })
  }

  deinit { if isCounted { identity.release() } }

  private var isCounted: Bool { identity.read { $0.id & KeyIdentity.namedBit != 0 } }
}
