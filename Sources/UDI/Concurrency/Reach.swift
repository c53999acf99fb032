/// Where a dependency may be used: from anywhere if its type is `Sendable`, else on the main actor alone.
///
/// Only the compiler knows which it is. `Sendable` is a marker protocol and leaves no trace at run time: `any P` and
/// `any P & Sendable` are one metatype, and so one key. Each verb therefore stands twice, and says by its reach which of the two
/// forms the compiler chose. An entry remembers the reach that it was registered with, and a lookup for a `Sendable` type does
/// not give out what was registered without `Sendable`.
@usableFromInline
struct Reach: Equatable, Sendable {
  // Not an enum: the mask itself is what a lookup hands on, which serves the row "link, bound there" of the benchmarks.

  /// What a `LookupForm` takes of a type's facts.
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
    @inline(__always) get { Reach(mask: 0b10_0001) }
  }
  /// The compiler does not know the type to be `Sendable`.
  @inlinable
  static var mainActor: Reach {
    @inline(__always) get { Reach(mask: 0b00_0010) }
  }
}

/// How a lookup asks: for which type, and with which reach.
///
/// The bits are chosen so that one `&` makes a form of a `TypeToken`, and another one compares it with an entry's ``EntryForm``.
struct LookupForm {
  let bits: UInt

  /// Whether the lookup is for the very type that lookups for its key normally name.
  var isExact: Bool { bits & Self.exactFacts != 0 }

  /// Whether the lookup is for a `Sendable` type.
  var reach: Reach { bits & Self.isForSendable != 0 ? .anywhere : .mainActor }

  fileprivate static var isForSendable: UInt { 0b10_0000 }

  /// The facts of a type that a form is made of, as bits of a `TypeToken`: two for exactness, one for each reach, and one that is always set.
  static var exactFacts: UInt { 0b00_0011 }
  static var constantFacts: UInt { isForSendable }

  @inline(__always)
  init(_ token: TypeToken, _ reach: Reach) { bits = token.word & reach.mask }

  /// A form that no entry's recorded words fit.
  init(casting reach: Reach) { bits = reach.mask & ~Self.exactFacts }
}

/// How an entry was registered: as which type, and with which reach.
struct EntryForm {
  private let bits: UInt8

  /// - Parameters:
  ///   - isExact: Whether the entry's recorded words are those of the very type that lookups for its key normally name.
  ///   - reach: Where the dependency may be used.
  init(isExact: Bool, _ reach: Reach) {
    let isSendable = reach == .anywhere
    bits = (isSendable ? 0b100_0000 : 0) | (isExact ? 0b10 : 0) | (isExact && isSendable ? 0b01 : 0)
  }

  var isExact: Bool { bits & 0b10 != 0 }
  var reach: Reach { bits & 0b100_0000 != 0 ? .anywhere : .mainActor }

  /// Whether a lookup gets the recorded words as they are: it may have the dependency, and asks for the very type.
  @inline(__always)
  func fits(_ form: LookupForm) -> Bool { UInt(bits) & form.bits != 0 }

  /// Whether a lookup may not have the dependency, which is not `Sendable` where the lookup wants that it is.
  func isRefused(to reach: Reach) -> Bool { reach == .anywhere && self.reach == .mainActor }
}

extension Reach {
  /// Checks, in debug builds of the calling module, that a verb of the main actor's form runs on the main actor.
  ///
  /// In the Swift 6 language mode the compiler sees to that. In the Swift 5 mode it says at most a warning.
  @inlinable
  @inline(__always)
  func assertIsolation(_ type: Any.Type) { assert(self == .anywhere || MainActorCheck.isIsolated(type)) }
}
