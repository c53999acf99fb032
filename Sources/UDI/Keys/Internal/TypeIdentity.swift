import Synchronization

/// The result of `String(reflecting:)` for a type, interned: there is one instance for each distinct string, for ever.
/// The string of a protocol type is not compared (`TypeMetadata.hasTextOfItsOwn`).
///
/// The types of a program are limited in number, so nothing here is freed.
///
/// The identity is also the key that consists of the type and no name. Its id belongs to this type alone, is never
/// reused, and lies between `lastReservedID` and `KeyIdentity.namedBit`.
final class TypeIdentity: KeyIdentity, @unchecked Sendable {
  // Unchecked because its superclass is; it adds only constants and atomics.

  /// The first type that was seen with this string. A few types share their string with another, for example
  /// `((() -> Void) -> Void).self` and `((@escaping () -> Void) -> Void).self`. They have one key, but a value that was
  /// stored as one of them must not be read as the other without a cast.
  let metatype: ObjectIdentifier
  /// How many live `NamedKey`s have this type. While there are none, `linkAll` does not look for dependencies with
  /// names.
  let namedKeys = Atomic<UInt32>(0)
  /// Whether instances of the type take part in the tree, if it is a class.
  var membership: Membership {
    get { knownMembership.load(ordering: .relaxed) }
    set { knownMembership.store(newValue, ordering: .relaxed) }
  }
  private let knownMembership = Atomic<Membership>(.unknown)
  /// `String(reflecting:)` of the type. It is not stored here, because the runtime stores the text already.
  // `_typeName` returns the same text as `String(reflecting:)`, but faster: `String(reflecting:)` first searches all
  // conformances in the program for a custom description of the metatype, and a metatype cannot have one.
  var text: String { _typeName(firstType, qualified: true) }
  /// The type that `metatype` identifies.
  // The cast is valid because an `ObjectIdentifier` of a metatype consists of the metatype.
  var firstType: Any.Type { unsafe unsafeBitCast(metatype, to: Any.Type.self) }

  /// Whether a class conforms to `UDIObject`, once that has been found out.
  enum Membership: UInt8, AtomicRepresentable {
    case unknown, object, plain
  }

  /// - Parameter id: A reserved id, or nil to give the identity the id of a type.
  init(_ metatype: ObjectIdentifier, id: UInt64? = nil) {
    self.metatype = metatype
    super.init(id: id)
  }

  /// The identity of a type.
  static func of(_ type: Any.Type) -> TypeIdentity { TypeToken.of(type).identity.object }
}
