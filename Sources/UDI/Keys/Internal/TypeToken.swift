import Synchronization

/// A type's identity, together with some facts about the type. Getting a token takes a few nanoseconds, except for a
/// type that has not been seen before.
@safe
struct TypeToken {
  // Marked safe, because every token is made from an identity or from another token's word, and identities are never
  // freed.

  /// The address of the `TypeIdentity`, with the facts and `WantedType.isForSendable` in the lowest four bits, which
  /// are 0 in the address of any object.
  let word: UInt

  private static var factBits: UInt { 0b1111 }
  private static var holdsReferencesFact: UInt { 0b1000 }

  @inline(never)
  static func of(_ type: Any.Type) -> TypeToken { inlined(type) }

  /// Does the same as `of`, but is compiled into its caller, for the paths of lookups and registrations.
  @inline(__always)
  static func inlined(_ type: Any.Type) -> TypeToken { find(type) ?? intern(type) }

  /// Finds or makes the key of this type and a name. Too slow for the hot path, which needs only the key's id.
  func key(named name: UDIName?) -> KeyIdentity {
    if let name { NamedKey.of(identity.object, name) } else { identity.object }
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

  /// Bits of a `TypeToken` from which the bits here are made. `exactFacts` says whether the type is exact, with one bit
  /// for each reach. `isForSendable` is always set.
  static var exactFacts: UInt { 0b011 }
  fileprivate static var isForSendable: UInt { 0b100 }

  @inline(__always)
  init(_ token: TypeToken, _ reach: UDIReach) { bits = token.word & reach.mask }

  /// Makes one that fits no entry, so the lookup casts the object instead of using the entry's stored words.
  init(casting reach: UDIReach) { bits = reach.mask & ~Self.exactFacts }
}

// MARK: - The table in which tokens are found

// A hash table of the types that are known: lists of identities. It is read without a lock. Identities are added but
// never removed, so what the table contains is always valid.
//
// A writer holds `lock`. It makes an identity that leads to the first one of a list, and then publishes it by storing
// its address as the list's head with releasing order. A reader loads the head with acquiring order, so it sees what
// the identity contains as well.
extension TypeToken {
  /// The number of lists, as a power of two. Most programs have fewer types than lists; a list may have any length.
  private static var bits: UInt { 9 }
  /// The address of the lists' heads, each of which is the address of the newest identity, or 0. It is 0 itself until
  /// the first type is interned.
  private static let heads = Atomic<UInt>(0)

  private static let lock = Lock()
  /// The identities of types that might have the same text as others, by the hash of the text. If several texts have
  /// the same hash, the identities of all but the first are stored under the next free integers. Guarded by `lock`.
  private nonisolated(unsafe) static var byHash = ObjectTable<TypeIdentity>()

  /// The head of the list that has a type's identity, if there is one.
  @inline(__always)
  private static func head(_ type: Any.Type, in heads: UInt) -> UnsafeMutablePointer<Atomic<UInt>> {
    let hash = scrambled(UInt(bitPattern: ObjectIdentifier(type)))
    let heads = unsafe UnsafeMutablePointer<Atomic<UInt>>(bitPattern: heads).unsafelyUnwrapped
    return unsafe heads + Int(truncatingIfNeeded: hash &>> (UInt(UInt.bitWidth) - bits))
  }

  /// The token of the given type, if the type has been interned.
  @inline(__always)
  static func find(_ type: Any.Type) -> TypeToken? {
    let heads = heads.load(ordering: .acquiring)
    if heads == 0 { return nil }
    var next = unsafe head(type, in: heads).pointee.load(ordering: .acquiring)
    while next != 0 {
      let identity = unsafe Unretained<TypeIdentity>(address: next)
      if identity.read({ $0.firstType == type }) { return TypeToken(word: identity.read { $0.token }) }
      next = identity.read { $0.next }
    }
    return nil
  }

  @inline(never)
  static func intern(_ type: Any.Type) -> TypeToken {
    // Computing the text takes longer than everything else, so it is done only if necessary, and before the lock is
    // taken.
    let text = TypeMetadata(type).hasTextOfItsOwn ? nil : _typeName(type, qualified: true)
    return lock.withLock {
      if let found = find(type) { return found }
      let head = unsafe head(type, in: allocated())
      let original = text.map(original)
      let new = TypeIdentity(type, original: original?.found, next: unsafe head.pointee.load(ordering: .relaxed))
      if let original, original.found == nil { unsafe byHash[original.number] = new }
      // The identity is never released.
      Unretained(new).retain()
      unsafe head.pointee.store(Unretained(new).address, ordering: .releasing)
      return TypeToken(word: new.token)
    }
  }

  /// The token of a type, for its new identity.
  init(_ identity: TypeIdentity, _ type: Any.Type) {
    var facts = WantedType.isForSendable
    if identity.firstType == type { facts |= WantedType.exactFacts }
    if TypeMetadata(type).holdsReferences { facts |= Self.holdsReferencesFact }
    let address = Unretained(identity).address
    precondition(address & Self.factBits == 0, "objects are aligned to 16 bytes")
    word = address | facts
  }

  /// The identity of the first type with the given text, and the number under which it is stored, or has to be. Call
  /// this under `lock`.
  private static func original(_ text: String) -> (found: TypeIdentity?, number: UInt64) {
    var number = UInt64(bitPattern: Int64(text.hashValue))
    while let found = unsafe byHash[number] {
      if found.text == text { return (found, number) }
      number &+= 1
    }
    return (nil, number)
  }

  /// The address of the heads. Allocates them if need be. Call this under `lock`.
  private static func allocated() -> UInt {
    let present = heads.load(ordering: .relaxed)
    if present != 0 { return present }
    let new = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: 1 << Int(bits))
    for index in 0..<1 << Int(bits) { unsafe (new + index).initialize(to: Atomic(0)) }
    heads.store(UInt(bitPattern: new), ordering: .releasing)
    return UInt(bitPattern: new)
  }
}
