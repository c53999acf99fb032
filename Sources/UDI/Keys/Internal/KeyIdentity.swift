import Synchronization

/// A key, interned: the type's identity and the name, with an id that stands for both.
///
/// Lookups compare nothing but the id. Without a name, it is the type's id. With a name, it is a hash of both, so that
/// a lookup can compute it on its own; if a second name has the same hash, which is rare, it gets an id of its own
/// (`KeyNames`).
///
/// An entry holds its key (`HeldKey`). Releasing the last reference to a key with a name may run a user's `deinit`, so
/// it must not happen under a lock: whatever is dropped with an entry goes into `Garbage`, and whoever looks for a key
/// holds it during the call.
class KeyIdentity: @unchecked Sendable {
  // Unchecked: it is a `TypeIdentity` or a `NamedKey`, and both have only constants that are `Sendable`, and an atomic.
  final var id: UInt64 { unsafe uncheckedID }
  /// Written only in `init`.
  @exclusivity(unchecked) private final var uncheckedID: UInt64

  fileprivate init(named id: UInt64) { unsafe uncheckedID = id }

  /// The key of a type without a name: the type's identity itself.
  ///
  /// - Parameter id: A reserved id; nil for that of a type, which is the address of its identity without the lowest four
  ///   bits.
  init(type id: UInt64?) {
    unsafe uncheckedID = id ?? 0
    if id == nil { unsafe uncheckedID = UInt64(Unretained(self).address >> 4) }
  }

  private final var namedKey: Unretained<NamedKey>? {
    id & Self.namedBit == 0 ? nil : Unretained(address: Unretained(self).address)
  }

  final var type: TypeIdentity {
    // It is one of the two classes: see `namedBit`.
    namedKey?.read { $0.typeReference.object } ?? (unsafe unsafeDowncast(self, to: TypeIdentity.self))
  }

  final var name: UDIName? { namedKey?.read { $0.givenName } }

  /// Whether this is certainly the key of a type and a name; false also if only the user's `==` can tell.
  @inline(__always)
  final func isSurely(_ typeID: UInt64, _ other: UDIName) -> Bool {
    namedKey?.read { $0.typeReference.read { $0.id } == typeID && $0.givenName.isSurely(other) } ?? false
  }

  /// The identity for `type` and `name`, made if there is none. Not for the hot path.
  static func of(_ type: TypeIdentity, _ name: UDIName?) -> KeyIdentity {
    guard let name else { return type }
    return KeyNames.intern(type, name)
  }

  /// The ids up to this one belong to no type: they are for entries that nobody looks up by a type.
  static var lastReservedID: UInt64 { 3 }
  /// Set in the id of every key with a name: such keys are `NamedKey`s, and all others are `TypeIdentity`s.
  static let namedBit: UInt64 = 1 << 63
  /// Also set if another name had the hash already, and the id is a running number.
  static let collisionBit: UInt64 = 1 << 62

  /// The id that a name has, unless another name with the same hash was there first.
  @inline(__always)
  static func hashedID(_ typeID: UInt64, _ name: UDIName) -> UInt64 {
    var id = scrambled(UInt64(UInt(bitPattern: name.digest)) ^ scrambled(typeID))
    id |= namedBit
    return id & ~collisionBit
  }
}

/// A key with a name.
private final class NamedKey: KeyIdentity, @unchecked Sendable {
  // Unchecked because its superclass is; it adds only constants that are `Sendable`.

  /// A `TypeIdentity` is never freed.
  let typeReference: Unretained<TypeIdentity>
  let givenName: UDIName

  init(id: UInt64, type: TypeIdentity, name: UDIName) {
    typeReference = Unretained(type)
    givenName = name
    super.init(named: id)
  }

  deinit { KeyNames.forget(self) }
}

/// The key in a context's dictionary of bindings. It counts no reference: the binding under it holds the key
/// (`HeldKey`) or, during a search, the caller does. So it must not leave the dictionary for a place where the tree
/// lock is not held.
@safe
struct BoundKey: Hashable {
  private let identity: Unretained<KeyIdentity>
  init(_ identity: Unretained<KeyIdentity>) { self.identity = identity }

  var id: UInt64 { identity.read { $0.id } }
  static func == (left: BoundKey, right: BoundKey) -> Bool { left.identity == right.identity }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// How an entry holds its key: it counts a reference only if the key has a name. A key without one is never freed, and
/// counting would add a measurable cost to each `bind`.
@safe
struct HeldKey: ~Copyable {
  let identity: Unretained<KeyIdentity>

  init(_ key: KeyIdentity) {
    identity = Unretained(key)
    if isCounted { identity.retain() }
  }

  private init(uncounted key: Unretained<KeyIdentity>) { identity = key }

  static func of(_ type: Unretained<TypeIdentity>, _ name: UDIName?) -> HeldKey {
    guard let name else { return HeldKey(uncounted: Unretained(address: type.address)) }
    return HeldKey(type.read { KeyIdentity.of($0, name) })
  }

  deinit { if isCounted { identity.release() } }

  private var isCounted: Bool { identity.read { $0.id & KeyIdentity.namedBit != 0 } }
}

extension KeyIdentity: CustomStringConvertible {
  var description: String { describeKey(type.text, name) }
}

/// The live identities with a name, held weakly, by the hash of type and name.
///
/// Names are compared by the user's `==`, so never under `lock`: the candidates are copied under the lock and compared
/// without it. The outcome is valid if nobody has added a name meanwhile.
enum KeyNames {
  private static let lock = Lock()
  /// Guarded by `lock`. A bucket has only one entry, unless two names have the same hash.
  private nonisolated(unsafe) static var buckets: [UInt64: [Entry]] = [:]
  /// How many names have, or had, an id that differs from their hash. Written under `lock`.
  private static let collisions = Atomic<UInt64>(0)

  /// Whether there may be a name whose id differs from its hash.
  @inline(__always)
  static var haveCollided: Bool { collisions.load(ordering: .relaxed) != 0 }

  private struct Entry {
    weak let key: KeyIdentity?
    /// Identifies the key even when it is dying, and `key` is already nil.
    let identity: ObjectIdentifier

    init(_ key: KeyIdentity) {
      self.key = key
      self.identity = ObjectIdentifier(key)
    }
  }

  static func intern(_ type: TypeIdentity, _ name: UDIName) -> KeyIdentity {
    let hash = KeyIdentity.hashedID(type.id, name)
    var compared: [KeyIdentity] = []
    while true {
      // Decided under the lock: if the candidates are still those that were compared, the name is new.
      let (made, candidates) = lock.withLock { () -> (KeyIdentity?, [KeyIdentity]) in
        let live = unsafe (buckets[hash] ?? []).compactMap(\.key)
        guard live.allSatisfy({ one in compared.contains { $0 === one } }) else { return (nil, live) }
        var id = hash
        if live.contains(where: { $0.id == hash }) {
          let number = collisions.add(1, ordering: .relaxed).newValue
          id = KeyIdentity.namedBit | KeyIdentity.collisionBit | number
        }
        let key = NamedKey(id: id, type: type, name: name)
        type.namedKeys.add(1, ordering: .relaxed)
        unsafe buckets[hash, default: []].append(Entry(key))
        return (key, live)
      }
      if let made { return made }
      if let found = candidates.first(where: { $0.type === type && $0.name == name }) { return found }
      compared = candidates
    }
  }

  /// The identity of a name. If this is nil, nothing is bound under the name anywhere.
  static func identity(_ type: TypeIdentity, _ name: UDIName) -> KeyIdentity? {
    let hash = KeyIdentity.hashedID(type.id, name)
    let candidates = lock.withLock { unsafe (buckets[hash] ?? []).compactMap(\.key) }
    return candidates.first { $0.type === type && $0.name == name }
  }

  fileprivate static func forget(_ key: NamedKey) {
    let type = key.typeReference.object
    let hash = KeyIdentity.hashedID(type.id, key.givenName)
    let identity = ObjectIdentifier(key)
    type.namedKeys.subtract(1, ordering: .relaxed)
    lock.withLock {
      guard var bucket = unsafe buckets[hash] else { return }
      bucket.removeAll { $0.identity == identity }
      unsafe buckets[hash] = bucket.isEmpty ? nil : bucket
    }
  }
}
