/// Where a dependency may be used: anywhere if its type is `Sendable`, otherwise only on the main actor.
///
/// Only the compiler knows whether a type is `Sendable`. `Sendable` is a marker protocol, which leaves no trace at run
/// time: `any P` and `any P & Sendable` have the same metatype, and so the same key. Therefore verbs such as `bind` and
/// `link` have two overloads, each of which passes on the reach that it stands for. An entry stores the reach that it
/// was registered with. A lookup for a `Sendable` type never returns a dependency that was registered under a type that
/// is not `Sendable`. For the library only.
@_documentation(visibility: internal)
public struct UDIReach: Hashable, Sendable {
  // The type is not an enum, because a lookup uses the mask directly.

  /// The bits that a `WantedType` takes from a `TypeToken`.
  @usableFromInline let mask: UInt

  @_alwaysEmitIntoClient @inline(__always)
  init(mask: UInt) { self.mask = mask }

  /// Returns whether both values are the same.
  @_alwaysEmitIntoClient @inline(__always)
  public static func == (left: UDIReach, right: UDIReach) -> Bool { left.mask == right.mask }

  /// Anywhere: the type is `Sendable`.
  @_alwaysEmitIntoClient @inline(__always)
  package static var anywhere: UDIReach { UDIReach(mask: 0b101) }
  /// Only the main actor: the compiler does not know that the type is `Sendable`.
  @_alwaysEmitIntoClient @inline(__always)
  package static var mainActor: UDIReach { UDIReach(mask: 0b010) }

  /// Checks that a main-actor overload of a verb runs on the main actor. The check is made in debug builds of the
  /// module that this method is inlined into: the caller's or the library.
  ///
  /// In the Swift 6 language mode, the compiler refuses calls from elsewhere, or at least warns about them. In the
  /// Swift 5 mode, it only warns, if at all.
  @_alwaysEmitIntoClient @inline(__always)
  func assertIsolation(_ type: Any.Type) { assert(self == .anywhere || isIsolatedToMainActor(type)) }
}
