/// The steps in which a synchronous factory makes an instance: see `Factory.instance`.
extension Factory {
  /// What is to be done about a request for an instance.
  enum Start {
    case found(Instance)
    /// The provider has left its context in the meantime; the caller repeats the lookup.
    case gone
    /// The instance has to be made, in this creation if the provider will keep it.
    case make(Creation?)
  }

  /// Finds the instance, or prepares to make it.
  ///
  /// - Parameters:
  ///   - context: The context that asks.
  ///   - isFresh: Whether to always make a new instance, which the provider does not keep.
  /// - Throws: `ProviderFailure`, or what the factory threw on another thread that this one has waited for.
  func begin(
    for context: UDIContext, _ arguments: Arguments?, isFresh: Bool, _ thread: Unretained<Resolution>
  ) throws -> Start {
    if isFresh {
      // A provider that keeps an instance stays in a context that is being closed until that instance has been closed.
      let path = Tree.change { _ in node.flatMap { $0.treeLocked.state.isEnding ? $0.fullPath : nil } }
      if let path { throw ProviderFailure.closed(path) }
      return .make(nil)
    }
    switch sharing {
    case .unique: return .make(nil)
    case .graph:
      let key = try key(of: arguments)
      if let shared = thread.read({ $0.shared(self, key) }) { return .found(shared) }
      return .make(nil)
    case .weak, .strong, .custom: return try beginKept(for: context, key(of: arguments), thread)
    }
  }

  private func beginKept(
    for context: UDIContext, _ arguments: ArgumentKey?, _ thread: Unretained<Resolution>
  ) throws -> Start {
    while true {
      let keeper = keeper(for: arguments)
      if let stored = keeper.load() { return .found(stored) }
      switch try keeper.claim(for: context, by: .thread(thread)) {
      case .found(let instance): return .found(instance)
      case .gone: return .gone
      case .discarded: continue
      case .wait(let creation, let number):
        switch creation.outcome(blocking: number) {
        case .made(let instance): return .found(instance)
        case .failed(let error): throw error
        case .undecided: continue
        }
      case .make(let creation, _):
        // Another thread might have stored an instance since the first call of `load`.
        if let stored = keeper.load() {
          keeper.end(creation, .undecided)
          return .found(stored)
        }
        creation.circumstances = thread.read { $0.beginKeptInstance(happensOnce: creation.happensOnce) }
        return .make(creation)
      }
    }
  }

  /// Records that the factory begins to run on this thread.
  ///
  /// - Throws: `ProviderFailure.isolatedElsewhere` or `ProviderFailure.cycle`.
  func enter(
    _ creation: Creation?, _ context: UDIContext, _ arguments: Arguments?, isFresh: Bool,
    _ thread: Unretained<Resolution>
  ) throws {
    if !mayRunHere {
      thread.read { $0.noteActorMiss() }
      throw ProviderFailure.isolatedElsewhere(isolation)
    }
    try thread.read {
      try $0.push(self, context, arguments, isKept: creation != nil, isFresh: isFresh)
    }
  }

  /// Runs the factory. While runs are recorded or observed, measures how long it takes, has its lookups recorded, and
  /// notifies the observer.
  func run(
    _ context: UDIContext, _ arguments: Arguments?, _ thread: Unretained<Resolution>
  ) throws -> Instance {
    guard WatchedRun.isWanted else { return try call(context, arguments) }
    // The innermost of the running providers is this one, so it is left out.
    let watched = WatchedRun(
      self, context, askedBy: thread.read { $0.runningProviders.dropLast().map(\.key) })
    let instance = try call(context, arguments)
    watched.end()
    return instance
  }

  /// Completes a new instance, before anybody else gets it.
  func finish(
    _ instance: Instance, _ creation: Creation?, _ context: UDIContext, _ arguments: Arguments?,
    _ thread: Unretained<Resolution>
  ) {
    if completes { creation?.number() }
    attach(instance, to: context, isOwned: creation != nil && sharing != .weak)
    forgetFailure()
    guard hasCompletion else { return }
    thread.read { $0.atEnd(Resolution.Completion(self, instance, context, arguments)) }
  }

  /// Ends a creation of this thread.
  func end(_ creation: Creation, _ outcome: Creation.Outcome, _ thread: Unretained<Resolution>) {
    InstanceKeeper(provider: self, cache: creation.cache).end(creation, outcome)
    thread.read { $0.circumstances = creation.circumstances }
  }
}
