/// A set of arguments: tells apart the instances that one provider has made.
///
/// The arguments' `==` is the user's, so it is called with no lock held; the hash is computed once.
final class ArgumentKey: Hashable, @unchecked Sendable {
  // Unchecked: arguments are `Sendable`, or used on the main actor alone; and they are only compared.
  // Written in `init` and `deinit` alone.
  @exclusivity(unchecked) private var values: [AnyHashable]
  private let belongsToMainActor: Bool
  let digest: Int

  /// - Parameter belongsToMainActor: Whether the arguments need not be `Sendable`, and so have to be released on the main actor.
  /// - Returns: Nil if one of the arguments is not `Hashable`.
  init?(_ arguments: [Any], belongsToMainActor: Bool) {
    var values: [AnyHashable] = []
    for argument in arguments {
      guard let value = argument as? any Hashable else { return nil }
      values.append(AnyHashable(value))
    }
    unsafe self.values = values
    self.belongsToMainActor = belongsToMainActor
    digest = values.hashValue
  }

  deinit {
    guard belongsToMainActor else { return }
    var last: [AnyHashable] = []
    unsafe swap(&last, &values)
    releaseOnMainActor(consume last as Any)
  }

  static func == (left: ArgumentKey, right: ArgumentKey) -> Bool {
    guard left.digest == right.digest else { return false }
    // `AnyHashable` alone would find 1 and 1.0 equal.
    return unsafe left.values.elementsEqual(right.values) { type(of: $0.base) == type(of: $1.base) && $0 == $1 }
  }

  func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
