/// A provider with a synchronous factory.
final class Factory: Provider, @unchecked Sendable {
  // Unchecked: this class adds constants, and `isolation` says where the closures may be called.

  /// A closure to call at the end of the outermost link, with the arguments that the factory was given.
  typealias Completion = (UDIContext, Instance, Arguments?) -> Void

  private let function: FactoryFunction?
  private let special: Special?

  /// Properties that only a few factories need.
  private final class Special {
    /// The function and the completion, if they have to be released on an actor. Otherwise they are in
    /// `Factory.function` and `complete`.
    let owned: ActorOwned<(function: FactoryFunction, complete: Completion?)>?
    /// The completion, if it may be released on any thread.
    let complete: Completion?

    init(owned: ActorOwned<(function: FactoryFunction, complete: Completion?)>?, _ complete: Completion?) {
      self.owned = owned
      self.complete = complete
    }
  }

  /// - Parameters:
  ///   - type: The type that the provider is registered as.
  ///   - isolation: Where the closures may be called.
  ///   - wanted: The types of the arguments that the function takes, if any.
  init(
    _ type: Any.Type, _ name: UDIName?, _ lifetime: UDILifetime?, _ metadata: BindRequest.Metadata?,
    _ site: UDICallSite,
    _ reach: UDIReach, _ isolation: Isolation, _ function: consuming FactoryFunction,
    wanted: (any AnyArgumentPack.Type)? = nil, _ complete: Completion?
  ) {
    reach.assertIsolation(type)
    if let owner = isolation.owner(reach) {
      special = Special(owned: ActorOwned((function: function, complete: complete), by: owner), nil)
      self.function = nil
    } else {
      special = complete.map { Special(owned: nil, $0) }
      self.function = consume function
    }
    super.init(
      type, name, lifetime, metadata, site, reach, isolation, completes: complete != nil, wanted: wanted)
  }

  /// Returns the instance that a lookup asks for, after making it if there is none. Every synchronous factory makes its
  /// instances in these steps:
  ///
  /// 1. An instance that the graph shares, or that the provider keeps, is taken. If another thread is making it, this
  ///    thread waits. If the provider will keep it, this thread begins a creation, for which others wait; the instance
  ///    is then made for the provider's own context. In all other cases, it is made for the context that asks.
  /// 2. The factory gets a frame in the thread's resolution, unless it would need its own instance, or belongs to an
  ///    actor on which this code does not run.
  /// 3. The factory runs, while no lock is held.
  /// 4. The instance gets its number for closing and is attached to the factory's context. The completion, if there is
  ///    one, is put off until the end of the outermost link.
  /// 5. The graph gets the instance, or the provider keeps it, and the threads that wait for it are woken.
  /// 6. The frame is removed. If it was the outermost one, the completions are called.
  override func instance(for context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    let thread = PerThread.resolution
    guard keeps, !isFresh else {
      if isFresh { try rejectIfClosing() }
      if sharing == .graph, !isFresh {
        let key = try key(of: arguments)
        if let shared = thread.read({ $0.shared(self, key) }) { return shared }
      }
      return try make(nil, for: context, arguments, isFresh: isFresh, thread)
    }
    let key = try key(of: arguments)
    while true {
      let keeper = keeper(for: key)
      if let stored = keeper.load() { return stored }
      switch try keeper.claim(for: context, by: .thread(thread)) {
      case .found(let instance): return instance
      case .gone: return nil
      case .discarded: continue
      case .wait(let creation, let number):
        switch creation.outcome(blocking: number) {
        case .made(let instance): return instance
        case .failed(let error): throw error
        case .undecided: continue
        }
      case .make(let creation, _):
        // Another thread might have stored an instance since the first call of `load`.
        if let stored = keeper.load() {
          keeper.end(creation, .undecided)
          return stored
        }
        return try make(creation, for: creation.owner ?? context, arguments, isFresh: false, thread)
      }
    }
  }

  /// Rejects a fresh instance if the context is being closed. A provider that keeps an instance stays in such a context
  /// until that instance has been closed.
  private func rejectIfClosing() throws {
    let path = Tree.change { _ in node.flatMap { $0.treeLocked.state.isEnding ? $0.fullPath : nil } }
    if let path { throw ProviderFailure.closed(path) }
  }

  /// Makes an instance: takes the steps 2 to 6.
  private func make(
    _ creation: Creation?, for context: UDIContext, _ arguments: Arguments?, isFresh: Bool,
    _ thread: Unretained<Resolution>
  ) throws -> Instance {
    let circumstances = thread.read { $0.circumstances }
    defer { thread.read { $0.circumstances = circumstances } }
    if let creation { thread.read { $0.beginKeptInstance(happensOnce: creation.happensOnce) } }
    do {
      try enter(creation, context, arguments, isFresh: isFresh, thread)
    } catch {
      if let creation { end(creation, .undecided) }
      throw error
    }
    defer { thread.read { $0.pop() } }
    let misses = thread.read { $0.missesOnlyHere }
    do {
      let instance = try run(context, arguments, thread)
      finish(instance, creation, context, arguments, thread)
      if let creation {
        InstanceKeeper(provider: self, cache: creation.cache).keep(instance, of: creation)
      } else if sharing == .graph, !isFresh {
        thread.read { $0.share(instance, self, arguments?.key(for: self)) }
      }
      return instance
    } catch {
      // The failure is recorded before the waiting threads are woken, so that they find it.
      noteFailure(error, arguments)
      let error = passOn(error)
      guard let creation else { throw error }
      Tree.change { _ in hasEverFailed = true }
      // In three cases, a waiting thread repeats its lookup instead of taking over this failure. After a cycle: that
      // thread might be outside the cycle, or its error has to name a different path. If an actor was lacking: that
      // thread might run on it. If an asynchronous instance was lacking: that thread's lookup might be part of
      // `obtain`, which can wait for the instance.
      let mightSucceedElsewhere = error.isCycle || thread.read { $0.missesOnlyHere } != misses
      end(creation, mightSucceedElsewhere ? .undecided : .failed(error))
      throw error
    }
  }

  private func end(_ creation: Creation, _ outcome: Creation.Outcome) {
    InstanceKeeper(provider: self, cache: creation.cache).end(creation, outcome)
  }

  /// Calls the function.
  ///
  /// - Throws: What the factory throws; `ProviderFailure.returnedNil` if it returns nil; `ProviderFailure.arguments` if
  ///   it takes other arguments.
  func call(_ context: UDIContext, _ arguments: Arguments?) throws -> Instance {
    guard (arguments != nil) == (wanted != nil) else {
      throw ProviderFailure.arguments(wanted: argumentTypes, given: arguments?.types ?? [])
    }
    func make<Dependency>(_ type: Dependency.Type) throws -> Instance {
      let layout = MemoryLayout<Dependency>.self
      // This memory is enough, because an optional takes at most one byte more than the type it wraps. Memory of the
      // optional's type would need the optional's metadata. Looking that up would make a session take a tenth longer
      // ("the same by a scope: …" in `Benchmarks/compare`).
      return try unsafe withUnsafeTemporaryAllocation(byteCount: layout.size + 1, alignment: layout.alignment) {
        let memory = unsafe InstanceMemory($0.baseAddress.unsafelyUnwrapped)
        let function = unsafe special?.owned?.value.function ?? function.unsafelyUnwrapped
        if let arguments {
          try function.call(context, arguments, memory)
        } else {
          try function.call(context, making: type, memory)
        }
        guard let instance = memory.take(as: type) else { throw ProviderFailure.returnedNil }
        return instance
      }
    }
    return try _openExistential(madeType, do: make)
  }

  override func complete(_ instance: Instance, _ context: UDIContext, _ arguments: Arguments?) {
    guard let special else { return }
    let complete = if let owned = special.owned { owned.value.complete } else { special.complete }
    complete?(context, instance, arguments)
  }
}

// MARK: - The steps of a making

extension Factory {
  /// Records that the factory begins to run on this thread.
  ///
  /// - Throws: `ProviderFailure.isolatedElsewhere` or `ProviderFailure.cycle`.
  private func enter(
    _ creation: Creation?, _ context: UDIContext, _ arguments: Arguments?, isFresh: Bool,
    _ thread: Unretained<Resolution>
  ) throws {
    if !mayRunHere {
      thread.read { $0.noteActorMiss() }
      throw ProviderFailure.isolatedElsewhere(isolation)
    }
    try thread.read { try $0.push(self, context, arguments, isKept: creation != nil, isFresh: isFresh) }
  }

  /// Runs the factory. While runs are recorded or observed, measures how long it takes, has its lookups recorded, and
  /// notifies the observer.
  private func run(
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
  private func finish(
    _ instance: Instance, _ creation: Creation?, _ context: UDIContext, _ arguments: Arguments?,
    _ thread: Unretained<Resolution>
  ) {
    if completes { creation?.number() }
    attach(instance, to: context, isOwned: creation != nil && sharing != .weak)
    forgetFailure()
    guard hasCompletion else { return }
    thread.read { $0.atEnd(Resolution.Completion(self, instance, context, arguments)) }
  }
}
