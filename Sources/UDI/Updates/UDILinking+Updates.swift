/// Following dependencies that come and go.
extension UDILinking {
  /// Returns a sequence of the results of a lookup: the current result, and a new one after each change.
  ///
  /// If this method is called on an object that is attached to a different context later, the sequence stays with the
  /// first context.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A sequence that keeps neither the object nor the context alive.
  /// - Complexity: Each change costs O(1) more for every consumer whose lookup it could affect. A consumer is recorded
  ///   at each context above that its lookup can reach. That costs O(levels), and is repeated after each change that
  ///   the consumer is notified of.
  public func updates<Dependency: Sendable>(
    of type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIUpdates<Dependency> {
    let request = LookupRequest(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
    return UDIResults(watch: _origin.watch(request), element: Watcher.first)
  }

  /// Returns a sequence of all dependencies of a type, whatever their names.
  ///
  /// The first element contains the current dependencies. After each change, a new element contains all of them again.
  /// Use this method for plug-ins, open documents, and other dependencies that come and go.
  ///
  /// ```swift
  /// for await players in context.updates(ofAll: (any Player).self) {
  ///   titles = players.map(\.dependency.title)
  /// }
  /// ```
  ///
  /// An element contains the dependencies that ``linkAll(_:search:fileID:line:)`` would return, in search order, each
  /// with the name under which it was found. While there are none, it is an empty array. There is no new element as
  /// long as the same instances are found under the same names in the same order. If this method is called on an object
  /// that is attached to a different context later, the sequence stays with the first context.
  ///
  /// Providers make their instances, as for `linkAll`. So a provider whose instances nothing keeps makes another
  /// instance after each change among the dependencies. These instances count as new.
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A sequence that keeps neither the object nor the context nor the dependencies alive.
  /// - Complexity: An element takes the time of `linkAll`. Each change under the type costs O(1) more for every
  ///   consumer whose lookup it could affect and, while there are consumers for the type, O(levels above the change). A
  ///   consumer is recorded as for ``updates(of:named:search:fileID:line:)``.
  public func updates<Dependency: Sendable>(
    ofAll type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIResults<[(name: UDIName?, dependency: Dependency)]> {
    let request = LookupRequest(type, .anywhere, search: search, at: UDICallSite(fileID, line))
    return UDIResults(watch: _origin.watch(request, findsAll: true), element: Watcher.all)
  }

  /// Waits until a lookup finds a dependency.
  ///
  /// If the first lookup finds one, the call returns at once. The context stays alive while the call waits. If this
  /// method is called on an object that is attached to a different context meanwhile, the call stays with the first
  /// context. If a factory has failed, it is called again when something that it looks up has come or gone.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - limit: The longest time to wait; nil for any time. If it is zero or less, the call does not wait for changes.
  ///   - clock: Measures the time.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order.
  /// - Throws: `CancellationError` if the task is cancelled before there is a dependency; ``UDILinkError`` if the
  ///   context is gone or closed, or is closed meanwhile, or if the time is over. The error explains why nothing was
  ///   found. For a dependency that could not be made, it says what is missing.
  nonisolated(nonsending) public func linkWhenAvailable<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, within limit: Duration? = nil,
    clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    let request = LookupRequest(type, .anywhere, named: name, search: search, at: UDICallSite(fileID, line))
    return try await _origin.awaitDependency(request, within: limit, clock)
  }

  // MARK: - On the main actor, for types that are not Sendable

  /// Does the same as ``updates(of:named:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  public func updates<Dependency>(
    of type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIMainActorResults<Dependency?> {
    let request = LookupRequest(type, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
    return UDIMainActorResults(watch: _origin.watch(request), element: Watcher.first)
  }

  /// Does the same as ``updates(ofAll:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  public func updates<Dependency>(
    ofAll type: Dependency.Type, search: UDISearch? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> UDIMainActorResults<[(name: UDIName?, dependency: Dependency)]> {
    let request = LookupRequest(type, .mainActor, search: search, at: UDICallSite(fileID, line))
    return UDIMainActorResults(watch: _origin.watch(request, findsAll: true), element: Watcher.all)
  }

  /// Does the same as ``linkWhenAvailable(_:named:search:within:clock:fileID:line:)`` on the main actor, for a type
  /// that is not `Sendable`.
  @preconcurrency @MainActor
  public func linkWhenAvailable<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, within limit: Duration? = nil,
    clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
  ) async throws -> Dependency {
    let request = LookupRequest(type, .mainActor, named: name, search: search, at: UDICallSite(fileID, line))
    return try await _origin.awaitDependency(request, within: limit, clock)
  }
}

extension UDIOrigin {
  /// Returns a closure that begins to watch on behalf of one consumer. The closure does not keep the context alive, so
  /// a stored sequence does not, either.
  fileprivate func watch(_ request: LookupRequest, findsAll: Bool = false) -> @Sendable () -> Consumer {
    let context = try? context(for: "updates", isRequired: nil, request)
    return { [weak context] in Consumer(context, request, findsAll: findsAll) }
  }

  nonisolated(nonsending) fileprivate func awaitDependency<Dependency>(
    _ request: LookupRequest, within limit: Duration?, _ clock: any Clock<Duration>
  ) async throws -> Dependency {
    let context = try context(requiredFor: "linkWhenAvailable", request)
    if let found = try? Demand(context: context, request: request).find().present?.value(as: Dependency.self) {
      return found
    }
    let consumer = Consumer(context, request)
    let watcher = consumer.watcher
    let timer = Limit(limit, clock).map { limit in
      Task { if await limit.wait() { Tree.change { _ in watcher.stop() } } }
    }
    var found: Dependency?
    while found == nil, let next = await watcher.next() { found = Watcher.first(next) }
    // Without its consumer, the watcher would stop.
    withExtendedLifetime(consumer) {}
    timer?.cancel()
    if let found { return found }
    try AsyncCall.checkCancellation()
    let failure = context.isEnding ? nil : watcher.failure
    throw seen(context.explained(failure ?? ProviderFailure.nothing, request), at: request.site)
  }
}
