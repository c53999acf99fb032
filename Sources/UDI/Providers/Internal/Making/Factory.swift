/// A provider with a synchronous factory.
final class Factory: Provider, @unchecked Sendable {
  // Unchecked: this class adds constants, and `isolation` says where the closures may be called.

  /// A closure to call at the end of the outermost link, with the context and the arguments that the factory was given,
  /// and the instance that it made.
  typealias Completion = (UDIContext, Instance, Arguments?) -> Void

  /// The function, if it is not in `closures`.
  private let function: FactoryFunction?
  /// The function and the completion, if there is a completion, or if they have to be released on an actor.
  private let closures: ActorOwned<(function: FactoryFunction, complete: Completion?)>?

  /// - Parameters:
  ///   - isolation: Where the closures may be called.
  ///   - wanted: The types of the arguments that the function takes, if any.
  @inline(__always)
  init(
    _ request: borrowing RegisterRequest, isolation: Isolation, function: consuming FactoryFunction,
    wanted: (any AnyArgumentPack.Type)? = nil, completion complete: Completion?
  ) {
    request.reach.assertIsolation(request.type)
    let owner = isolation.owner(request.reach)
    if complete != nil || owner != nil {
      closures = ActorOwned((function: function, complete: complete), by: owner)
      self.function = nil
    } else {
      closures = nil
      self.function = consume function
    }
    super.init(request, isolation: isolation, hasCompletion: complete != nil, wanted: wanted)
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
    guard keeps, !isFresh else {
      if isFresh {
        // Only a provider that keeps or makes an instance is still found in a context that is being closed: all others
        // have left it.
        if let path = Tree.change({ _ in node?.endingPath }) { throw ProviderFailure.closed(path) }
      } else if sharing == .graph {
        let key = arguments == nil && wanted == nil ? nil : try key(of: arguments)
        if let shared = thread.read({ $0.shared(self, key) }) { return shared }
      }
      return try make(
        for: context, with: arguments, isFresh: isFresh, in: .init(provider: self, cache: nil), nil, on: thread)
    }
    let key = arguments == nil && wanted == nil ? nil : try key(of: arguments)
    while true {
      let keeper = try keeper(for: key, asking: context)
      if let stored = keeper.custom?.load() { return stored }
      switch try keeper.claim(for: context, by: .thread(thread)) {
      case .found(let instance): return instance
      case .gone: return nil
      case .wait(let creation, let number):
        switch creation.outcome(blocking: number) {
        case .made(let instance): return instance.value
        case .failed(let error): throw error
        case .undecided: continue
        }
      case .make(let creation, _):
        // Another thread might have stored an instance since the storage was asked above.
        if let stored = keeper.custom?.load() {
          creation.noteEndOfFactory()
          keeper.end(creation, .undecided)
          return stored
        }
        let context = creation.owner ?? context
        return try thread.read {
          try $0.running(creation) {
            try make(for: context, with: arguments, isFresh: false, in: keeper, creation, on: thread)
          }
        }
      }
    }
  }

  /// Makes an instance: takes the steps 2 to 6.
  ///
  /// - Parameters:
  ///   - keeper: What keeps the instance, if there is a creation.
  ///   - creation: The creation that ends with the instance; nil if the provider does not keep the instance.
  private func make(
    for context: UDIContext, with arguments: Arguments?, isFresh: Bool, in keeper: InstanceKeeper,
    _ creation: Creation?, on thread: Unretained<Resolution>
  ) throws -> Instance {
    // Step 2.
    do {
      if !mayRunHere {
        thread.read { $0.noteActorMiss() }
        throw ProviderFailure.isolatedElsewhere(isolation)
      }
      try thread.read { try $0.push(self, for: context, with: arguments, isKept: creation != nil, isFresh: isFresh) }
    } catch {
      creation?.noteEndOfFactory()
      if let creation { keeper.end(creation, .undecided) }
      throw error
    }
    // Step 6.
    defer { thread.read { $0.pop() } }
    let misses = thread.read { $0.missesOnlyHere }
    do {
      // Step 3. While runs are recorded or observed, the run is measured. The innermost of the running providers is
      // this one.
      let watched =
        WatchedRun.isWanted
        ? WatchedRun(self, context, askedBy: thread.read { $0.runningProviders.dropLast().map(\.key) }) : nil
      guard (arguments != nil) == (wanted != nil) else {
        throw ProviderFailure.arguments(wanted: argumentTypes, given: arguments?.types ?? [])
      }
      guard let instance = try call(context, arguments) else { throw ProviderFailure.returnedNil }
      creation?.noteEndOfFactory()
      watched?.end()
      // Step 4.
      let needs =
        instance.isBox || !UDIAttachment.exists(for: instance.object)
        ? nil : attach(instance.object, to: context, isOwned: creation != nil && sharing != .weak)
      if hasFailed { forgetFailure() }
      // Step 5.
      if let creation {
        keeper.keep(instance, of: creation)
      } else if sharing == .graph, !isFresh {
        thread.read { $0.share(instance, of: self, with: arguments?.key(for: self)) }
      }
      if hasCompletion || needs != nil || creation != nil && runsInstances {
        thread.read { $0.atEnd(complete: instance, needs, of: self, in: keeper, for: context, with: arguments) }
      }
      return instance
    } catch {
      let hasMissed = thread.read { $0.missesOnlyHere } != misses
      throw fail(error, with: arguments, in: keeper, creation, mightSucceedElsewhere: hasMissed)
    }
  }

  /// Records that the factory has failed, and ends the creation.
  ///
  /// - Parameter mightSucceedElsewhere: Whether the factory missed something that belongs to a different actor, or has
  ///   to be waited for. A thread that waits might run on that actor, or be part of `obtain`.
  /// - Returns: The error for the caller.
  private func fail(
    _ error: any Error, with arguments: Arguments?, in keeper: InstanceKeeper, _ creation: Creation?,
    mightSucceedElsewhere: Bool
  ) -> any Error {
    // The failure is recorded before the waiting threads are woken, so that they find the record.
    noteFailure(error, arguments)
    let error = passOn(error)
    guard let creation else { return error }
    creation.noteEndOfFactory()
    // After a cycle, too, a waiting thread repeats its lookup: that thread might be outside the cycle, or its error has
    // to name a different path.
    keeper.end(creation, mightSucceedElsewhere || error.isCycle ? .undecided : .failed(error))
    return error
  }

  /// Calls the function.
  // There are two calls, because a variable for the function would count references to it.
  @inline(__always)
  private func call(_ context: UDIContext, _ arguments: Arguments?) throws -> Instance? {
    if let function { return try function.call(context, arguments, making: madeType) }
    return try closures?.value.function.call(context, arguments, making: madeType)
  }

  override func parameterTypes(in context: UDIContext) -> [Any.Type]? {
    guard let function = function ?? closures?.value.function else { return nil }
    guard function.looksUpParameters else { return function.takesContext ? nil : [] }
    let thread = Resolution.current
    thread.read { $0.listed = [] }
    defer { thread.read { $0.listed = nil } }
    _ = try? function.call(context, nil, making: madeType)
    return thread.read { $0.listed }
  }

  /// Calls the completion. This happens at the end of the outermost link.
  func complete(_ instance: Instance, for context: UDIContext, with arguments: Arguments?) {
    closures?.value.complete?(context, instance, arguments)
  }
}
