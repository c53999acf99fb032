/// Following a dependency that comes and goes. `follow` is declared three times: for objects that are `Sendable`, for
/// actors, and for all others, on the main actor.
extension UDIObject where Self: Sendable {
  /// Calls a closure now, and whenever a lookup would find something else than before.
  ///
  /// ```swift
  /// func didAttachContext() {
  ///   follow((any Session).self) { screen, session in screen.title = session?.user ?? "Log in" }
  /// }
  /// ```
  ///
  /// The closure runs on the actor in whose code it is written. The first call comes before this method returns, unless
  /// this method is called outside that actor. Further calls come when
  /// ``UDILinking/updates(of:named:search:fileID:line:)`` has new elements: of several changes at once, only the latest
  /// state counts. No two calls overlap, and the last one gets the latest state. In a closed context, the calls go on
  /// with the dependencies that lookups from there still find above it. If the context goes, the closure is called with
  /// nil.
  ///
  /// Like bindings that the object has made with `bind`, the calls end when the object is attached again or detached.
  /// So ``didAttachContext()`` is the place to call this method. The calls also end when the object is released, or
  /// when the returned `UDIFollowing` is cancelled. You need not keep the `UDIFollowing`. Until the calls end, neither
  /// the object nor the dependency is kept alive.
  ///
  /// The closure, and the factories that make its dependency, see the ``AppContext`` and the ``UDIReporter`` of the
  /// code that calls this method. They see the ``AppContext`` only as long as it exists. They do not see the other
  /// task-local values of that code.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - isolation: The actor in whose code this call is written.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - body: Called with this object, which the closure need not capture, and with the dependency or nil.
  /// - Returns: A handle with which to end the calls, if that is necessary.
  /// - Complexity: As for ``UDILinking/updates(of:named:search:fileID:line:)``.
  @discardableResult
  public func follow<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Self, Dependency?) -> Void
  ) -> UDIFollowing {
    let request = LookupRequest(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
    let actor = Isolation.of(body.isolation, in: isolation, at: request.site).actor
    return begin(
      request, on: actor, isHere: actor == nil || actor === isolation, IsolatedFunction(function: body).isolationErased)
  }
}

extension UDIObject where Self: Actor {
  /// Calls a closure on this actor, soon, and whenever a lookup would find something else than before.
  ///
  /// In all other respects, this method does the same as ``follow(_:named:search:isolation:fileID:line:_:)``.
  @discardableResult
  public func follow<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fileID: StaticString = #fileID,
    line: UInt = #line, _ body: @escaping @Sendable (isolated Self, Dependency?) -> Void
  ) -> UDIFollowing {
    let request = LookupRequest(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
    let (consumer, watcher) = consumer(request)
    let step = { [weak self] (found: [Watcher.Found]?) in
      self?.assumeIsolated { actor in watcher.pass(found) { body(actor, $0) } } ?? false
    }
    return consumer.follow(on: { [weak self] in self }, ActorOwned(step, by: nil))
  }
}

extension UDIObject {
  /// Does the same as ``follow(_:named:search:isolation:fileID:line:_:)`` on the main actor, for objects and
  /// dependencies that are not `Sendable`.
  @preconcurrency @MainActor @discardableResult
  public func follow<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ body: @escaping @isolated(any) (Self, Dependency?) -> Void
  ) -> UDIFollowing {
    UDIReach.mainActor.assertIsolation(type)
    let request = LookupRequest(type, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
    let actor = Isolation.onMainActor(body.isolation, at: request.site).actor
    return begin(request, on: actor, isHere: true, IsolatedFunction(function: body).isolationErased)
  }

  private func begin<Dependency>(
    _ request: LookupRequest, on actor: (any Actor)?, isHere: Bool, _ body: @escaping (Self, Dependency?) throws -> Void
  ) -> UDIFollowing {
    let (consumer, watcher) = consumer(request)
    // The first call is made here, so the task waits for another answer.
    if isHere { Tree.change { _ in watcher.change = nil } }
    // A factory may have attached the object elsewhere, which stops this `follow`.
    if isHere, case let first = watcher.begin({ watcher.context?.lookUp(request) }) as Dependency?, watcher.goesOn {
      try? body(self, first)
    }
    // The task begins after the first call, so that no later call overlaps the first.
    let step = { [weak self] found in self.map { object in watcher.pass(found) { try? body(object, $0) } } ?? false }
    // The closure and everything that it captures are released on its actor.
    return consumer.follow(on: { actor }, ActorOwned(step, by: actor))
  }

  /// A consumer for the object, and its watcher.
  fileprivate func consumer(_ request: LookupRequest) -> (Consumer, Watcher) {
    let stamp = _attachedContext.stamp
    let context = _attachedContext.effectiveContext("follow", self, request.key.description, at: request.site)
    let consumer = Consumer(context, request, goesOnAbove: true)
    _attachedContext.add(consumer.watcher, since: stamp)
    return (consumer, consumer.watcher)
  }
}

extension Watcher {
  fileprivate var goesOn: Bool { Tree.change { _ in !isStopped } }

  /// Passes on the dependency that has been found, unless the following has ended. Call this on the actor of the
  /// closure. At the end, nil is passed on, unless nothing was found before, either.
  ///
  /// - Returns: Whether to go on.
  fileprivate func pass<Dependency>(_ found: [Found]?, to body: (Dependency?) -> Void) -> Bool {
    if goesOn, found != nil || last?.isEmpty != true { body(found.flatMap(Watcher.first)) }
    return goesOn && found != nil
  }
}

extension UDIAttachment {
  /// Adds a watcher that follows a dependency for the object.
  ///
  /// - Parameter stamp: The `stamp` before the following began. If the object has been attached or detached since, the
  ///   following ends at once.
  func add(_ follower: Watcher, since stamp: UInt) {
    Tree.change { _ in
      if stamp != self.stamp { return follower.stop() }
      unsafe followers = (followers ?? []).filter { !$0.isStopped } + [follower]
    }
  }
}
