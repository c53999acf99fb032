/// A provider with an asynchronous factory.
///
/// Synchronous lookups find the instance that this provider keeps, but never make one. Only `obtain` makes one: see
/// `AsyncFactory+Making.swift`.
final class AsyncFactory: Provider, @unchecked Sendable {
  // Unchecked: this class adds constants.

  typealias Function = @Sendable (UDIContext, KeptArguments?) async throws -> Instance?
  /// The closure to call after the instance has been made.
  typealias Completion = @Sendable (UDIContext, Instance) async -> Void

  let function: Function
  let completion: Completion?
  /// The types that the factory looks up; nil if they are not known.
  private let parameters: [Any.Type]?

  init(
    _ request: borrowing RegisterRequest, isolation: Isolation, wanted: (any AnyArgumentPack.Type)? = nil,
    parameters: [Any.Type]? = nil, completion: Completion?, function: @escaping Function
  ) {
    request.reach.assertIsolation(request.type)
    self.function = function
    self.parameters = parameters
    self.completion = completion
    super.init(request, isolation: isolation, wanted: wanted)
  }

  override func parameterTypes(in context: UDIContext) -> [Any.Type]? { parameters }

  /// Returns the instance that is kept. If there is none, or if a fresh one is wanted, the lookup is a miss, because
  /// only `obtain` may run the factory.
  ///
  /// - Throws: `ProviderFailure`: normally `asynchronous`; `cycle` if the instance is being made and this lookup is
  ///   part of making it; or an error about the arguments.
  override func instance(for context: UDIContext, with arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    let key = try key(of: arguments)
    var creation: Creation?
    if !isFresh, keeps {
      let keeper = try keeper(for: key, asking: context)
      if let present = keeper.present { return present }
      creation = Tree.change { _ in keeper.creation }
    }
    let resolution = Resolution.current
    let providers = resolution.read { $0.runningProviders }
    let asker = Activity.Waiter.task(.current, through: providers.map(\.key))
    if let cycle = Tree.change({ _ in creation?.circle(through: asker) }) { throw ProviderFailure.cycle(cycle) }
    let unmade = Unmade(
      provider: self, context: context, arguments: arguments.map { KeptArguments($0) },
      askers: resolution.read { $0.runningCalls })
    resolution.read { $0.noteUnmade(unmade) }
    throw ProviderFailure.asynchronous(unmade)
  }
}

extension Provider {
  /// Whether an asynchronous factory makes the provider's instances.
  package final var isAsynchronous: Bool { maker is AsyncFactory }
}
