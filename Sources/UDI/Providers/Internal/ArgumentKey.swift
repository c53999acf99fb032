/// A set of arguments: tells apart the instances that one provider has made.
///
/// The arguments' `==` is the user's, so it is called with no lock held; the hash is computed once.
@usableFromInline
final class ArgumentKey: Equatable, @unchecked Sendable {
  // Unchecked: arguments are `Sendable`, or used on the main actor alone; and they are only compared.
  // Written in `init` and `deinit` alone.
  @exclusivity(unchecked) private var values: [any Hashable]
  /// Whether the arguments need not be `Sendable`, and so have to be released on the main actor.
  let belongsToMainActor: Bool
  let digest: Int

  init(_ values: [any Hashable], belongsToMainActor: Bool) {
    unsafe self.values = values
    self.belongsToMainActor = belongsToMainActor
    var hasher = Hasher()
    for value in values { value.hash(into: &hasher) }
    digest = hasher.finalize()
  }

  deinit {
    guard belongsToMainActor else { return }
    var last: [any Hashable] = []
    unsafe swap(&last, &values)
    releaseOnMainActor(consume last as Any)
  }

  @usableFromInline
  static func == (left: ArgumentKey, right: ArgumentKey) -> Bool {
    guard left.digest == right.digest else { return false }
    return unsafe left.values.elementsEqual(right.values) { areEqual($0, $1) }
  }

  /// Whether two arguments are of one type, and equal. Not by `AnyHashable`, which finds 1 and 1.0 equal.
  private static func areEqual<Argument: Hashable>(_ left: Argument, _ right: any Hashable) -> Bool {
    guard type(of: left) == type(of: right), let right = right as? Argument else { return false }
    return left == right
  }
}

extension ArgumentKey {
  /// An argument as something that can be compared; nil if it is not `Hashable`.
  static func comparable(_ argument: Any) -> (any Hashable)? {
    // What `AnyHashable` holds, because that alone has the type that counts.
    if type(of: argument) == AnyHashable.self, let box = argument as? AnyHashable { return box.base as? any Hashable }
    return argument as? any Hashable
  }
}
