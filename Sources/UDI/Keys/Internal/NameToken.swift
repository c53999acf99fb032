/// Stands for the value of a name that was made on the main actor: there is one token for all equal values of one type.
///
/// The value need not be `Sendable`, and its `==`, `hash(into:)` and `description` may belong to the main actor, but
/// names go anywhere. So all three are called only while a name is made. Afterwards, tokens are compared by identity,
/// and the token stores the hash and the description.
final class NameToken: Hashable, @unchecked Sendable {
  // Unchecked: `box` is read where names are made, which is on the main actor, and set by `deinit`, when nobody else
  // has the token.

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

  /// The token of a value. To be called on the main actor, where the value may be compared and described.
  static func of(_ value: some Hashable) -> NameToken {
    let box = NameBox(value)
    let digest = box.hashValue
    if let found = table.find(digest, where: { $0.box == box }) { return found }
    // Made before the table is locked, because it describes the value.
    let new = NameToken(box, digest)
    return table.intern(digest, where: { $0.box == box }) { _ in new }
  }

  static func == (left: NameToken, right: NameToken) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
