/// A provider with a synchronous factory.
final class Factory: Provider, @unchecked Sendable {
  // Unchecked: this class adds constants, and `isolation` says where the function may be called.

  /// The function, if it is not in `owned`.
  private let function: FactoryFunction?
  /// The function, if it has to be released on an actor.
  private let owned: ActorOwned<FactoryFunction>?

  // Some parameters are `__shared` here and in the inlined initialisers of `FactoryFunction`, and some `consuming`. So
  // the factory's closure is retained once instead of three times. Otherwise `register` would take a seventh longer
  // ("register 16 in a new context, each" in `Benchmarks/compare`). With `borrowing` parameters, the compiler (Swift
  // 6.3) crashes.

  /// - Parameters:
  ///   - actor: The actor that the function belongs to, if any.
  ///   - wanted: The types of the arguments that the function takes, if any.
  init(
    _ request: borrowing RegisterRequest, _ actor: __shared (any Actor)?, _ function: consuming FactoryFunction,
    wanted: (any AnyArgumentPack.Type)? = nil
  ) {
    request.reach.assertIsolation(request.type)
    // A `Sendable` dependency may be made from parameters that are not `Sendable`.
    let isolation = Isolation.of(actor, reach: function.reachOfParameters ?? request.reach, request)
    if let owner = isolation.owner(request.reach) {
      owned = ActorOwned(function, by: owner)
      self.function = nil
    } else {
      owned = nil
      self.function = consume function
    }
    super.init(request, isolation: isolation, wanted: wanted)
  }

  /// Returns the instance that a lookup asks for, after making it if there is none. Every synchronous factory makes its
  /// instances in these steps:
  ///
  /// 1. Unless a fresh instance is wanted, one that the graph shares, or that the provider keeps, is taken. If another
  ///    thread is making it, this thread waits. If the provider will keep it, this thread begins a creation, for which
  ///    others wait; the instance is then made for the provider's own context. In all other cases, it is made for the
  ///    context that asks.
  /// 2. The factory gets a frame in the thread's resolution. If that would be a cycle, or if the factory belongs to an
  ///    actor on which this code does not run, this is an error instead.
  /// 3. The factory runs, while no lock is held.
  /// 4. If the instance takes part in the tree, it is attached to the context that the factory was given.
  /// 5. If the lifetime says so, the graph gets the instance, or the provider keeps it, and the threads that wait for
  ///    it are woken. The completion and the start of the instance's operation are put off until the end of the
  ///    outermost link.
  /// 6. The frame is removed. If it was the outermost one, the completions are called, and the operations begin.
  override func instance(for context: UDIContext, with arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    let thread = Resolution.current
    while true {
      switch try takeOnThread(for: context, with: arguments, isFresh: isFresh, by: .thread(thread), on: thread) {
      case .found(let instance): return instance
      case .gone, .make: return nil
      case .wait(let creation, let number):
        if let made = try creation.blockForOutcome(number).get() { return made.value }
      }
    }
  }

  /// Takes the instance, after making it on this thread if there is none and no other thread is making it.
  ///
  /// - Parameter waiter: The waiter, if another thread is making the instance.
  /// - Returns: `found`, `wait` or `gone`.
  // Inlined: without that, a scope takes 1 % longer ("scoped" in `Benchmarks/instructions`).
  @inline(__always)
  private func takeOnThread(
    for context: UDIContext, with arguments: Arguments?, isFresh: Bool, by waiter: Activity.Waiter,
    on thread: Unretained<Resolution>, after preparation: Creation? = nil
  ) throws -> Claim {
    guard keeps, !isFresh else {
      if isFresh {
        // A provider that keeps or makes an instance is still found while its context is being closed, but must make
        // nothing new.
        if let path = Tree.change({ _ in node?.endingPath }) { throw ProviderFailure.closed(path) }
      } else if sharing == .graph {
        let key = arguments == nil && wanted == nil ? nil : try key(of: arguments)
        if let shared = thread.read({ $0.shared(self, key) }) { return .found(shared) }
      }
      return .found(
        try make(
          for: context, with: arguments, isFresh: isFresh, in: .init(provider: self, cache: nil), nil, on: thread))
    }
    let key = arguments == nil && wanted == nil ? nil : try key(of: arguments)
    let keeper = try keeper(for: key, asking: context)
    if let stored = keeper.custom?.load() { return .found(stored) }
    let claim = try keeper.claim(for: context, by: waiter, on: thread, after: preparation)
    guard case .make(let creation, _) = claim else { return claim }
    // Another thread might have stored an instance since the storage was asked above.
    if let stored = keeper.custom?.load() {
      keeper.end(creation, .success(nil))
      return .found(stored)
    }
    let owner = creation.owner ?? context
    return try thread.read {
      .found(
        try $0.running(creation) {
          try make(for: owner, with: arguments, isFresh: false, in: keeper, creation, on: thread)
        })
    }
  }

  /// Makes an instance: takes the steps 2 to 6.
  ///
  /// - Parameters:
  ///   - keeper: The keeper of the instance, if there is a creation.
  ///   - creation: The creation that ends with the instance; nil if the provider does not keep the instance.
  private func make(
    for context: UDIContext, with arguments: Arguments?, isFresh: Bool, in keeper: InstanceKeeper,
    _ creation: Creation?, on thread: Unretained<Resolution>
  ) throws -> Instance {
    // Step 2.
    do {
      if thread.read({ unsafe $0.isForObtain }) { try thread.read { try $0.checkWarmUp(calling: self, for: context) } }
      if !mayRunHere { throw thread.read { $0.missedOnlyHere(.isolatedElsewhere(isolation)) } }
      try thread.read { try $0.push(self, for: context, with: arguments, isKept: creation != nil, isFresh: isFresh) }
    } catch {
      if let creation { keeper.end(creation, .success(nil)) }
      throw error
    }
    // Step 6.
    defer { thread.read { $0.pop() } }
    let misses = thread.read { unsafe $0.missesOnlyHere }
    do {
      // Step 3. While runs are recorded or observed, the run is measured. `dropLast` leaves out this provider, which is
      // the innermost.
      let measured =
        Self.areRunsMeasured ? measureRun(in: context, askedBy: thread.read { $0.keys(from: 0).dropLast() }) : nil
      guard (arguments != nil) == (wanted != nil) else {
        throw ProviderFailure.arguments(wanted: argumentTypes, given: arguments?.types ?? [])
      }
      if thread.read({ unsafe !$0.missed.isEmpty }) { thread.object.forgetMisses() }
      guard let instance = try call(context, arguments) else { throw ProviderFailure.returnedNil }
      if thread.read({ unsafe $0.missesOnlyHere }) != misses, let missed = thread.object.takeMiss() { throw missed }
      creation?.noteEndOfFactory()
      measured?()
      // Step 4.
      let needs =
        instance.isBox || !UDIAttachment.exists(for: instance.object)
        ? nil
        : attach(instance.object, to: context, isOwned: creation != nil && sharing != .weak, on: thread)
      if hasFailed { forgetFailure() }
      // Step 5.
      if sharing == .graph, !isFresh { thread.read { $0.share(instance, of: self, with: arguments?.key(for: self)) } }
      // A provided instance is the same each time, so its completion is not called again.
      let completes = creation.map { keeper.keep(instance, of: $0, by: self) } ?? (hasCompletion && !isOfProvided)
      if completes || needs != nil || creation != nil && runsInstances {
        thread.read {
          $0.atEnd(completes: completes, instance, needs, of: self, in: keeper.provider, for: context, with: arguments)
        }
      }
      return instance
    } catch { throw fail(error, with: arguments, for: context, in: keeper, creation, on: thread, misses: misses) }
  }

  /// Attaches an instance. Lookups that fail meanwhile are the instance's own, and not misses of the factory.
  @inline(never)
  private func attach(
    _ object: AnyObject, to context: UDIContext, isOwned: Bool, on thread: Unretained<Resolution>
  ) -> UDIAttachment? {
    let outer = unsafe exchange(&thread.object.attachingFrame, with: thread.object.frames.count)
    defer { unsafe thread.object.attachingFrame = outer }
    return attach(object, to: context, isOwned: isOwned)
  }

  /// Records that the factory has failed, and ends the creation.
  ///
  /// - Parameter misses: How many lookups had failed before, although they might succeed elsewhere.
  /// - Returns: The error for the caller.
  @inline(never)
  private func fail(
    _ error: any Error, with arguments: Arguments?, for context: UDIContext, in keeper: InstanceKeeper,
    _ creation: Creation?, on thread: Unretained<Resolution>, misses: Int
  ) -> any Error {
    var error = error
    let hasMissed = thread.read { unsafe $0.missesOnlyHere } != misses
    if hasMissed, let missed = thread.object.takeMiss(), !(error is CancellationError) { error = missed }
    error = fail(error, with: arguments, for: context, in: thread.read { unsafe $0.obtaining?.demand.warmUp })
    guard let creation else { return error }
    // If the factory missed something that belongs to a different actor, or has to be waited for, a thread that waits
    // might run on that actor, or be part of `obtain`. After a cycle, too, a waiting thread repeats its lookup: that
    // thread might be outside the cycle, or its error has to name a different path. Or the thread has more stack left.
    let isOnlyHere = hasMissed || error.isCycleOrTooDeep || error is CancellationError
    keeper.end(creation, isOnlyHere ? .success(nil) : .failure(error))
    return error
  }

  // MARK: - For `obtain`

  /// The parameters that have been obtained for an initialiser, and the preparation that did so, if the provider will
  /// keep the instance.
  private typealias Prepared = (parameters: [OwnedInstance?], place: Place?)

  /// What another thread is making, and the number of the task among those that wait for it; or the instance. Neither,
  /// if the lookup has to be repeated.
  private typealias Taken = (awaited: (creation: Creation, number: UInt64)?, made: OwnedInstance?)

  override nonisolated(nonsending) func obtain(_ demand: Demand) async throws -> OwnedInstance? {
    if reachOfParameters == nil { return try await takeOrWait(demand, nil) }
    if sharing == .graph, let shared = demand.graph.find(id) { return OwnedInstance(shared, reach) }
    return try await super.obtain(demand)
  }

  /// Calls the initialiser, unless another thread has done so meanwhile.
  override nonisolated(nonsending) func make(
    _ demand: Demand, with parameters: [OwnedInstance?], as call: AsyncCall, for place: Place?
  ) async throws -> OwnedInstance? {
    try place?.creation.beginFactory()
    let made = try await takeOrWait(demand, (parameters, place))
    if let (keeper, creation) = place { keeper.end(creation, .success(nil)) }
    return made
  }

  /// Takes the instance, or makes it on the factory's actor. Waits, without blocking the thread, if another thread is
  /// making it.
  ///
  /// - Parameter prepared: Nil for a closure.
  nonisolated(nonsending) private func takeOrWait(_ demand: Demand, _ prepared: Prepared?) async throws
    -> OwnedInstance?
  {
    try Task.checkCancellation()
    if mayRunHere { return try await takeOrWait(demand, prepared, on: nil) }
    // This task waits for the visit as for an instance: if it is cancelled, it stops waiting at once, even if the actor
    // is not free.
    let (visit, actor) = (AsyncCreation(on: nil), isolation.actor)
    let number = Tree.change { _ in visit.add(.task(.current, through: [])) }
    visit.start {
      do { return .success(try await self.takeOrWait(demand, prepared, on: actor)) } catch { return .failure(error) }
    }
    return try await visit.waitForOutcome(number).get()
  }

  @inline(never)
  nonisolated(nonsending) private func takeOrWait(
    _ demand: Demand, _ prepared: Prepared?, on actor: (any Actor)?
  ) async throws -> OwnedInstance? {
    while true {
      let (awaited, made) =
        if let actor { try await takeForTask(demand, prepared, on: actor) } else { try takeForTask(demand, prepared) }
      guard let (creation, number) = awaited else { return made }
      do { if let made = try await creation.waitForOutcome(number).get() { return made } } catch {
        // A look does not take over a failure. It calls the factory itself, because it has to know what the factory
        // needs.
        if demand.watcher == nil || error is CancellationError { throw error }
      }
    }
  }

  @inline(never)
  private func takeForTask(_ demand: Demand, _ prepared: Prepared?) throws -> Taken {
    if let prepared, !isStillWanted(for: prepared.place) { return (nil, nil) }
    let thread = Resolution.current
    let claim = try demand.looking {
      try thread.object.obtaining(demand, from: self, with: prepared?.parameters) {
        try takeOnThread(
          for: demand.context, with: demand.arguments?.arguments, isFresh: false, by: .task(.present, through: []),
          on: thread, after: prepared?.place?.creation)
      }
    }
    switch claim {
    // The instance might belong to the actor.
    case .found(let instance): return (nil, OwnedInstance(instance, reach))
    case .wait(let creation, let number): return ((creation, number), nil)
    case .gone, .make: return (nil, nil)
    }
  }

  /// Does the same on the factory's actor.
  private func takeForTask(_ demand: Demand, _ prepared: Prepared?, on actor: isolated any Actor) throws -> Taken {
    try Task.checkCancellation()
    // The thread remembers the actor meanwhile, so that factories of that actor may run.
    let thread = Resolution.current.object
    let outer = exchange(&thread.actor, with: actor)
    defer { thread.actor = outer }
    return try takeForTask(demand, prepared)
  }

  /// Calls the function.
  // There are two calls, because a variable for the function would count references to it.
  @inline(__always)
  private func call(_ context: UDIContext, _ arguments: Arguments?) throws -> Instance? {
    if let function { return try function.call(context, arguments, making: madeType) }
    return try owned?.value.call(context, arguments, making: madeType)
  }

  override func parameterTypes(in context: UDIContext) -> [Any.Type]? {
    guard let function = function ?? owned?.value else { return nil }
    guard function.reachOfParameters != nil else { return function.takesContext ? nil : [] }
    let thread = Resolution.current
    thread.read { $0.listed = [] }
    defer { thread.read { $0.listed = nil } }
    _ = try? function.call(context, nil, making: madeType)
    return thread.read { $0.listed }
  }

  override var reachOfParameters: UDIReach? { (function ?? owned?.value)?.reachOfParameters }
}
