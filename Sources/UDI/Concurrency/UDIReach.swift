/// Where a dependency may be used: anywhere if its type is `Sendable`, otherwise only on the main actor.
///
/// Only the compiler knows whether a type is `Sendable`. `Sendable` is a marker protocol, which leaves no trace at run
/// time: `any P` and `any P & Sendable` have the same metatype, and so the same key. Therefore each verb has two
/// overloads, and each passes on the reach that it stands for. An entry stores the reach that it was registered with. A
/// lookup for a `Sendable` type never returns a dependency that was registered under a type that is not `Sendable`. For
/// the library only.
public struct UDIReach: Equatable, Sendable {
  // The type is not an enum, because a lookup uses the mask directly.

  /// The bits that a `LookupForm` takes from a `TypeToken`.
  @usableFromInline let mask: UInt

  @inlinable
  @inline(__always)
  init(mask: UInt) { self.mask = mask }

  /// Whether both are the same.
  @inlinable
  @inline(__always)
  public static func == (left: UDIReach, right: UDIReach) -> Bool { left.mask == right.mask }

  /// The type is `Sendable`.
  @inlinable
  package static var anywhere: UDIReach {
    @inline(__always) get { UDIReach(mask: 0b101) }
  }
  /// The compiler does not know that the type is `Sendable`.
  @inlinable
  package static var mainActor: UDIReach {
    @inline(__always) get { UDIReach(mask: 0b010) }
  }
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

/// The type that an entry was registered under, and its reach.
struct EntryForm {
  private let bits: UInt8

  /// - Parameters:
  ///   - isExact: Whether the entry's stored words belong to exactly the type that is recorded for its key
  ///     (`TypeToken.isExact`).
  ///   - reach: Where the dependency may be used.
  init(isExact: Bool, _ reach: UDIReach) {
    let isSendable = reach == .anywhere
    bits = (isSendable ? 0b100_0000 : 0) | (isExact ? 0b10 : 0) | (isExact && isSendable ? 0b01 : 0)
  }

  var isExact: Bool { bits & 0b10 != 0 }
  var reach: UDIReach { bits & 0b100_0000 != 0 ? .anywhere : .mainActor }

  /// Whether a lookup may take the entry's stored words as they are: the lookup may have the dependency, and asks for
  /// exactly the type that the words belong to.
  @inline(__always)
  func fits(_ form: LookupForm) -> Bool { UInt(bits) & form.bits != 0 }

  /// Whether the dependency must be refused to a lookup, because the lookup asks for a `Sendable` type but the entry
  /// was registered under a type that is not `Sendable`.
  func isRefused(to reach: UDIReach) -> Bool { reach == .anywhere && self.reach == .mainActor }
}

extension UDIReach {
  /// Checks, in debug builds of the calling module, that a main-actor overload of a verb runs on the main actor.
  ///
  /// In the Swift 6 language mode, the compiler ensures that it does. In the Swift 5 mode, the compiler only warns, if
  /// at all.
  @inlinable
  @inline(__always)
  func assertIsolation(_ type: Any.Type) { assert(self == .anywhere || MainActorCheck.isIsolated(type)) }
}
