/// Another type that is served from the instances of a provider.
@usableFromInline
final class Alias: Provider, @unchecked Sendable {
  // Unchecked: it adds constants.
  let target: Provider
  private let convert: (Made) -> Made?

  @usableFromInline
  init(_ description: consuming Description, of target: Provider, _ convert: @escaping (Made) -> Made?) {
    self.target = target
    self.convert = convert
    super.init(description, argumentTypes: target.hasArguments ? target.argumentTypes : nil, isFactory: false)
  }

  @usableFromInline
  override func obtain(_ context: UDIContext, _ arguments: [Any], isFresh: Bool) throws -> Made? {
    let original: Made?
    do { original = try target.obtain(context, arguments, isFresh: isFresh) } catch { throw passOn(error) }
    guard let made = original else { return nil }
    if let present = converted(from: made) { return present }
    guard let converted = convert(made) else {
      let failure = ProviderFailure.notConvertible(from: target.madeType)
      noteFailure(failure, arguments)
      throw failure
    }
    forgetFailure()
    let other = Tree.change { garbage -> Made? in
      // Only what the provider shows, which is the same object; and only while both are registered.
      guard node != nil, let original = target.shown, let present = original.made else { return nil }
      garbage.add(present.object)
      guard present.object === made.object else { return nil }
      // Another thread may have been faster; what it made of it is the one then.
      if let other = shown?.made(from: made) { return other }
      let isWeak = original.owned == nil
      guard !isWeak || !converted.isBox else { return nil }
      if let shown { garbage.add(shown) }
      show(MadeEntry(converted, self, isWeak: isWeak, origin: made))
      return nil
    }
    return other ?? converted
  }

  /// What was made of an instance before, and is kept as long as that is.
  private func converted(from made: Made) -> Made? {
    Tree.change { garbage in
      if let shown { garbage.add(shown) }
      return shown?.made(from: made)
    }
  }
}
