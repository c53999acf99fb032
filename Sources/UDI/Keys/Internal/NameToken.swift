/// Stands for the value of a name that was made on the main actor: there is one token for all equal values of one type.
///
/// The value need not be `Sendable`, and its `==`, `hash(into:)` and `description` may belong to the main actor, but
/// the name can be used anywhere. So these three are called only while a name is made. The token stores the hash and
/// the description, and tokens are compared by identity.
final class NameToken: Hashable, @unchecked Sendable {
  // Unchecked: `box` is read only where names are made, which is on the main actor, and changed only by `deinit`, when
  // nobody else has the token.

  /// The value's hash.
  private let digest: Int
  /// The value as it describes itself.
  let description: String
  private var box: NameBox?

  private init(_ box: NameBox, _ digest: Int) {
    self.digest = digest
    self.box = box
    description = box.description
  }

  deinit {
    Self.table.remove(self, digest)
    if let box = box.take() { releaseOnMainActor(consume box) }
  }

  static let table = InternTable<NameToken>()

  /// The token of a value. Call this on the main actor, where the value may be compared and described.
  static func of(_ value: some Hashable) -> NameToken {
    let box = NameBox(value)
    let digest = box.hashValue
    if let found = table.find(digest, where: { $0.box == box }) { return found }
    // The token is made before the table is locked, because making it asks the value for its description.
    let new = NameToken(box, digest)
    return table.intern(digest, where: { $0.box == box }) { _ in new }
  }

  static func == (left: NameToken, right: NameToken) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
