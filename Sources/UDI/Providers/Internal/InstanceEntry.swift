/// What a provider made, as an entry: slots point at it in the provider's place.
class InstanceEntry: Entry, @unchecked Sendable {
  // Unchecked: it adds what is constant until the end.

  /// The instance or its box, where it is owned.
  final var owned: AnyObject? { unsafe uncheckedOwned }
  /// Written in `init` and `deinit` alone.
  @exclusivity(unchecked) private final var uncheckedOwned: AnyObject?
  private let provider: Unretained<Provider>
  /// The address of the instance that this one was made of, where an alias made it; the instance is not held.
  private let origin: UInt?

  /// - Parameters:
  ///   - isWeak: Whether somebody else keeps it.
  ///   - origin: What it was made of, by an alias.
  init(_ instance: Instance, _ provider: Provider, isWeak: Bool, origin: Instance?) {
    self.provider = Unretained(provider)
    self.origin = origin.map { Unretained($0.object).address }
    unsafe uncheckedOwned = isWeak ? nil : instance.object
    if isWeak {
      super.init(
        .observed, instance.form, key: HeldKey(provider.key), isExact: provider.makesExactType, provider.reach,
        provider.site)
    } else {
      super.init(
        instance.isBox ? .boxed : .owned, without: instance.form, key: HeldKey(provider.key),
        isExact: provider.makesExactType,
        provider.reach, provider.site)
    }
  }

  deinit {
    // Its context owned it, and that can be let go of on any thread.
    guard reach == .mainActor, let owned = unsafe uncheckedOwned.take() else { return }
    releaseOnMainActor(consume owned)
  }

  /// The instance, or nil if it is dead.
  final var instance: Instance? {
    (owned ?? object).map { Instance(object: $0, form: form, isBox: kind == .boxed) }
  }

  /// The instance, if it was made of this one.
  final func instance(from original: Instance) -> Instance? {
    origin == Unretained(original.object).address ? instance : nil
  }

  override func withdraw(_ garbage: inout Garbage) {
    provider.object.forget(self, &garbage)
  }

  /// The provider that made it. Under a lock under which a slot points at this entry.
  final var maker: Provider { provider.object }

  override func obtain(_ context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? { instance }
}
