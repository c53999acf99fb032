/// A request for something that only `obtain` can make.
final class Unmade: @unchecked Sendable {
  // Unchecked: the arguments are used by one task at a time, and the providers are constants.
  let provider: AsyncFactory
  let context: UDIContext
  let arguments: KeptArguments?
  /// The providers whose synchronous factories run and need it, the outermost first.
  let askers: [Provider]
  /// The aliases through which it was asked for, the innermost first.
  let aliases: [Alias]

  init(
    _ provider: AsyncFactory, _ context: UDIContext, _ arguments: KeptArguments?, askedBy askers: [Provider],
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

  /// Gets the instance; makes it if there is none.
  ///
  /// - Returns: Nil if the provider has left its context in the meantime.
  nonisolated(nonsending) func obtain() async throws -> Instance? {
    guard let instance = try await provider.instance(for: context, arguments, askers.map(\.key)) else { return nil }
    return aliases.isEmpty ? instance : try await serve(instance, on: aliases[0].conversion.actor)
  }

  /// Converts an instance on the actor that all conversions of one provider belong to, if they belong to one.
  private func serve(_ instance: Instance, on actor: isolated (any Actor)?) throws -> Instance {
    let resolution = PerThread.resolution.object
    let outer = resolution.actor
    resolution.actor = actor ?? outer
    defer { resolution.actor = outer }
    return try aliases.reduce(instance) { try $1.serve($0, arguments?.arguments) }
  }

  /// Whether the instance is kept, so that a synchronous lookup finds it afterwards.
  var isKept: Bool { provider.sharing != .unique && provider.sharing != .graph }

  /// Whether both ask the same provider for the same instance.
  func isSame(as other: Unmade) -> Bool {
    provider === other.provider
      && arguments?.arguments.key(for: provider) == other.arguments?.arguments.key(for: provider)
  }
}
