/// The entry of an instance, as its provider makes and finds it.
extension InstanceEntry {
  convenience init(_ instance: borrowing Instance, _ provider: __shared Provider, isWeak: Bool) {
    self.init(instance, keptBy: provider, isExact: provider.makesExactType, isWeak: isWeak)
  }

  /// The provider that keeps the instance. The cast is safe, because the only initialiser that is used takes one.
  var maker: Provider { unsafe unsafeDowncast(keeper, to: Provider.self) }
}

extension Entry {
  /// Returns the instance of an entry that lookups cannot read directly: makes it, or takes it out of its box.
  ///
  /// - Parameter isFresh: Whether to make a new instance even if one is kept.
  /// - Returns: Nil if the entry has left its context in the meantime.
  final func takeInstance(for context: UDIContext, with arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    try asProvider?.instance(for: context, with: arguments, isFresh: isFresh) ?? (self as? InstanceEntry)?.instance
  }

  /// Refuses the dependency, or arguments, to a lookup because of the reach.
  ///
  /// - Throws: `ProviderFailure.explained`.
  @inline(__always)
  final func reject(_ reach: UDIReach, _ arguments: Arguments?) throws {
    if registered.isRefused(to: reach) { throw ProviderFailure.explained(.notSendable) }
    if reach == .mainActor, let arguments { try (self as? Provider)?.rejectArguments(arguments) }
  }

  /// The type as which the instance was made; nil if it is not known.
  final var instanceType: Any.Type? { asProvider?.madeType }

  /// The entry as a provider. Unlike a checked cast, this looks only at the kind, which is one of these for providers
  /// and for nothing else.
  @inline(__always)
  private final var asProvider: Provider? {
    kind.rawValue >= Kind.provider.rawValue ? unsafe unsafeDowncast(self, to: Provider.self) : nil
  }
}
