/// Where a dependency may be used: anywhere if its type is `Sendable`, otherwise only on the main actor.
///
/// Only the compiler knows whether a type is `Sendable`. `Sendable` is a marker protocol and leaves no trace at run
/// time: `any P` and `any P & Sendable` have one metatype, and so one key. Therefore each verb has two overloads, and
/// the reach that each passes on says which one the compiler chose. An entry remembers the reach that it was registered
/// with. A lookup for a `Sendable` type never returns what was registered without `Sendable`.
@usableFromInline
struct Reach: Equatable, Sendable {
  // This is not an enum, because a lookup uses the mask as it is. An enum would make the benchmark "link, bound there"
  // slower.

  /// The bits that a `LookupForm` takes from a type's facts.
  @usableFromInline let mask: UInt

  @inlinable
  @inline(__always)
  init(mask: UInt) { self.mask = mask }

  @inlinable
  @inline(__always)
  static func == (left: Reach, right: Reach) -> Bool { left.mask == right.mask }

  /// The type is `Sendable`.
  @inlinable
  static var anywhere: Reach {
    @inline(__always) get { Reach(mask: 0b101) }
  }
  /// The compiler does not know the type to be `Sendable`.
  @inlinable
  static var mainActor: Reach {
    @inline(__always) get { Reach(mask: 0b010) }
  }
}

/// What a lookup asks for: which type, and with which reach.
///
/// The bits are chosen so that one `&` makes a form from a `TypeToken`, and another `&` compares it with an entry's
/// ``EntryForm``.
struct LookupForm {
  let bits: UInt

  /// Whether the lookup asks for exactly the type that lookups with this key normally name.
  var isExact: Bool { bits & Self.exactFacts != 0 }

  /// Whether the lookup asks for a `Sendable` type.
  var reach: Reach { bits & Self.isForSendable != 0 ? .anywhere : .mainActor }

  fileprivate static var isForSendable: UInt { 0b100 }

  /// The facts about a type that a form is made from, as bits of a `TypeToken`: two bits for exactness, one for each
  /// reach, and a third one, which is always set.
  static var exactFacts: UInt { 0b011 }
  static var constantFacts: UInt { isForSendable }

  @inline(__always)
  init(_ token: TypeToken, _ reach: Reach) { bits = token.word & reach.mask }

  /// A form that fits no entry. The lookup then casts the object instead of using the entry's recorded words.
  init(casting reach: Reach) { bits = reach.mask & ~Self.exactFacts }
}

/// How an entry was registered: as which type, and with which reach.
struct EntryForm {
  private let bits: UInt8

  /// - Parameters:
  ///   - isExact: Whether the entry's recorded words belong to exactly the type that lookups with this key normally
  ///     name.
  ///   - reach: Where the dependency may be used.
  init(isExact: Bool, _ reach: Reach) {
    let isSendable = reach == .anywhere
    bits = (isSendable ? 0b100_0000 : 0) | (isExact ? 0b10 : 0) | (isExact && isSendable ? 0b01 : 0)
  }

  var isExact: Bool { bits & 0b10 != 0 }
  var reach: Reach { bits & 0b100_0000 != 0 ? .anywhere : .mainActor }

  /// Whether a lookup gets the recorded words unchanged. It does if it is allowed to have the dependency, and asks for
  /// exactly the type that the words belong to.
  @inline(__always)
  func fits(_ form: LookupForm) -> Bool { UInt(bits) & form.bits != 0 }

  /// Whether a lookup must not get the dependency: the lookup asks for a `Sendable` type, and the entry was registered
  /// without `Sendable`.
  func isRefused(to reach: Reach) -> Bool { reach == .anywhere && self.reach == .mainActor }
}

extension Reach {
  /// Checks, in debug builds of the calling module, that the main-actor overload of a verb runs on the main actor.
  ///
  /// In the Swift 6 language mode the compiler guarantees this. In the Swift 5 mode it only warns, if at all.
  @inlinable
  @inline(__always)
  func assertIsolation(_ type: Any.Type) { assert(self == .anywhere || MainActorCheck.isIsolated(type)) }
}
