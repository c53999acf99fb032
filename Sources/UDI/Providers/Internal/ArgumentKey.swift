/// A set of arguments, to tell the instances that one provider made apart.
///
/// The arguments' `==` is the user's, so it is called with no lock held; the hash is computed once.
@usableFromInline
final class ArgumentKey: Hashable, @unchecked Sendable {
  // Unchecked: arguments are `Sendable`, or used on the main actor alone; and they are only compared.
  private let values: [AnyHashable]
  let digest: Int

  /// - Returns: Nil if one of the arguments is not `Hashable`.
  init?(_ arguments: [Any]) {
    var values: [AnyHashable] = []
    for argument in arguments {
      guard let value = argument as? any Hashable else { return nil }
      values.append(AnyHashable(value))
    }
    self.values = values
    digest = values.hashValue
  }

  @usableFromInline
  static func == (left: ArgumentKey, right: ArgumentKey) -> Bool {
    // `AnyHashable` alone would find 1 and 1.0 equal.
    left.digest == right.digest
      && left.values.elementsEqual(right.values) { type(of: $0.base) == type(of: $1.base) && $0 == $1 }
  }

  @usableFromInline
  func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
