/// A type's identity, together with some facts about the type. Getting a token takes two nanoseconds, except for a type
/// that has not been seen before.
@safe
struct TypeToken {
  // Marked safe, because every token is made from an identity or from another token's word, and identities are never
  // freed.

  /// The address of the `TypeIdentity`, with the facts and `LookupForm.constantFacts` in the lowest four bits, which
  /// are 0 in the address of any object.
  let word: UInt

  private static var factBits: UInt { 0b1111 }
  private static var holdsReferencesFact: UInt { 0b1000 }

  @inline(__always)
  static func of(_ type: Any.Type) -> TypeToken { TypeTable.find(type) ?? TypeTable.intern(type) }

  /// - Parameter word: The `word` of a token.
  @inline(__always)
  @unsafe init(word: UInt) { self.word = word }

  init(_ identity: TypeIdentity, _ type: Any.Type) {
    var facts = LookupForm.constantFacts
    if identity.metatype == ObjectIdentifier(type) { facts |= LookupForm.exactFacts }
    if TypeMetadata(type).holdsReferences { facts |= Self.holdsReferencesFact }
    let address = Unretained(identity).address
    precondition(address & Self.factBits == 0, "objects are aligned to 16 bytes")
    word = address | facts
  }

  /// The id of the key that has this type and no name.
  @inline(__always) var id: UInt64 { UInt64(word >> 4) }

  /// Whether this type is the one that is recorded for its key (`TypeIdentity.metatype`). Bindings under the key are
  /// normally stored as the recorded type, so their stored words can be used without a cast.
  @inline(__always) var isExact: Bool { word & LookupForm.exactFacts == LookupForm.exactFacts }

  /// Whether every value of the type consists of one to three words, of which the first is a reference to a class
  /// instance; see `TypeMetadata.holdsReferences`.
  @inline(__always) var holdsReferences: Bool { word & Self.holdsReferencesFact != 0 }

  @inline(__always) var identity: Unretained<TypeIdentity> { unsafe Unretained(address: word & ~Self.factBits) }
}

/// The type that a lookup asks for, and the lookup's reach.
///
/// The bits are chosen so that a single `&` makes a form from a `TypeToken`, and another `&` compares it with an
/// ``EntryForm``.
struct LookupForm {
  let bits: UInt

  /// Whether the lookup asks for exactly the type that is recorded for its key (`TypeToken.isExact`).
  var isExact: Bool { bits & Self.exactFacts != 0 }

  /// Whether the lookup asks for a `Sendable` type.
  var reach: UDIReach { bits & Self.isForSendable != 0 ? .anywhere : .mainActor }

  fileprivate static var isForSendable: UInt { 0b100 }

  /// Bits of a `TypeToken` from which a form is made. `exactFacts` says whether the type is exact, with one bit for
  /// each reach. `constantFacts` is always set.
  static var exactFacts: UInt { 0b011 }
  static var constantFacts: UInt { isForSendable }

  @inline(__always)
  init(_ token: TypeToken, _ reach: UDIReach) { bits = token.word & reach.mask }

  /// Makes a form that fits no entry, so the lookup casts the object instead of using the entry's stored words.
  init(casting reach: UDIReach) { bits = reach.mask & ~Self.exactFacts }
}
