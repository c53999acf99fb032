/// A provider with an asynchronous factory.
///
/// Synchronous lookups find the instance that this provider keeps, but never make one. Only `obtain` makes one: see
/// `Demand`.
final class AsyncFactory: Provider, @unchecked Sendable {
  // Unchecked: this class adds constants.

  typealias Function = @Sendable (UDIContext, KeptArguments?, [OwnedInstance?]) async throws -> Instance?

  private let function: ActorOwned<Function>
  /// The types that the factory looks up; nil if they are not known.
  private let parameters: [Any.Type]?
  private let reachOfUncheckedParameters: UDIReach?

  /// - Parameters:
  ///   - actor: The actor that the function belongs to, if any. It is released there.
  ///   - parameters: The types that the factory looks up; nil if they are not known.
  ///   - reach: The reach with which an initialiser's parameters are looked up.
  // The forms of `register` share this code. Compiled in each of them, it would add 5 KiB to a client.
  @inline(never)
  init(
    _ request: borrowing RegisterRequest, _ actor: (any Actor)?, wanted: (any AnyArgumentPack.Type)? = nil,
    parameters: [Any.Type]? = nil, _ reach: UDIReach? = nil, _ function: @escaping Function
  ) {
    request.reach.assertIsolation(request.type)
    self.function = ActorOwned(function, by: actor)
    (self.parameters, reachOfUncheckedParameters) = (parameters, reach)
    super.init(request, isolation: .of(actor, in: nil, at: request.site), wanted: wanted)
  }

  override func parameterTypes(in context: UDIContext) -> [Any.Type]? { parameters }
  override var reachOfParameters: UDIReach? { reachOfUncheckedParameters }

  /// Calls the factory, and does everything that has to happen before and after the call.
  override nonisolated(nonsending) func make(
    _ demand: Demand, with parameters: [OwnedInstance?], as call: AsyncCall, for place: Place?
  ) async throws -> OwnedInstance? {
    if !parameters.isEmpty, !isStillWanted(for: place) {
      if let (keeper, creation) = place { keeper.end(creation, .success(nil)) }
      return nil
    }
    let instance = try await run(demand, with: parameters, as: call, for: place?.creation)
    let (isWanted, completes) =
      !instance.isBox && UDIAttachment.exists(for: instance.object)
      ? await attachAndKeep(instance, demand.context, for: place, on: isolation.actor) : keep(instance, for: place)
    if completes { await complete(instance, for: demand.context, on: completionActor) }
    if !isWanted {
      await closeUnkept(instance, demand.context.fullPath)
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
    let measured = Self.areRunsMeasured ? measureRun(in: context, askedBy: call.keysOfAskers) : nil
    var (made, thrown): (Instance?, (any Error)?)
    call.noteFactoryBegin()
    do { made = try await function.value(context, arguments, parameters) } catch { thrown = error }
    let error = call.noteFactoryEnd(throwing: thrown)
    creation?.noteEndOfFactory()
    guard error == nil, let made else {
      // If the factory has missed something, the instance that it has made nevertheless is released where it belongs.
      if reach == .mainActor, let lost = made.take() { releaseOnMainActor(consume lost) }
      throw fail(error ?? ProviderFailure.returnedNil, with: arguments?.arguments, for: context, in: demand.warmUp)
    }
    measured?()
    return made
  }

  /// Keeps an instance, if there is a place for it, and unless the creation has been abandoned.
  ///
  /// - Returns: Whether the instance is wanted, and whether the completion has to be called.
  private func keep(_ instance: Instance, for place: Place?) -> (isWanted: Bool, completes: Bool) {
    if hasFailed { forgetFailure() }
    guard let (keeper, creation) = place else { return (true, hasCompletion) }
    if creation.beginKeeping() { return (true, keeper.keep(instance, of: creation, by: self)) }
    keeper.end(creation, .success(nil))
    return (false, hasCompletion)
  }

  /// Does the same for an instance that takes part in the tree: attaches it first, and looks up the dependencies that
  /// it requires after it has been kept, because they might need it. All this happens on the factory's actor, because
  /// the instance's conformance to `UDIObject` might belong to that actor.
  private func attachAndKeep(
    _ instance: Instance, _ context: UDIContext, for place: Place?, on actor: isolated (any Actor)?
  ) -> (isWanted: Bool, completes: Bool) {
    let isOwned = place?.keeper.servesAllLookups == true && sharing != .weak
    let attachment = attach(instance.object, to: context, isOwned: isOwned)
    let kept = keep(instance, for: place)
    if let attachment, attachment.context != nil { Node.fillRequired(instance.object, attachment, at: site) }
    return kept
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
    if let owner = owner(asking: context) { try resolution.read { try $0.checkWarmUp(calling: self, for: owner) } }
    let asker = Activity.Waiter.task(.current, through: resolution.read { $0.keys(from: 0) })
    if let cycle = Tree.change({ _ in creation?.circle(through: asker) }) { throw ProviderFailure.cycle(cycle) }
    throw resolution.read { $0.missedOnlyHere(.asynchronous(self)) }
  }
}
