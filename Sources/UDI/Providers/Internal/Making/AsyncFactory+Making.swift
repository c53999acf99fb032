/// How an asynchronous factory makes an instance.
extension AsyncFactory {
  /// Returns the instance that `obtain` asks for, after making it if there is none.
  ///
  /// - Parameters:
  ///   - context: The context that asks.
  ///   - path: The keys of the synchronous factories that need the instance.
  /// - Returns: Nil if the provider has left its context in the meantime; the caller then repeats the lookup.
  /// - Throws: `ProviderFailure`, `CancellationError` if the current task is cancelled, or what the factory throws.
  func instance(
    for context: UDIContext, _ arguments: KeptArguments?, _ path: [KeyIdentity]
  ) async throws -> Instance? {
    let key = try key(of: arguments?.arguments)
    switch sharing {
    case .unique:
      try Task.checkCancellation()
      return try await AsyncGraph.run { _ in
        let call = try AsyncCall(self, context, key, beginning: nil, askedBy: .current, through: path)
        return try await make(for: context, arguments, call, isOwned: false) { _ in }
      }
    case .graph:
      return try await AsyncGraph.run { graph in
        try await shared(for: context, arguments, key, path) { graph.share(for: self, key) }
      }
    case .weak, .strong, .custom:
      if key == nil, sharing != .custom { return try await shared(for: context, arguments, key, path) { self } }
      return try await shared(for: context, arguments, key, path) { cache(for: key) }
    }
  }

  /// Returns the instance that a keeper keeps. If there is none, makes it, or waits for the task that is making it.
  private func shared(
    for context: UDIContext, _ arguments: KeptArguments?, _ key: ArgumentKey?, _ path: [KeyIdentity],
    by findKeeper: () -> any AsyncKeeper
  ) async throws -> Instance? {
    while true {
      let keeper = findKeeper()
      if let stored = keeper.storedInstance() { return stored }
      if Task.isCancelled { throw CancellationError() }
      switch try keeper.claim(self, for: context, path) {
      case .found(let instance): return instance
      case .gone: return nil
      case .discarded: continue
      case .wait(let creation, let number): return try await creation.instance(number)
      case .make(let owner, let creation, let number, let predecessor):
        // The new call is not part of the asker's call, which merely waits for the result like any other call.
        let asker = AsyncCall.current
        creation.start(after: predecessor) { [self] in
          do {
            try creation.begin()
            // Another task might have stored an instance since this one asked the storage.
            if let stored = keeper.storedInstance() {
              _ = keeper.end(creation, with: nil, self, owner)
              return stored
            }
            let call = try AsyncCall(self, owner, key, beginning: creation, askedBy: asker, through: path)
            return try await AsyncGraph.run(anew: keeper.isIndependent) { _ in
              var isWanted = true
              let made = try await make(for: owner, arguments, call, isOwned: keeper.isIndependent && sharing != .weak)
              {
                isWanted = keeper.end(creation, with: $0, self, owner)
              }
              if !isWanted { await close(made, path: owner.change { node, _ in node.fullPath }) }
              return made
            }
          } catch {
            _ = keeper.end(creation, with: nil, self, owner)
            throw error
          }
        }
        return try await creation.instance(number)
      }
    }
  }

  /// Makes an instance: calls the factory, and does everything that has to happen before and after the call.
  ///
  /// - Parameters:
  ///   - context: The context that the factory gets.
  ///   - isOwned: Whether the context owns the instance.
  ///   - keep: Called with the new instance, so that the caller can keep it.
  private func make(
    for context: UDIContext, _ arguments: KeptArguments?, _ call: AsyncCall, isOwned: Bool,
    keeping keep: (Instance) -> Void
  ) async throws -> Instance {
    defer { call.end() }
    return try await AsyncCall.$current.withValue(call) {
      let instance: Instance
      do {
        let run = WatchedRun.isWanted ? WatchedRun(self, context, askedBy: call.keysOfAskers) : nil
        guard let made = try await function(context, arguments) else { throw ProviderFailure.returnedNil }
        run?.end()
        instance = made
      } catch {
        if !(error is CancellationError) { noteFailure(error, arguments?.arguments) }
        throw passOn(error)
      }
      // The instance is numbered for closing before any other code gets it.
      if isOwned { Tree.change { _ in (call.activity as? AsyncCreation)?.numberInstance() } }
      await attach(instance, to: context, isOwned: isOwned, on: isolation.actor)
      forgetFailure()
      keep(instance)
      await completion?(context, instance, arguments)
      return instance
    }
  }

  /// Attaches an instance on the factory's actor: the instance's conformance to `UDIObject` might belong to that actor.
  private func attach(_ instance: Instance, to context: UDIContext, isOwned: Bool, on actor: isolated (any Actor)?) {
    attach(instance, to: context, isOwned: isOwned)
  }
}

/// The next step of a task that wants an instance.
enum AsyncClaim {
  /// Take this instance.
  case found(Instance)
  /// Wait for another task, which is making the instance. The number is the waiter's.
  case wait(AsyncCreation, UInt)
  /// Make the instance for this context in a new task, and wait for it. The factory must not run until the predecessor
  /// has ended.
  case make(UDIContext, AsyncCreation, UInt, after: AsyncCreation.Predecessor?)
  /// Look for another keeper, because this one is no longer in use.
  case discarded
  /// Repeat the lookup, because the provider has left its context.
  case gone
}

/// An object that keeps or shares an instance of an asynchronous factory: an `InstanceKeeper`, or a graph's record of
/// one instance (`AsyncGraph.Share`).
protocol AsyncKeeper: AnyObject, Sendable {
  /// The instance in the user's storage, if there is such a storage and it contains one.
  func storedInstance() -> Instance?
  /// Finds the instance, or the creation that is making it. If there is neither, begins a creation, which the caller
  /// has to start.
  ///
  /// - Throws: `ProviderFailure.cycle` if the caller would wait for itself.
  func claim(_ provider: AsyncFactory, for context: UDIContext, _ path: [KeyIdentity]) throws -> AsyncClaim
  /// Ends a creation. Keeps the instance, unless a reset or the provider's removal has dropped it in the meantime.
  ///
  /// - Parameter instance: The new instance; nil if none was made.
  /// - Returns: False if the instance is no longer wanted, so that the caller has to close it.
  func end(_ creation: AsyncCreation, with instance: Instance?, _ provider: AsyncFactory, _ owner: UDIContext) -> Bool
  /// Whether all lookups get the same instance. If so, the instance gets its own graph while it is made.
  var isIndependent: Bool { get }
}

extension InstanceKeeper {
  func storedInstance() -> Instance? { custom?.load() }
  var isIndependent: Bool { true }

  func claim(_ provider: AsyncFactory, for context: UDIContext, _ path: [KeyIdentity]) throws -> AsyncClaim {
    let call = AsyncCall.current
    return try Tree.change { garbage in
      guard let node = provider.node else { return .gone }
      if isDiscarded { return .discarded }
      if let kept {
        if let instance = kept.instance { return .found(instance) }
        forgetKept(&garbage)
      }
      if let custom { custom.isIdle = false }
      let present = asyncCreation
      if let present {
        garbage.add(present)
        if let number = try present.join(call, path) { return .wait(present, number) }
      }
      if node.treeLocked.state.isEnding { throw ProviderFailure.closed(node.fullPath) }
      guard let owner = context.withNode({ $0 == node }) ? context : node.context else { return .gone }
      if AuditNotice.isOn { node.remember(owner) }
      let new = AsyncCreation(provider)
      let (number, predecessor) = try new.enterFirst(call, path, after: present)
      asyncCreation = new
      return .make(owner, new, number, after: predecessor)
    }
  }

  func end(_ creation: AsyncCreation, with instance: Instance?, _ provider: AsyncFactory, _ owner: UDIContext) -> Bool {
    var isWanted = true
    if let instance {
      isWanted = Tree.change { _ in creation.beginKeeping() }
      if isWanted {
        provider.noteUnclosed(instance, Tree.change { _ in creation.sequence })
        keep(instance, of: creation, provider, owner)
      }
    }
    Tree.change { garbage in
      if asyncCreation === creation {
        garbage.add(creation)
        asyncCreation = nil
      }
      if instance == nil { discardIfUnused(&garbage) }
      provider.leaveIfEnding(&garbage)
    }
    return isWanted
  }

  /// Keeps an instance by way of a synchronous creation, so that storages and resets treat it like an instance that was
  /// made synchronously.
  private func keep(
    _ instance: Instance, of creation: AsyncCreation, _ provider: AsyncFactory, _ owner: UDIContext
  ) {
    let resolution = PerThread.resolution
    while true {
      // If the context is being closed, the instance is closed with it, because `noteUnclosed` has recorded it.
      guard let claimed = try? claim(for: owner, resolution) else { return }
      switch claimed {
      case .make(_, let shared):
        // If the provider was reset in the meantime, it does not keep the instance.
        Tree.change { _ in if asyncCreation !== creation { self.creation = nil } }
        end(shared, .made(instance))
        // To watchers, the dependency has just appeared, because a synchronous lookup could not have made it.
        owner.change { node, _ in node.notifyWatchers(ofInstanceOf: provider) }
        return
      case .wait(let gate, let other):
        // Another thread is resetting the user's storage, so this thread waits.
        gate.wait()
        _ = other.takeOutcome(resolution)
      case .found, .discarded, .gone:
        Tree.change { garbage in provider.dropUnclosed(instance, &garbage) }
        return
      }
    }
  }
}

extension Node {
  /// Notifies the watchers of a provider's key and of the keys of its aliases. Call this under the tree lock.
  fileprivate func notifyWatchers(ofInstanceOf provider: Provider) {
    notifyWatchersHereAndAbove(of: provider.keyID)
    for alias in provider.aliases { notifyWatchers(ofInstanceOf: alias) }
  }
}
