/// What a provider made, as an entry. Slots point at it instead of at the provider.
class InstanceEntry: Entry, @unchecked Sendable {
  // Unchecked: it adds only what stays constant until `deinit`.

  /// The instance or its box, if it is owned.
  final var owned: AnyObject? { unsafe uncheckedOwned }
  /// Written only in `init` and `deinit`.
  @exclusivity(unchecked) private final var uncheckedOwned: AnyObject?
  private let provider: Unretained<Provider>
  /// The address of the instance that an alias converted to this one; 0 if no alias made it. That instance is not held.
  private let origin: UInt

  /// - Parameters:
  ///   - isWeak: Whether the instance is held weakly, because others keep it.
  ///   - origin: The address of the instance that an alias converted to this one.
  init(_ instance: borrowing Instance, _ provider: Provider, isWeak: Bool, origin: UInt = 0) {
    self.provider = Unretained(provider)
    self.origin = origin
    unsafe uncheckedOwned = isWeak ? nil : instance.object
    if isWeak {
      super.init(
        .observed, instance.form, key: HeldKey(copying: provider.heldKey), isExact: provider.makesExactType,
        provider.reach, provider.site)
    } else {
      super.init(
        instance.isBox ? .boxed : .owned, without: instance.form, key: HeldKey(copying: provider.heldKey),
        isExact: provider.makesExactType, provider.reach, provider.site)
    }
  }

  deinit {
    // A context owned the instance, and a context can be released on any thread.
    guard reach == .mainActor, let owned = unsafe uncheckedOwned.take() else { return }
    releaseOnMainActor(consume owned)
  }

  /// The instance, or nil if it is dead.
  final var instance: Instance? {
    (owned ?? object).map { Instance(object: $0, form: form, isBox: kind == .boxed) }
  }

  /// The instance, if it was converted from `original`.
  final func instance(from original: Instance) -> Instance? {
    origin == Unretained(original.object).address ? instance : nil
  }

  override func withdraw(_ garbage: inout Garbage) {
    provider.object.forget(self, &garbage)
  }

  /// The provider that made the instance. Call this only under a lock that guards a slot that points at this entry.
  final var maker: Provider { provider.object }

  override func obtain(_ context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? { instance }
}
