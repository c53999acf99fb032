/// Another type, or name, under which a provider's instances are found, after a call of `implements`.
///
/// An alias makes nothing: it asks its target for the instance, and casts it. If the target keeps the instance by
/// itself, and not in a cache, the alias shows the cast instance: from then on, slots refer to it under the alias's
/// key, too.
package final class Alias: Provider, @unchecked Sendable {
  // Unchecked: this class adds a constant.

  /// The provider that makes the instances. It is not an alias itself.
  let target: Provider

  /// - Parameter isolation: Where the target's instances may be made and cast.
  init(_ request: borrowing RegisterRequest, isolation: Isolation, of target: Provider) {
    self.target = target
    super.init(request, isolation: isolation, wanted: target.wanted)
  }

  override func instance(for context: UDIContext, with arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    // Off the main actor, nothing may even hold a reference to an instance that belongs there.
    if reach == .mainActor || target.reach == .mainActor, !runsOnMainActor {
      throw Resolution.current.read { $0.missedOnlyHere(.isolatedElsewhere(.mainActor)) }
    }
    do {
      return try target.instance(for: context, with: arguments, isFresh: isFresh).map { try cast($0, arguments) }
    } catch { throw passOn(error) }
  }

  override nonisolated(nonsending) func obtain(_ demand: Demand) async throws -> OwnedInstance? {
    do {
      guard let made = try await target.obtain(demand) else { return nil }
      let cast = { @Sendable in
        try demand.looking { OwnedInstance(try self.cast(made.value, demand.arguments?.arguments), self.reach) }
      }
      return try await reach == .anywhere && target.reach == .anywhere ? cast() : MainActor.run(body: cast)
    } catch { throw passOn(error) }
  }

  override func noteHelp() { target.noteHelp() }

  /// Returns an instance of the target as this alias's type. Shows it if the target shows the instance.
  ///
  /// - Throws: `ProviderFailure.notConvertible`.
  private func cast(_ instance: Instance, _ arguments: Arguments?) throws -> Instance {
    func cast<Other>(to type: Other.Type) -> Instance? { .wrapping(instance.anyValue as? Other) }
    guard let cast = _openExistential(madeType, do: cast) else {
      let failure = ProviderFailure.notConvertible(from: target.madeType)
      noteFailure(failure, arguments)
      throw failure
    }
    if hasFailed { forgetFailure() }
    Tree.change { garbage in
      guard node != nil, !showsInstance, let kept = target.shown, let present = kept.instance else { return }
      garbage.add(present.object, kept.reach)
      let isWeak = kept.owned == nil
      // A cast can wrap an object in a value, for example in an `AnyHashable`, which cannot be held weakly.
      if present.object === instance.object, !(isWeak && cast.isBox) {
        show(InstanceEntry(cast, self, isWeak: isWeak), &garbage)
      }
    }
    return cast
  }
}
