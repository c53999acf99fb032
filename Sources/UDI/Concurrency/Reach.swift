/// Where a dependency may be used: from anywhere if its type is `Sendable`, else on the main actor alone.
///
/// Only the compiler knows which it is. `Sendable` is a marker protocol and leaves no trace at run time: `any P` and
/// `any P & Sendable` are one metatype, and so one key. Each verb therefore stands twice, and says by its reach which of the two
/// forms the compiler chose. An entry remembers the reach that it was registered with, and a lookup for a `Sendable` type does
/// not give out what was registered without `Sendable`.
@usableFromInline
enum Reach: UInt8, Sendable {
  // The raw values are masks for `LookupForm`.

  /// The type is `Sendable`.
  case anywhere = 0b10_0001
  /// The compiler does not know the type to be `Sendable`.
  case mainActor = 0b00_0010
}

/// How a lookup asks: for which type, and with which reach.
///
/// The bits are chosen so that one `&` makes a form of a `TypeToken`, and another one compares it with an entry's ``EntryForm``.
struct LookupForm {
  let bits: UInt8

  /// Whether the lookup is for the very type that lookups for its key normally name.
  var isExact: Bool { bits & UInt8(Self.exactFacts) != 0 }

  /// Whether the lookup is for a `Sendable` type.
  var reach: Reach { bits & Self.isForSendable != 0 ? .anywhere : .mainActor }

  fileprivate static var isForSendable: UInt8 { 0b10_0000 }

  /// The facts of a type that a form is made of, as bits of a `TypeToken`: two for exactness, one for each reach, and one that is always set.
  static var exactFacts: UInt { 0b00_0011 }
  static var constantFacts: UInt { UInt(isForSendable) }

  @inline(__always)
  init(_ token: TypeToken, _ reach: Reach) { bits = UInt8(truncatingIfNeeded: token.word) & reach.rawValue }
}

/// How an entry was registered: as which type, and with which reach.
struct EntryForm {
  private let bits: UInt8

  /// - Parameters:
  ///   - isExact: Whether the entry's recorded words are those of the very type that lookups for its key normally name.
  ///   - reach: Where the dependency may be used.
  init(isExact: Bool, _ reach: Reach) {
    bits =
      switch (isExact, reach) {
      case (true, .anywhere): 0b100_0011
      case (true, .mainActor): 0b000_0010
      case (false, .anywhere): 0b100_0000
      case (false, .mainActor): 0
      }
  }

  var isExact: Bool { bits & 0b10 != 0 }
  var reach: Reach { bits & 0b100_0000 != 0 ? .anywhere : .mainActor }

  /// Whether a lookup gets the recorded words as they are: it may have the dependency, and asks for the very type.
  @inline(__always)
  func fits(_ form: LookupForm) -> Bool { bits & form.bits != 0 }

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
