/// How an instance is made. `instance` checks whether there is one already; `make` makes one. For what is made at every
/// link, `Provider+QuickMaking.swift` does the same in less time.
extension Provider {
  /// One run of a factory.
  struct FactoryCall {
    let arguments: Arguments?
    /// What the thread is making.
    let resolution: Unretained<Resolution>
    /// Whether the instance is kept.
    var isKept = false
    /// Whether nobody shares the instance, whatever the lifetime says.
    var isFresh = false
  }

  /// Gets the instance that a lookup asks for; makes it if there is none.
  ///
  /// - Parameters:
  ///   - context: The context that asks.
  ///   - arguments: The factory's arguments.
  ///   - isFresh: Whether to make a new instance in any case and not to keep it.
  /// - Returns: Nil if the provider has left its context in the meantime: the caller looks up again.
  /// - Throws: `ProviderFailure`, or what the factory throws, on this thread or on the thread that this one waited for.
  final func instance(for context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    let resolution = PerThread.resolution
    let key: ArgumentKey?
    switch isFresh ? .unique : sharing {
    case .unique:
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
      // Two calls, so that the compiler specialises the function for each kind of keeper. Otherwise the benchmark
      // "the same by a scope: register 3, make 3, link 2, end it" would take longer.
      if key == nil, sharing != .custom { return try keptInstance(for: context, arguments, resolution) { self } }
      return try keptInstance(for: context, arguments, resolution) { cache(for: key) }
    }
  }

  /// Gets the instance that is kept. If there is none, makes it, or waits for another thread that is making it.
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

  /// Makes an instance: runs the factory, and does everything that has to be done before and after.
  ///
  /// - Parameters:
  ///   - context: The context that the factory gets.
  ///   - conclude: Called exactly once, with the outcome, before the call's frame is removed.
  private final func make(
    for context: UDIContext, _ call: FactoryCall, concluding conclude: (SharedCreation.Outcome) -> Void
  ) throws -> Instance {
    do {
      if isIsolated, !isolation.isHere { throw ProviderFailure.isolatedElsewhere(isolation) }
      try call.resolution.read {
        try $0.push(self, context, call.arguments, isShared: call.isKept, isFresh: call.isFresh)
      }
    } catch {
      conclude(.undecided)
      throw error
    }
    do {
      guard let instance = try make(context, call.arguments) else { throw ProviderFailure.returnedNil }
      finish(call, for: context, instance, concluding: conclude)
      return instance
    } catch {
      throw fail(call, error, concluding: conclude)
    }
  }

  /// Ends a call that has made an instance.
  final func finish(
    _ call: FactoryCall, for context: UDIContext, _ instance: Instance,
    concluding conclude: (SharedCreation.Outcome) -> Void
  ) {
    attach(instance, to: context, isOwned: call.isKept && sharing != .weak)
    forgetFailure()
    if completes { noteMade(call, context, instance) }
    conclude(.made(instance))
    call.resolution.read { $0.pop() }
  }

  /// Notes what has to be done with an instance: to call the completion at the end of the outermost link, and to close
  /// the instance some day.
  @inline(never)
  private final func noteMade(_ call: FactoryCall, _ context: UDIContext, _ instance: Instance) {
    // This comes before anybody else gets the instance, so whatever is made of it comes later in the order.
    if call.isKept { noteUnclosed(instance) }
    guard hasCompletion else { return }
    let completion = Resolution.Completion(self, instance, context, call.arguments)
    call.resolution.read { $0.atEnd(completion) }
  }

  /// Ends a call that has not made an instance.
  ///
  /// - Returns: The error to throw.
  @inline(never)
  private final func fail(
    _ call: FactoryCall, _ error: any Error, concluding conclude: (SharedCreation.Outcome) -> Void
  ) -> any Error {
    // The failure is recorded before the waiting threads are woken, so that they find it.
    noteFailure(error, call.arguments)
    let error = passOn(error)
    if call.isKept { Tree.change { _ in hasEverFailed = true } }
    // The waiting threads might not be part of the cycle. They look again, and each gets an error whose path begins
    // with what it asked for. If something asynchronous is missing, a thread that looks for `obtain` will get it.
    conclude(error.isCycle || error.needsObtain ? .undecided : .failed(error))
    call.resolution.read { $0.pop() }
    return error
  }
}

// MARK: - Arguments

extension Provider {
  /// What distinguishes instances that are kept or shared for different arguments; nil if there are no arguments.
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

  /// Throws if an argument might not be `Sendable` although the factory was promised that it is: the factory could send
  /// it to another actor or thread. Every factory of something `Sendable` has this promise.
  ///
  /// - Parameter reach: The reach of the link that gives the arguments. If it is `anywhere`, the compiler knows them to
  ///   be `Sendable`.
  /// - Throws: `ProviderFailure.argumentNotSendable`.
  final func rejectArguments(_ arguments: Arguments?, of reach: Reach) throws {
    guard reach == .mainActor, let arguments else { return }
    // The arguments for an alias go to its target.
    if let alias = self as? Alias { return try alias.target.rejectArguments(arguments, of: reach) }
    guard self.reach == .anywhere, arguments.type.count == argumentCount else { return }
    for (argument, wanted) in zip(arguments.values, argumentTypes) where !Self.isSendable(argument, as: wanted) {
      throw ProviderFailure.argumentNotSendable(type(of: argument))
    }
  }

  /// Whether a value is certainly `Sendable`, given that the wanted type is. That is certain only if the value has
  /// exactly the wanted type, and the type's name contains neither `<` nor `(`: at run time, `any P & Sendable` cannot
  /// be distinguished from `any P`, nor an array of one from an array of the other. So this is also false for `[Int]`,
  /// `Int?` and private types, although they are `Sendable`; the explanation of the error says what to do.
  private static func isSendable(_ value: Any, as wanted: Any.Type) -> Bool {
    type(of: value) == wanted && !TypeIdentity.of(wanted).text.contains { $0 == "<" || $0 == "(" }
  }
}
