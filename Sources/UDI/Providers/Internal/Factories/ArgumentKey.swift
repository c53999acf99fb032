/// A set of arguments, as a key for the instances that providers make from them.
///
/// Comparing two keys calls the arguments' `==`, which is user code, so do not compare keys under a lock. The hash is
/// computed once, when the key is made.
@usableFromInline
final class ArgumentKey: Equatable, @unchecked Sendable {
  // Unchecked: the arguments are only compared, and are either `Sendable` or used only on the main actor. `values` is
  // written only in `init` and `deinit`.
  @exclusivity(unchecked) private var values: [any Hashable]
  /// Whether the arguments might not be `Sendable`, so that they have to be released on the main actor.
  let belongsToMainActor: Bool
  /// The hash of the arguments.
  let digest: Int

  init(_ values: [any Hashable], belongsToMainActor: Bool) {
    unsafe self.values = values
    self.belongsToMainActor = belongsToMainActor
    var hasher = Hasher()
    for value in values { value.hash(into: &hasher) }
    digest = hasher.finalize()
  }

  deinit { if belongsToMainActor { releaseOnMainActor(unsafe exchange(&values, with: [])) } }

  @usableFromInline
  static func == (left: ArgumentKey, right: ArgumentKey) -> Bool {
    guard left.digest == right.digest else { return false }
    return unsafe left.values.elementsEqual(right.values) { areEqual($0, $1) }
  }

  /// Whether two arguments have the same type and are equal. The comparison does not use `AnyHashable`, for which 1 and
  /// 1.0 are equal.
  private static func areEqual<Left: Hashable>(_ left: Left, _ right: any Hashable) -> Bool {
    func isEqual<Right: Hashable>(to right: Right) -> Bool {
      // If values of the type are not references, the type has no subclasses, so no cast is needed. With an `as?` cast,
      // a link takes 15 % longer (".context with one argument, already made" in `Benchmarks/compare`).
      if Left.self == Right.self, !TypeMetadata(Left.self).holdsReferences {
        return left == (unsafe unsafeBitCast(right, to: Left.self))
      }
      return areEqualObjects(left, right)
    }
    return isEqual(to: right)
  }

  // Not inlined into `areEqual`: the cast looks up the metadata of an optional, which is slow, and types without
  // references do not need the cast.
  @inline(never)
  private static func areEqualObjects<Left: Hashable>(_ left: Left, _ right: any Hashable) -> Bool {
    if type(of: left) == type(of: right), let right = right as? Left { left == right } else { false }
  }

  /// An argument in a form that can be compared; nil if it is not `Hashable`.
  static func comparable(_ argument: Any) -> (any Hashable)? {
    // An optional counts as the value that it wraps, because a factory receives the same argument either way. (Only a
    // factory that takes an `Any` could tell the two apart.) `isOptional` is checked first, because it is fast, and the
    // cast is not.
    if TypeMetadata(type(of: argument)).isOptional, let wrapped = (argument as? any AnyOptional)?.wrappedValue {
      return comparable(wrapped)
    }
    // An `AnyHashable` is unwrapped, because only the type of its content counts.
    if type(of: argument) == AnyHashable.self, let box = argument as? AnyHashable { return comparable(box.base) }
    return argument as? any Hashable
  }
}
