/// Represents the value of a name that was made on the main actor. There is one token for all equal values of one type.
///
/// Such a name may be used anywhere, although its value need not be `Sendable`, and although the value's `==`,
/// `hash(into:)` and `description` can belong to the main actor. These three are therefore called only while a name is
/// made. The token stores the hash and the description, and tokens are compared by identity.
final class NameToken: Hashable, @unchecked Sendable {
  // Unchecked: `box` is read only while names are made, which happens on the main actor. It is changed only in
  // `deinit`, when no other code can reach the token.

  /// The value's hash.
  private let digest: Int
  /// The value's description.
  let description: String
  let typeName: String
  private var box: NameBox?

  private init(_ box: NameBox, _ digest: Int) {
    self.digest = digest
    self.box = box
    description = box.description
    typeName = box.typeName
  }

  deinit {
    Self.table.remove(self, digest)
    if let box = box.take() { releaseOnMainActor(consume box) }
  }

  static let table = InternTable<NameToken>()

  /// Finds or makes the token of a value. Call this on the main actor, where the value may be compared and described.
  static func of(_ value: some Hashable) -> NameToken {
    let box = NameBox(value)
    let digest = box.hashValue
    if let found = table.find(digest, where: { $0.box == box }) { return found }
    // The token is made before the table is locked, because making it calls the value's `description`.
    let new = NameToken(box, digest)
    return table.intern(digest, where: { $0.box == box }) { _ in new }
  }

  static func == (left: NameToken, right: NameToken) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
