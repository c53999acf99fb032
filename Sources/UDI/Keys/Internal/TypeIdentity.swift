import Synchronization

/// The identity of a type. It stands for the text that `String(reflecting:)` returns for the type: types with the same
/// text have the same identity. (Protocols that are linked into two images of a process are an exception; see
/// `UDIKey`.) The text is compared only where it has to be (`TypeMetadata.hasTextOfItsOwn`).
///
/// Identities are never freed, because a program has a limited number of types.
///
/// An identity is also the key of its type without a name. No other key ever has its id, which is less than
/// `KeyIdentity.scopeBit`.
package final class TypeIdentity: KeyIdentity, @unchecked Sendable {
  // Unchecked, because its superclass is. This class adds constants, atomics, and a number that the tree lock guards.

  /// The first type that was seen with this text. A few types have the same text as others, for example `((() -> Void)
  /// -> Void).self` and `((@escaping () -> Void) -> Void).self`. They have one key, but a value that was stored as one
  /// of them must not be read as the other without a cast.
  let firstType: Any.Type
  /// How many watchers find all dependencies of this type. Guarded by the tree lock.
  @exclusivity(unchecked) nonisolated(unsafe) var followers = 0
  /// How many `NamedKey`s of this type exist. While there are none, `linkAll` does not look for dependencies with
  /// names.
  let namedKeys = Atomic<UInt32>(0)
  /// Whether the type is known to be a class whose objects take no part in the tree, because it does not conform to
  /// `UDIObject`.
  let isPlain = Atomic<Bool>(false)
  /// Whether the type is known to be a class that conforms to `UDIObject`.
  let isMember = Atomic<Bool>(false)
  /// The text that `String(reflecting:)` returns for the type. It is not stored here, because the runtime stores it
  /// already.
  // `_typeName` returns the same text as `String(reflecting:)`, but faster: `String(reflecting:)` first searches all
  // conformances in the program for a custom description of the metatype, and a metatype cannot have one.
  @inline(never)
  var text: String { _typeName(firstType, qualified: true) }
  /// An id that no key has. For watchers, it stands for all keys of this type.
  // `id` is an address without its lowest four bits, so it does not have this bit. The ids of all other keys have a
  // higher one.
  var idOfAllKeys: UInt64 { id | Self.scopeBit >> 1 }
  /// The word of the type's token. Written only in `init`.
  @safe @exclusivity(unchecked) private(set) var token: UInt = 0
  /// The address of the next identity in a list of the table in `TypeToken.swift`; 0 if this is the last one.
  let next: UInt

  /// - Parameter original: The identity that was made for an earlier type with the same text. If there is one, its key
  ///   is that of both types, and the new identity is only in the table.
  init(_ type: Any.Type, original: TypeIdentity?, next: UInt) {
    (firstType, self.next) = (type, next)
    super.init(id: nil)
    token = TypeToken(original ?? self, type).word
  }

  /// Finds or makes the identity of the given type.
  package static func of(_ type: Any.Type) -> TypeIdentity { TypeToken.of(type).identity.object }
}
