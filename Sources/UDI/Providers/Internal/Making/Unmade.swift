/// A request that only `obtain` can fulfil, because the factory is asynchronous.
final class Unmade: @unchecked Sendable {
  // Unchecked: all properties are constants. Only one task at a time uses the arguments, which need not be `Sendable`.
  let provider: AsyncFactory
  let context: UDIContext
  let arguments: KeptArguments?
  /// The calls of synchronous factories that need the instance, the outermost first.
  let askers: [RunningCall]
  /// The aliases through which the instance was asked for, the innermost first.
  let aliases: [Alias]

  init(
    _ provider: AsyncFactory, _ context: UDIContext, _ arguments: KeptArguments?, askedBy askers: [RunningCall],
    through aliases: [Alias] = []
  ) {
    self.provider = provider
    self.context = context
    self.arguments = arguments
    self.askers = askers
    self.aliases = aliases
  }

  /// The same request, made through one more alias.
  func asked(through alias: Alias) -> Unmade {
    Unmade(provider, context, arguments, askedBy: askers, through: aliases + [alias])
  }

  /// Returns the instance, after making it if there is none.
  ///
  /// - Returns: Nil if the provider has left its context in the meantime.
  nonisolated(nonsending) func obtain() async throws -> Instance? {
    let path = askers.map(\.provider.key)
    guard let instance = try await provider.instance(for: context, arguments, path) else { return nil }
    if aliases.isEmpty { return instance }
    // If the provider does not keep the instance, it is released here.
    let owned = ActorOwned(consume instance, by: provider.isolation.owner(provider.reach))
    // All conversions that belong to an actor belong to the same one: `implements` makes sure of it.
    return try await serve(owned, on: aliases.lazy.compactMap(\.conversion.actor).first)
  }

  /// Converts an instance to the types of the aliases, one after the other.
  ///
  /// - Parameter actor: The actor on which all conversions run; nil if they may run anywhere.
  private func serve(_ instance: ActorOwned<Instance>, on actor: isolated (any Actor)?) throws -> Instance {
    let resolution = PerThread.resolution.object
    let outer = resolution.actor
    resolution.actor = actor ?? outer
    defer { resolution.actor = outer }
    let asker = provider.sharing == .unique ? context : nil
    return try aliases.reduce(instance.value) { try $1.serve($0, arguments?.arguments, for: asker) }
  }

  /// Whether the provider keeps the instance, so that a synchronous lookup finds it afterwards.
  var isKept: Bool { provider.keeps }

  /// Whether both requests ask the same provider for the same instance, on behalf of the same factories.
  func isSame(as other: Unmade) -> Bool {
    provider === other.provider && askers.elementsEqual(other.askers) { $0.provider === $1.provider }
      && arguments?.arguments.key(for: provider) == other.arguments?.arguments.key(for: provider)
  }
}
