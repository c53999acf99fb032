/// The entry for an instance that a provider keeps. Slots refer to this entry instead of to the provider.
class InstanceEntry: Entry, @unchecked Sendable {
  // Unchecked: this class adds only properties that stay constant until `deinit`.

  /// The instance, or the box that contains it, if the entry holds it strongly; nil if it holds it weakly.
  final var owned: AnyObject? { unsafe uncheckedOwned }
  /// Written only in `init` and `deinit`.
  @exclusivity(unchecked) private final var uncheckedOwned: AnyObject?
  private let provider: Unretained<Provider>

  /// - Parameter isWeak: Whether to hold the instance weakly, because its users keep it alive.
  init(_ instance: borrowing Instance, _ provider: Provider, isWeak: Bool) {
    self.provider = Unretained(provider)
    unsafe uncheckedOwned = isWeak ? nil : instance.object
    super.init(
      isWeak ? .observed : instance.isBox ? .boxed : .owned, instance.form, isWeak: isWeak, key: provider.key,
      isExact: provider.makesExactType, provider.reach, provider.site)
  }

  deinit {
    // The context that owns this entry can be released on any thread, but an instance that is not `Sendable` must be
    // released on the main actor.
    guard reach == .mainActor, let owned = unsafe uncheckedOwned.take() else { return }
    releaseOnMainActor(consume owned)
  }

  /// The instance, or nil if it has been released.
  final var instance: Instance? {
    (owned ?? object).map { Instance(object: $0, form: form, isBox: kind == .boxed) }
  }

  override func withdraw(_ garbage: inout Garbage) {
    provider.object.forget(self, &garbage)
  }

  /// The provider that made the instance. Call this only under a lock that guards a slot that refers to this entry. As
  /// long as the slot refers to the entry, the provider is alive.
  final var maker: Provider { provider.object }

  override func instance(for context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    instance
  }
}
