/// A provider with an asynchronous factory.
///
/// Synchronous lookups find the instance that this provider keeps, but never make one. Only `obtain` makes one: see
/// `Demand`.
final class AsyncFactory: Provider, @unchecked Sendable {
  // Unchecked: this class adds constants.

  typealias Function = @Sendable (UDIContext, KeptArguments?, [OwnedInstance?]) async throws -> Instance?
  /// The closure to call after the instance has been made.
  typealias Completion = @Sendable (UDIContext, Instance) async -> Void

  let function: Function
  let completion: Completion?
  /// The types that the factory looks up; nil if they are not known.
  private let parameters: [Any.Type]?
  private let reachOfUncheckedParameters: UDIReach?

  init(
    _ request: borrowing RegisterRequest, isolation: Isolation, wanted: (any AnyArgumentPack.Type)? = nil,
    parameters: [Any.Type]? = nil, reachOfParameters: UDIReach? = nil, completion: Completion?,
    function: @escaping Function
  ) {
    request.reach.assertIsolation(request.type)
    self.function = function
    self.parameters = parameters
    self.completion = completion
    reachOfUncheckedParameters = reachOfParameters
    super.init(request, isolation: isolation, wanted: wanted)
  }

  override func parameterTypes(in context: UDIContext) -> [Any.Type]? { parameters }
  override var reachOfParameters: UDIReach? { reachOfUncheckedParameters }

  /// Calls the factory, and does everything that has to happen before and after the call.
  override nonisolated(nonsending) func make(
    _ demand: Demand, with parameters: [OwnedInstance?], as call: AsyncCall, for place: Place?
  ) async throws -> OwnedInstance? {
    if !parameters.isEmpty, !isStillWanted(for: place) {
      if let (keeper, creation) = place { keeper.end(creation, .undecided) }
      return nil
    }
    let (context, arguments) = (demand.context, demand.arguments)
    let instance: Instance
    do {
      try Task.checkCancellation()
      let run = WatchedRun.isWanted ? WatchedRun(self, context, askedBy: call.keysOfAskers) : nil
      let made = try await call.missingNothing { try await function(context, arguments, parameters) }
      place?.creation.noteEndOfFactory()
      guard let made else { throw ProviderFailure.returnedNil }
      run?.end()
      instance = made
    } catch {
      throw fail(error, with: arguments?.arguments, for: context, in: demand.warmUp)
    }
    let isOwned = place?.keeper.servesAllLookups == true && sharing != .weak
    let mayAttach = !instance.isBox && UDIAttachment.exists(for: instance.object)
    let attachment = mayAttach ? await attach(instance, to: context, isOwned: isOwned, on: isolation.actor) : nil
    if hasFailed { forgetFailure() }
    let isWanted = place?.creation.beginKeeping() ?? true
    if let (keeper, creation) = place {
      if isWanted { keeper.keep(instance, of: creation) } else { keeper.end(creation, .undecided) }
    }
    if let attachment, attachment.context != nil { await meetNeeds(of: instance, attachment, on: isolation.actor) }
    await completion?(context, instance)
    if isWanted, runsInstances, let (keeper, creation) = place {
      let isCancelled = demand.warmUp != nil && !Tree.change { _ in creation.isWanted }
      keeper.provider.beginOperations(of: instance, isPutOff: isCancelled)
    }
    if !isWanted { await close(instance, path: context.change { node, _ in node.fullPath }) }
    return OwnedInstance(instance, reach)
  }

  /// Attaches an instance on the factory's actor: the instance's conformance to `UDIObject` might belong to that actor.
  private func attach(
    _ instance: Instance, to context: UDIContext, isOwned: Bool, on actor: isolated (any Actor)?
  ) -> UDIAttachment? { attach(instance.object, to: context, isOwned: isOwned) }

  private func meetNeeds(of instance: Instance, _ attachment: UDIAttachment, on actor: isolated (any Actor)?) {
    attachment.meetNeeds(of: instance.object, at: site)
  }

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
    if let owner = owner(asking: context),
      let error = resolution.read({ $0.errorInsteadOfCall(of: self, for: owner) })
    {
      throw error
    }
    let providers = resolution.read { $0.runningProviders }
    let asker = Activity.Waiter.task(.current, through: providers.map(\.key))
    if let cycle = Tree.change({ _ in creation?.circle(through: asker) }) { throw ProviderFailure.cycle(cycle) }
    resolution.read { $0.noteMissOnlyHere() }
    throw ProviderFailure.asynchronous(self)
  }
}

extension Provider {
  /// Whether an asynchronous factory makes the provider's instances.
  package final var isAsynchronous: Bool { maker is AsyncFactory }
}
