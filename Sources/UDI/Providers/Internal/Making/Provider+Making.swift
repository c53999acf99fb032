/// How a provider makes an instance. `instance` checks whether there is one already; `make` makes one.
/// `Provider+QuickMaking.swift` does the same in less time for lifetimes that need a new instance for every link or
/// graph.
extension Provider {
  /// One run of a factory.
  struct FactoryCall {
    let arguments: Arguments?
    /// The resolution of the thread on which the factory runs.
    let resolution: Unretained<Resolution>
    /// Whether the provider keeps the instance.
    var isKept = false
    /// Whether the instance goes only to the link that asked for it, whatever the lifetime says.
    var isFresh = false
  }

  /// Returns the instance that a lookup asks for, after making it if there is none.
  ///
  /// - Parameters:
  ///   - context: The context that asks.
  ///   - arguments: The factory's arguments.
  ///   - isFresh: Whether to always make a new instance, which the provider does not keep.
  /// - Returns: Nil if the provider has left its context in the meantime; the caller then repeats the lookup.
  /// - Throws: `ProviderFailure`, or what the factory throws. The factory ran on this thread, or on another thread that
  ///   this one waited for.
  final func instance(for context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    let resolution = PerThread.resolution
    let key: ArgumentKey?
    switch isFresh ? .unique : sharing {
    case .unique:
      if isFresh { try rejectIfEnding() }
      let call = FactoryCall(arguments: arguments, resolution: resolution, isFresh: isFresh)
      return try make(for: context, call) { _ in }
    case .graph:
      key = try self.key(of: arguments)
      if let shared = resolution.read({ $0.shared(self, key) }) { return shared }
      return try make(for: context, FactoryCall(arguments: arguments, resolution: resolution)) { outcome in
        if case .made(let instance) = outcome { resolution.read { $0.share(instance, self, key) } }
      }
    case .weak, .strong, .custom:
      key = try self.key(of: arguments)
      // `keptInstance` is called in two places, so that the compiler specialises it for each kind of keeper. Otherwise
      // the benchmark "the same by a scope: register 3, make 3, link 2, end it" would take longer.
      if key == nil, sharing != .custom { return try keptInstance(for: context, arguments, resolution) { self } }
      return try keptInstance(for: context, arguments, resolution) { cache(for: key) }
    }
  }

  /// Rejects a fresh instance if the context is being closed. A provider that keeps an instance stays in the context
  /// until that instance has been closed.
  private final func rejectIfEnding() throws {
    let path = Tree.change { _ in node.flatMap { $0.treeLocked.state.isEnding ? $0.fullPath : nil } }
    if let path { throw ProviderFailure.closed(path) }
  }

  /// Returns the instance that the keeper keeps. If there is none, makes it, or waits for another thread that is making
  /// it.
  private final func keptInstance<Keeper: InstanceKeeper>(
    for context: UDIContext, _ arguments: Arguments?, _ resolution: Unretained<Resolution>, by findKeeper: () -> Keeper
  ) throws -> Instance? {
    while true {
      let keeper = findKeeper()
      if let stored = keeper.custom?.load() { return stored }
      switch try keeper.claim(for: context, resolution) {
      case .found(let instance): return instance
      case .gone: return nil
      case .discarded: continue
      case .wait(let gate, let creation):
        Schedule.reached(.waits)
        gate.wait()
        switch creation.takeOutcome(resolution) {
        case .made(let instance): return instance
        case .failed(let error): throw error
        case .undecided: continue
        }
      case .make(let owner, let creation):
        // Another thread might have stored an instance since the first call of `load`.
        if let stored = keeper.custom?.load() {
          keeper.end(creation, .undecided)
          return stored
        }
        let outer = resolution.read { $0.beginKeptInstance(happensOnce: creation.happensOnce) }
        let call = FactoryCall(arguments: arguments, resolution: resolution, isKept: true)
        return try make(for: owner, call) { outcome in
          keeper.end(creation, outcome)
          resolution.read { $0.circumstances = outer }
        }
      }
    }
  }

  /// Makes an instance: runs the factory, and does everything that has to happen before and after the run.
  ///
  /// - Parameters:
  ///   - context: The context that the factory gets.
  ///   - conclude: Called exactly once, with the outcome. If the factory ran, its call still has its frame then.
  private final func make(
    for context: UDIContext, _ call: FactoryCall, concluding conclude: (SharedCreation.Outcome) -> Void
  ) throws -> Instance {
    do {
      if isIsolated, !isolation.isHere {
        call.resolution.read { $0.noteActorMiss() }
        throw ProviderFailure.isolatedElsewhere(isolation)
      }
      try call.resolution.read {
        try $0.push(self, context, call.arguments, isShared: call.isKept, isFresh: call.isFresh)
      }
    } catch {
      conclude(.undecided)
      throw error
    }
    let misses = call.resolution.read { $0.missesOnlyHere }
    do {
      let made = WatchedRun.isWanted ? try makeWatched(context, call.arguments) : try make(context, call.arguments)
      guard let instance = made else { throw ProviderFailure.returnedNil }
      finish(call, for: context, instance, concluding: conclude)
      return instance
    } catch {
      let isOnlyHere = call.resolution.read { $0.missesOnlyHere } != misses
      throw fail(call, error, isOnlyHere: isOnlyHere, concluding: conclude)
    }
  }

  /// Ends a factory call that has made an instance.
  final func finish(
    _ call: FactoryCall, for context: UDIContext, _ instance: Instance,
    concluding conclude: (SharedCreation.Outcome) -> Void
  ) {
    // The instance is numbered for closing before any other code gets it, so whatever is made with its help gets a
    // later number, and is closed earlier.
    if completes, call.isKept { noteUnclosed(instance) }
    attach(instance, to: context, isOwned: call.isKept && sharing != .weak)
    forgetFailure()
    if hasCompletion { noteCompletion(call, context, instance) }
    conclude(.made(instance))
    call.resolution.read { $0.pop() }
  }

  /// Records that the completion has to be called at the end of the outermost link.
  @inline(never)
  private final func noteCompletion(_ call: FactoryCall, _ context: UDIContext, _ instance: Instance) {
    let completion = Resolution.Completion(self, instance, context, call.arguments)
    call.resolution.read { $0.atEnd(completion) }
  }

  /// Ends a factory call that has failed.
  ///
  /// - Parameter isOnlyHere: Whether a lookup in the call has failed only because this thread can neither wait nor run
  ///   on the factory's actor. If so, the call might succeed elsewhere.
  /// - Returns: The error to throw.
  @inline(never)
  private final func fail(
    _ call: FactoryCall, _ error: any Error, isOnlyHere: Bool, concluding conclude: (SharedCreation.Outcome) -> Void
  ) -> any Error {
    // The failure is recorded before the waiting threads are woken, so that they find it.
    noteFailure(error, call.arguments)
    let error = passOn(error)
    if call.isKept { Tree.change { _ in hasEverFailed = true } }
    // In three cases, a waiting thread repeats its lookup instead of taking over this failure. After a cycle: that
    // thread might be outside the cycle, or its error has to name a different path. If an actor was lacking: that
    // thread might run on it. If an asynchronous instance was lacking: that thread's lookup might be part of `obtain`,
    // which can wait for the instance.
    conclude(error.isCycle || isOnlyHere ? .undecided : .failed(error))
    call.resolution.read { $0.pop() }
    return error
  }
}

// MARK: - Arguments

extension Provider {
  /// Returns a key by which to find an instance that was made from these arguments, or nil if there are no arguments.
  final func key(of arguments: Arguments?) throws -> ArgumentKey? {
    guard (arguments?.type.count ?? 0) == argumentCount else {
      throw ProviderFailure.arguments(wanted: argumentTypes, given: arguments?.types ?? [])
    }
    guard let arguments else { return nil }
    guard let key = arguments.key(for: self) else {
      throw ProviderFailure.unhashable(arguments.values.filter { !($0 is any Hashable) }.map { type(of: $0) })
    }
    return key
  }

  /// Rejects arguments that might not be `Sendable` if the factory was promised `Sendable` ones: the factory could send
  /// them to another actor or thread. Every factory of a `Sendable` dependency has this promise.
  ///
  /// - Parameter reach: The reach of the link that passes the arguments. If it is `anywhere`, the compiler has already
  ///   checked that they are `Sendable`.
  /// - Throws: `ProviderFailure.argumentNotSendable`.
  final func rejectArguments(_ arguments: Arguments?, of reach: UDIReach) throws {
    guard reach == .mainActor, let arguments else { return }
    // An alias passes its arguments on to its target.
    if let alias = self as? Alias { return try alias.target.rejectArguments(arguments, of: reach) }
    guard self.reach == .anywhere, arguments.type.count == argumentCount else { return }
    for (argument, wanted) in zip(arguments.values, argumentTypes) where !Self.isSendable(argument, as: wanted) {
      throw ProviderFailure.argumentNotSendable(type(of: argument))
    }
  }

  /// Whether a value is certainly `Sendable`, given that the wanted type is `Sendable`. The answer is true only if the
  /// value has exactly the wanted type, and the type's name contains neither `<` nor `(`: at run time, `any P &
  /// Sendable` cannot be distinguished from `any P`, nor can arrays of the two. The answer is therefore also false for
  /// `[Int]`, `Int?` and private types, although they are `Sendable`; the explanation of the error says what to do.
  private static func isSendable(_ value: Any, as wanted: Any.Type) -> Bool {
    type(of: value) == wanted && !TypeIdentity.of(wanted).text.contains { $0 == "<" || $0 == "(" }
  }
}
