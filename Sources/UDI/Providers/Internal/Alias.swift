/// Another type that is served from the instances of a provider.
final class Alias: Provider, @unchecked Sendable {
  // Unchecked: it adds constants, and something that is guarded by the tree lock.
  let target: Provider
  private let convert: (Made) -> Made?
  /// Where `convert` may run.
  private let conversion: Isolation
  /// What was made of an instance that is kept alive only by those who use it. Not shown in the slot, where it would outlive the instance.
  @exclusivity(unchecked) private var derived: Derived?

  /// Keeps neither alive. Refers to the instance weakly and not by its address, which another instance could get.
  private struct Derived {
    weak var origin: AnyObject?
    let entry: MadeEntry
  }

  init(
    _ description: consuming Description, of target: Provider, _ conversion: Isolation,
    _ convert: @escaping (Made) -> Made?
  ) {
    self.target = target
    self.convert = convert
    self.conversion = conversion
    super.init(description, wanted: target.wanted, isFactory: false)
  }

  override func obtain(_ context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Made? {
    // The instance belongs to the main actor: elsewhere not even a reference to it may be held.
    if target.reach == .mainActor, !MainActorCheck.isOnMainActor {
      guard arguments == nil, !isFresh, let present = kept() else {
        throw ProviderFailure.isolatedElsewhere(.mainActor)
      }
      return present
    }
    let original: Made?
    do { original = try target.obtain(context, arguments, isFresh: isFresh) } catch { throw passOn(error) }
    guard let made = original else { return nil }
    if let present = converted(from: made) { return present }
    // Asked only now: what was converted before may be handed out anywhere.
    if !conversion.isHere { throw ProviderFailure.isolatedElsewhere(conversion) }
    guard let converted = convert(made) else {
      let failure = ProviderFailure.notConvertible(from: target.madeType)
      noteFailure(failure, arguments)
      throw failure
    }
    forgetFailure()
    let other = Tree.change { garbage -> Made? in
      // Kept only if the provider keeps the instance, and both are still registered.
      guard node != nil, let isWeak = target.keepsWeakly(made, &garbage) else { return nil }
      // If another thread was faster, its conversion counts.
      if let other = self.made(from: made, &garbage) { return other }
      keep(converted, of: made, isWeak: isWeak, &garbage)
      return nil
    }
    return other ?? converted
  }

  /// What was made of the instance that is kept now.
  private func kept() -> Made? {
    Tree.change { garbage in
      if let shown {
        garbage.add(shown)
        return shown.made
      }
      guard let derived = unsafe derived, let origin = derived.origin else { return nil }
      garbage.add(derived.entry)
      let made = derived.entry.made
      Schedule.reached(.loadedToLook)
      garbage.add(origin, of: target)
      return made
    }
  }

  /// What was made of an instance before, if it is still there.
  private func converted(from made: Made) -> Made? {
    Tree.change { garbage in self.made(from: made, &garbage) }
  }

  /// The same under the tree lock.
  private func made(from original: Made, _ garbage: inout Garbage) -> Made? {
    if let shown { garbage.add(shown) }
    if let present = shown?.made(from: original) { return present }
    guard let derived = unsafe derived, let origin = derived.origin else { return nil }
    garbage.add(derived.entry)
    Schedule.reached(.loadedToLook)
    garbage.add(origin, of: target)
    return origin === original.object ? derived.entry.made : nil
  }

  override func keepsWeakly(_ made: Made, _ garbage: inout Garbage) -> Bool? {
    if let isWeak = super.keepsWeakly(made, &garbage) { return isWeak }
    guard let entry = unsafe derived?.entry, let present = entry.made else { return nil }
    garbage.add(entry)
    Schedule.reached(.loadedToLook)
    garbage.add(present.object, of: entry)
    return present.object === made.object ? true : nil
  }

  /// Keeps what was made of an instance. Under the tree lock.
  ///
  /// - Parameter isWeak: Whether the instance is kept weakly, and therefore what was made of it, too.
  private func keep(_ converted: Made, of original: Made, isWeak: Bool, _ garbage: inout Garbage) {
    guard !isWeak || !converted.isBox else { return }
    let entry = MadeEntry(converted, self, isWeak: isWeak, origin: original)
    if !isWeak || converted.object === original.object {
      if let shown { garbage.add(shown) }
      show(entry)
    } else {
      if let old = unsafe derived { garbage.add(old.entry) }
      unsafe derived = Derived(origin: original.object, entry: entry)
    }
  }
}
