import Synchronization

/// The result of `String(reflecting:)` for a type, interned: there is one instance for each distinct string, for ever.
///
/// The types of a program are limited in number, so nothing here is freed.
///
/// The identity is also the key of the type without a name. Its id is unique among types, never reused, above
/// `lastReservedID` and below `KeyIdentity.namedBit`.
final class TypeIdentity: KeyIdentity, @unchecked Sendable {
  // Unchecked because its superclass is; it adds only constants and atomics.

  /// The first type that was seen with this string. A few types share their string with another, for example
  /// `((() -> Void) -> Void).self` and `((@escaping () -> Void) -> Void).self`. They are one dependency, but stored
  /// values of the one type must not be read as the other without a cast.
  let metatype: ObjectIdentifier
  /// How many live `NamedKey`s give this type a name. While there are none, `linkAll` need not look for them.
  let namedKeys = Atomic<UInt32>(0)
  /// Whether the instances of the class take part in the tree.
  var membership: Membership {
    get { knownMembership.load(ordering: .relaxed) }
    set { knownMembership.store(newValue, ordering: .relaxed) }
  }
  private let knownMembership = Atomic<Membership>(.unknown)
  /// `String(reflecting:)` of the type. It is not stored, because the runtime keeps the text, too.
  // The identifier of a metatype is the metatype. The runtime's name is the same text as `String(reflecting:)`, which
  // would first search all conformances of the program for another way in which the type describes itself. A type
  // cannot have one.
  var text: String { _typeName(unsafe unsafeBitCast(metatype, to: Any.Type.self), qualified: true) }

  /// Whether a class conforms to `UDIObject`, once that has been found out.
  enum Membership: UInt8, AtomicRepresentable {
    case unknown, object, plain
  }

  /// - Parameter id: A reserved id; nil for that of a type.
  init(_ metatype: ObjectIdentifier, id: UInt64? = nil) {
    self.metatype = metatype
    super.init(id: id)
  }

  /// The identity of a type.
  static func of(_ type: Any.Type) -> TypeIdentity { TypeToken.of(type).identity.object }
}
