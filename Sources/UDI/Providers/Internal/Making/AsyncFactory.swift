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
    let instance = try await run(demand, with: parameters, as: call, for: place?.creation)
    let isWanted =
      !instance.isBox && UDIAttachment.exists(for: instance.object)
      ? await attachAndKeep(instance, demand.context, for: place, on: isolation.actor) : keep(instance, for: place)
    await completion?(demand.context, instance)
    if !isWanted {
      await close(instance, path: demand.context.fullPath)
    } else if runsInstances, let (keeper, creation) = place {
      let isCancelled = demand.warmUp != nil && !Tree.change { _ in creation.isWanted }
      keeper.provider.beginOperations(of: instance, isPutOff: isCancelled)
    }
    return OwnedInstance(instance, reach)
  }

  nonisolated(nonsending) private func run(
    _ demand: Demand, with parameters: [OwnedInstance?], as call: AsyncCall, for creation: AsyncCreation?
  ) async throws -> Instance {
    try Task.checkCancellation()
    let (context, arguments) = (demand.context, demand.arguments)
    let watched = WatchedRun.isWanted ? WatchedRun(self, context, askedBy: call.keysOfAskers) : nil
    var (made, thrown): (Instance?, (any Error)?)
    call.beginFactory()
    do { made = try await function(context, arguments, parameters) } catch { thrown = error }
    let error = call.endFactory(throwing: thrown)
    creation?.noteEndOfFactory()
    guard error == nil, let made else {
      throw fail(error ?? ProviderFailure.returnedNil, with: arguments?.arguments, for: context, in: demand.warmUp)
    }
    watched?.end()
    return made
  }

  /// Keeps an instance, unless nobody wants it any longer.
  private func keep(_ instance: Instance, for place: Place?) -> Bool {
    if hasFailed { forgetFailure() }
    guard let (keeper, creation) = place else { return true }
    let isWanted = creation.beginKeeping()
    if isWanted { keeper.keep(instance, of: creation) } else { keeper.end(creation, .undecided) }
    return isWanted
  }

  /// Does the same for an instance that takes part in the tree, and attaches it. This happens on the factory's actor,
  /// because the instance's conformance to `UDIObject` might belong to that actor.
  private func attachAndKeep(
    _ instance: Instance, _ context: UDIContext, for place: Place?, on actor: isolated (any Actor)?
  ) -> Bool {
    let isOwned = place?.keeper.servesAllLookups == true && sharing != .weak
    let attachment = attach(instance.object, to: context, isOwned: isOwned)
    let isWanted = keep(instance, for: place)
    if let attachment, attachment.context != nil { attachment.meetNeeds(of: instance.object, at: site) }
    return isWanted
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
