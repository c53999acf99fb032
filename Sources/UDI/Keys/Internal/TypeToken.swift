import Synchronization

/// A type's identity, together with some facts about the type. Getting a token takes a few nanoseconds, except for a
/// type that has not been seen before.
@safe
struct TypeToken {
  // Marked safe, because every token is made from an identity or from another token's word, and identities are never
  // freed.

  /// The address of the `TypeIdentity`, with the facts and `WantedType.constantFacts` in the lowest four bits, which
  /// are 0 in the address of any object.
  let word: UInt

  private static var factBits: UInt { 0b1111 }
  private static var holdsReferencesFact: UInt { 0b1000 }

  @inline(never)
  static func of(_ type: Any.Type) -> TypeToken { inlined(type) }

  /// Does the same as `of`, but is compiled into its caller, for the paths of lookups and registrations.
  @inline(__always)
  static func inlined(_ type: Any.Type) -> TypeToken { TypeTable.find(type) ?? TypeTable.intern(type) }

  /// Finds or makes the key of this type and a name. Too slow for the hot path, which needs only the key's id.
  func key(named name: UDIName?) -> KeyIdentity {
    guard let name else { return identity.object }
    return NamedKey.of(identity.object, name)
  }

  /// The id of the key that has this type and the given name, if any; see `KeyIdentity`.
  @inline(__always)
  func keyID(named name: UDIName?) -> UInt64 {
    guard let name else { return id }
    return scrambled(name.digest ^ scrambled(id)) | KeyIdentity.namedBit
  }

  /// The id of the key that has this type and no name.
  @inline(__always) private var id: UInt64 { UInt64(word >> 4) }

  /// Whether this type is the one that is recorded for its key (`TypeIdentity.firstType`). Bindings under the key are
  /// normally stored as the recorded type, so their stored words can be used without a cast.
  @inline(__always) var isExact: Bool { word & WantedType.exactFacts == WantedType.exactFacts }

  /// Whether every value of the type consists of one to three words, of which the first is a reference to a class
  /// instance; see `TypeMetadata.holdsReferences`.
  @inline(__always) var holdsReferences: Bool { word & Self.holdsReferencesFact != 0 }

  @inline(__always) var identity: Unretained<TypeIdentity> { unsafe Unretained(address: word & ~Self.factBits) }
}

extension TypeToken {
  init(_ identity: TypeIdentity, _ type: Any.Type) {
    var facts = WantedType.constantFacts
    if identity.firstType == type { facts |= WantedType.exactFacts }
    if TypeMetadata(type).holdsReferences { facts |= Self.holdsReferencesFact }
    let address = Unretained(identity).address
    precondition(address & Self.factBits == 0, "objects are aligned to 16 bytes")
    word = address | facts
  }
}

/// The type that a lookup asks for, and the lookup's reach.
///
/// The bits are chosen so that a single `&` makes them from a `TypeToken`, and another `&` compares them with those of
/// a `RegisteredType`.
struct WantedType {
  let bits: UInt

  /// Whether the lookup asks for exactly the type that is recorded for its key (`TypeToken.isExact`).
  var isExact: Bool { bits & Self.exactFacts != 0 }

  /// Whether the lookup asks for a `Sendable` type.
  var reach: UDIReach { bits & Self.isForSendable != 0 ? .anywhere : .mainActor }

  fileprivate static var isForSendable: UInt { 0b100 }

  /// Bits of a `TypeToken` from which the bits here are made. `exactFacts` says whether the type is exact, with one bit
  /// for each reach. `constantFacts` is always set.
  static var exactFacts: UInt { 0b011 }
  static var constantFacts: UInt { isForSendable }

  @inline(__always)
  init(_ token: TypeToken, _ reach: UDIReach) { bits = token.word & reach.mask }

  /// Makes one that fits no entry, so the lookup casts the object instead of using the entry's stored words.
  init(casting reach: UDIReach) { bits = reach.mask & ~Self.exactFacts }
}

// MARK: - The table in which tokens are found

/// A hash table with linear probing that maps metatypes to tokens. It is read without a lock. Entries are added but
/// never removed.
///
/// A writer holds `lock`. It first stores the token in a bucket, and then publishes the bucket by storing the metatype
/// with releasing order. A reader loads the metatype with acquiring order, so it sees the token as well. When a table
/// has become too small, a copy of twice the size replaces it. The old table is never freed, because a reader might
/// still use it; all old tables together are smaller than the current one. A table's memory is therefore always valid,
/// which is why the type is marked safe.
@safe
struct TypeTable {
  /// A bucket is empty while its `metatype` is 0.
  private struct Bucket: ~Copyable {
    let metatype = Atomic<UInt>(0)
    let token = Atomic<UInt>(0)
  }

  /// The address of the buckets and the shift in one word, so that a reader gets both at once. The address is aligned
  /// to 64 bytes, so its lowest six bits are free for the shift.
  let packed: UInt

  @inline(__always)
  private var buckets: UnsafeMutablePointer<Bucket> {
    unsafe UnsafeMutablePointer(bitPattern: packed & ~63).unsafelyUnwrapped
  }

  /// A hash, shifted right by this many bits, is the index of the bucket where the search for it begins. The number is
  /// the number of bits in a word, minus log2 of the number of buckets.
  @inline(__always) private var shift: UInt { packed & 63 }

  @inline(__always) private var mask: Int { (1 &<< Int(truncatingIfNeeded: UInt(UInt.bitWidth) &- shift)) &- 1 }

  /// The bucket that contains the given metatype or, if there is none, the empty bucket where it would be stored.
  @inline(__always)
  private func bucket(_ metatype: UInt) -> (UnsafeMutablePointer<Bucket>, isTaken: Bool) {
    var index = Int(truncatingIfNeeded: scrambled(metatype) &>> shift)
    while true {
      let bucket = unsafe buckets + index
      let found = unsafe bucket.pointee.metatype.load(ordering: .acquiring)
      if found == metatype { return unsafe (bucket, true) }
      if found == 0 { return unsafe (bucket, false) }
      index = (index &+ 1) & mask
    }
  }

  private func insert(_ metatype: UInt, _ token: UInt) {
    let (bucket, _) = unsafe bucket(metatype)
    unsafe bucket.pointee.token.store(token, ordering: .relaxed)
    unsafe bucket.pointee.metatype.store(metatype, ordering: .releasing)
  }

  /// Allocates an empty table of 2^`bits` buckets.
  private static func allocate(bits: UInt) -> TypeTable {
    let count = 1 << Int(bits)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<Bucket>.stride, alignment: 64)
    let buckets = unsafe memory.bindMemory(to: Bucket.self, capacity: count)
    for index in 0..<count { unsafe (buckets + index).initialize(to: Bucket()) }
    return TypeTable(packed: UInt(bitPattern: buckets) | (UInt(UInt.bitWidth) - bits))
  }

  /// Makes a table of twice the size with the same entries.
  private func doubled() -> TypeTable {
    let new = Self.allocate(bits: UInt(UInt.bitWidth) + 1 - shift)
    for index in 0...mask {
      let bucket = unsafe buckets + index
      let metatype = unsafe bucket.pointee.metatype.load(ordering: .relaxed)
      if metatype != 0 { unsafe new.insert(metatype, bucket.pointee.token.load(ordering: .relaxed)) }
    }
    return new
  }
}

// MARK: - The process's table

extension TypeTable {
  /// The table's `packed`; 0 until the first type is interned.
  private static let current = Atomic<UInt>(0)

  private static let lock = Lock()
  /// The identities of types that might have the same text as others, by the hash of the text. If several texts have
  /// the same hash, the identities of all but the first are stored under the next free integers. Guarded by `lock`.
  private nonisolated(unsafe) static var byHash = ObjectTable<TypeIdentity>()
  /// How many buckets are taken. Guarded by `lock`.
  private nonisolated(unsafe) static var count = 0
  /// The tables that have been replaced. They are kept here, so that a leak checker does not report them. Guarded by
  /// `lock`.
  private nonisolated(unsafe) static var replaced: [TypeTable] = []

  /// The token of the given type, if the type has been interned.
  @inline(__always)
  static func find(_ type: Any.Type) -> TypeToken? {
    let packed = current.load(ordering: .acquiring)
    guard packed != 0 else { return nil }
    let (bucket, isTaken) = unsafe TypeTable(packed: packed).bucket(UInt(bitPattern: ObjectIdentifier(type)))
    return unsafe isTaken ? TypeToken(word: bucket.pointee.token.load(ordering: .relaxed)) : nil
  }

  @inline(never)
  static func intern(_ type: Any.Type) -> TypeToken {
    // Computing the text takes longer than everything else, so it is done only if necessary, and before the lock is
    // taken.
    let text = TypeMetadata(type).hasTextOfItsOwn ? nil : _typeName(type, qualified: true)
    return lock.withLock {
      if let found = find(type) { return found }
      let identity = text.map { sharedIdentity($0, type) } ?? TypeIdentity(type)
      // The identity is never released.
      Unretained(identity).retain()
      let token = TypeToken(identity, type)
      withRoom().insert(UInt(bitPattern: ObjectIdentifier(type)), token.word)
      unsafe count += 1
      return token
    }
  }

  /// Finds or makes the identity of the given type, which might have the same text as others. Call this under `lock`.
  private static func sharedIdentity(_ text: String, _ type: Any.Type) -> TypeIdentity {
    var hash = UInt64(bitPattern: Int64(text.hashValue))
    while let found = unsafe byHash[hash] {
      if found.text == text { return found }
      hash &+= 1
    }
    let new = TypeIdentity(type)
    unsafe byHash[hash] = new
    return new
  }

  /// Returns a table with room for one more entry. If more than three quarters of the buckets would then be taken,
  /// replaces the table first. Call this under `lock`.
  private static func withRoom() -> TypeTable {
    let packed = current.load(ordering: .relaxed)
    var table = packed == 0 ? .allocate(bits: 6) : TypeTable(packed: packed)
    if unsafe (count + 1) * 4 > (table.mask + 1) * 3 {
      unsafe replaced.append(table)
      table = table.doubled()
    }
    if table.packed != packed { current.store(table.packed, ordering: .releasing) }
    return table
  }
}
