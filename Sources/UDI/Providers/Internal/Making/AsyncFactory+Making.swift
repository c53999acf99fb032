/// How an asynchronous factory makes an instance, when `obtain` asks for it.
extension AsyncFactory {
  /// Returns the instance that `obtain` asks for, after making it if there is none. The steps are those of
  /// `Factory.instance`, with three differences: tasks wait, an instance that others may want is made in a separate
  /// task, and the completion is called before those that wait get the instance.
  ///
  /// - Parameters:
  ///   - context: The context that asks.
  ///   - keys: The keys of the synchronous factories that need the instance, the outermost first.
  /// - Returns: Nil if the provider has left its context in the meantime; the caller then repeats the lookup.
  /// - Throws: `ProviderFailure`, `CancellationError` if the current task is cancelled, or what the factory throws.
  func instance(
    for context: UDIContext, with arguments: KeptArguments?, through keys: [KeyIdentity]
  ) async throws -> Instance? {
    let key = try key(of: arguments?.arguments)
    if keeps { return try await shared(for: context, with: arguments, key: key, through: keys, in: nil) }
    if sharing == .unique { try Task.checkCancellation() }
    let present = Graph.ofTask
    let graph = present ?? Graph()
    defer { if present == nil { graph.end() } }
    if sharing == .graph {
      return try await shared(for: context, with: arguments, key: key, through: keys, in: graph)
    }
    let call = try AsyncCall(
      self, for: context, with: key, in: graph, beginning: nil, askedBy: .current, through: keys)
    return try await make(for: context, with: arguments, call, for: nil)
  }

  /// Returns the instance that a keeper keeps. If there is none, makes it, or waits for the task that is making it.
  ///
  /// - Parameter graph: The graph that shares the instance; nil if the provider keeps it.
  private func shared(
    for context: UDIContext, with arguments: KeptArguments?, key: ArgumentKey?, through keys: [KeyIdentity],
    in graph: Graph?
  ) async throws -> Instance? {
    while true {
      switch try claim(for: context, with: arguments, key: key, through: keys, in: graph) {
      case .found(let instance): return instance
      case .gone: return nil
      case .make: continue
      case .wait(let creation, let number):
        switch try await creation.outcome(number) {
        case .made(let instance): return instance.value
        case .failed(let error): throw error
        case .undecided: continue
        }
      }
    }
  }

  /// Finds the instance, or the creation that is making it. If there is neither, starts a creation.
  // Not inlined, because `shared` would be compiled with it once more for each time that it waits.
  @inline(never)
  private func claim(
    for context: UDIContext, with arguments: KeptArguments?, key: ArgumentKey?, through keys: [KeyIdentity],
    in graph: Graph?
  ) throws -> Claim {
    // The call that this task is part of. It only waits for the result, as others may; the new call has its own
    // activity.
    let asker = AsyncCall.current
    let keeper = try graph?.keeper(of: self, key) ?? self.keeper(for: key, asking: context)
    if let stored = keeper.custom?.load() { return .found(stored) }
    if Task.isCancelled { throw CancellationError() }
    let claim = try keeper.claim(for: context, by: .task(asker, through: keys))
    guard case .make(let new, let waiter) = claim else { return claim }
    guard let creation = new as? AsyncCreation, let waiter else {
      preconditionFailure("a task begins a creation that it waits for")
    }
    let owner = creation.owner ?? context
    creation.start { [self] in
      do {
        try creation.beginFactory()
        // Another task might have stored an instance since this one asked the storage.
        if let stored = keeper.custom?.load() {
          creation.noteEndOfFactory()
          keeper.end(creation, .undecided)
          return .made(OwnedInstance(stored, reach))
        }
        // An instance that is kept has its own graph. So has one whose graph has ended in the meantime.
        let present = graph?.unlessEnded
        let own = present ?? Graph()
        defer { if present == nil { own.end() } }
        let call = try AsyncCall(
          self, for: owner, with: key, in: own, beginning: creation, askedBy: asker, through: keys)
        return .made(OwnedInstance(try await make(for: owner, with: arguments, call, for: (keeper, creation)), reach))
      } catch {
        creation.noteEndOfFactory()
        keeper.end(creation, .failed(error))
        return .failed(error)
      }
    }
    return .wait(creation, waiter)
  }

  /// Makes an instance: calls the factory, and does everything that has to happen before and after the call.
  ///
  /// - Parameters:
  ///   - context: The context that the factory gets.
  ///   - call: The new call. This method ends it.
  ///   - place: What keeps the instance, and the creation that ends with it; nil if only the caller gets the instance.
  private func make(
    for context: UDIContext, with arguments: KeptArguments?, _ call: AsyncCall,
    for place: (keeper: InstanceKeeper, creation: AsyncCreation)?
  ) async throws -> Instance {
    defer { call.end() }
    return try await AsyncCall.$current.withValue(call) {
      let instance: Instance
      do {
        let run = WatchedRun.isWanted ? WatchedRun(self, context, askedBy: call.keysOfAskers) : nil
        let made = try await function(context, arguments)
        place?.creation.noteEndOfFactory()
        guard let made else { throw ProviderFailure.returnedNil }
        run?.end()
        instance = made
      } catch {
        if !(error is CancellationError) { noteFailure(error, arguments?.arguments) }
        throw passOn(error)
      }
      let isOwned = place?.keeper.servesAllLookups == true && sharing != .weak
      let attachment = await attach(instance, to: context, isOwned: isOwned, on: isolation.actor)
      if hasFailed { forgetFailure() }
      let isWanted = place?.creation.beginKeeping() ?? true
      if let (keeper, creation) = place {
        if isWanted { keeper.keep(instance, of: creation) } else { keeper.end(creation, .undecided) }
      }
      if let attachment, attachment.context != nil { await meetNeeds(of: instance, attachment, on: isolation.actor) }
      await completion?(context, instance)
      if isWanted { place?.keeper.provider.beginOperations(of: instance) }
      if !isWanted { await close(instance, path: context.change { node, _ in node.fullPath }) }
      return instance
    }
  }

  /// Attaches an instance on the factory's actor: the instance's conformance to `UDIObject` might belong to that actor.
  private func attach(
    _ instance: Instance, to context: UDIContext, isOwned: Bool, on actor: isolated (any Actor)?
  ) -> UDIAttachment? {
    instance.isBox ? nil : attach(instance.object, to: context, isOwned: isOwned)
  }

  private func meetNeeds(of instance: Instance, _ attachment: UDIAttachment, on actor: isolated (any Actor)?) {
    attachment.meetNeeds(of: instance.object, at: site)
  }
}
