import Synchronization

/// A key with a name. There is one object for each pair of type and name, which lives as long as something holds it.
final class NamedKey: KeyIdentity, @unchecked Sendable {
  // Unchecked, because its superclass is. This class adds only constants that are `Sendable`.

  /// The type. The reference is unowned, because a `TypeIdentity` is never freed.
  let typeReference: Unretained<TypeIdentity>
  let givenName: UDIName

  private init(id: UInt64, type: TypeIdentity, name: UDIName) {
    typeReference = Unretained(type)
    givenName = name
    super.init(id: id)
    type.namedKeys.add(1, ordering: .relaxed)
  }

  deinit {
    let type = typeReference.object
    type.namedKeys.subtract(1, ordering: .relaxed)
    Self.table.remove(self, Int(truncatingIfNeeded: Self.hashedID(type.id, givenName)))
  }

  private static let table = InternTable<NamedKey>()
  /// How often a key has been given an id that differs from its hash. Written under the table's lock.
  private static let collisions = Atomic<UInt64>(0)

  /// Whether any key has been given an id that differs from its hash.
  @inline(__always)
  static var haveCollided: Bool { collisions.load(ordering: .relaxed) != 0 }

  /// Finds or makes the key of the given type and name.
  @inline(never)
  static func of(_ type: TypeIdentity, _ name: UDIName) -> NamedKey {
    let hash = hashedID(type.id, name)
    return table.intern(Int(truncatingIfNeeded: hash), where: { $0.type === type && $0.name == name }) { others in
      var id = hash
      if others.contains(where: { $0.id == hash }) {
        id = namedBit | collisionBit | collisions.add(1, ordering: .relaxed).newValue
      }
      return NamedKey(id: id, type: type, name: name)
    }
  }

  /// Finds the key of the given type and name. If the result is nil, nothing is bound or registered under them in any
  /// context.
  static func find(_ type: TypeIdentity, _ name: UDIName) -> NamedKey? {
    table.find(Int(truncatingIfNeeded: hashedID(type.id, name))) { $0.type === type && $0.name == name }
  }
}
