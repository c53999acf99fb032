/// Keeps the instances of one provider for one scope, under the lifetime `.scope`.
///
/// A provider with this lifetime keeps nothing by itself. Each scope that asks gets a `ScopeKeeper`, which keeps the
/// instances as a provider does under `.context`, while the provider's factory makes them. The keeper is in the table
/// of the scope's providers, so its instances are closed, reset, listed and released together with the rest. But slots
/// do not refer to it. A lookup finds the provider, whether the scope has made anything or not. So the order of lookups
/// makes no difference to what they find.
final class ScopeKeeper: Provider, @unchecked Sendable {
  // Unchecked: this class adds a constant, and an instance that is guarded by the tree lock.

  let provider: Provider
  /// The instance that is kept. It has no entry, because no slot would refer to it. An entry would add a tenth to the
  /// row "scoped" of `Benchmarks/instructions`.
  @exclusivity(unchecked) private final var instance: Instance?

  init(_ provider: __shared Provider) {
    self.provider = provider
    super.init(keepingFor: provider)
  }

  deinit { if reach == .mainActor, let instance = unsafe instance.take() { releaseOnMainActor(consume instance) } }

  override var kept: Instance? { unsafe instance }

  override func keep(_ instance: Instance, _ garbage: inout Garbage) { unsafe self.instance = instance }

  override func forgetKept(_ garbage: inout Garbage) {
    guard let instance = unsafe instance.take() else { return }
    garbage.add(instance.object, reach)
    leaveIfIdle(&garbage)
  }
}
