/// Verbs that follow the result of a lookup, or wait for a dependency. Each has two overloads, see
/// `UDIContext+Bind.swift`.
extension UDIContext {
  /// Returns a sequence of the results of a lookup that begins in this context: the current result, and a new one after
  /// each change.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The name that the dependency is registered under, if any.
  ///   - search: The direction of the lookup; by default this context's search.
  /// - Returns: A sequence that does not keep this context alive.
  /// - Complexity: Each change costs O(1) more for every consumer whose lookup it could affect. A consumer is recorded
  ///   at each context above this one that its lookup can reach. That costs O(levels), and is repeated after each
  ///   change that the consumer is notified of.
  public func updates<Dependency: Sendable>(
    of type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIUpdates<Dependency> {
    UDIUpdates(context: self, type: type, name: name, search: search)
  }

  /// Waits until a lookup that begins in this context finds a dependency. If the first lookup finds one, the call
  /// returns at once. The context stays alive while the call waits. If a provider's factory has failed, the provider is
  /// asked again when something changes under the key.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The name that the dependency is registered under, if any.
  ///   - search: The direction of the lookup; by default this context's search.
  ///   - limit: How long to wait at most; nil for any time. If it is zero or less, the call performs a single lookup.
  ///   - clock: Measures the time.
  /// - Returns: The first dependency in search order.
  /// - Throws: `CancellationError` if the task is cancelled before there is a dependency; ``UDILinkError`` if the
  ///   context is closed, or is closed meanwhile, or if the time is over. The error explains why there is nothing.
  nonisolated(nonsending) public func linkWhenAvailable<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, within limit: Duration? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> Dependency {
    try await awaitDependency(type, name, .anywhere, search, within: limit, clock)
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// Does the same as ``updates(of:named:search:)`` on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor
  public func updates<Dependency>(
    of type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIMainActorUpdates<Dependency> {
    UDIMainActorUpdates(context: self, type: type, name: name, search: search)
  }

  /// Does the same as ``linkWhenAvailable(_:named:search:within:clock:)`` on the main actor, for a type that is not
  /// `Sendable`.
  @preconcurrency @MainActor
  public func linkWhenAvailable<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, within limit: Duration? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> Dependency {
    try await awaitDependency(type, name, .mainActor, search, within: limit, clock)
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIContext {
  nonisolated(nonsending) func awaitDependency<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, within limit: Duration?,
    _ clock: any Clock<Duration>
  ) async throws -> Dependency {
    // If this lookup fails, the consumer repeats it and reports the error.
    if let found: Dependency = try? provided(type, name, reach, search, nil) { return found }
    let consumer = Consumer(self, type, name, reach, search)
    let timer = limit.flatMap { consumer.expire(after: $0, clock) }
    defer { timer?.cancel() }
    while let next = await consumer.next() { if let found = next { return found } }
    try Task.checkCancellation()
    throw explained(ProviderFailure.nothing, type, name, reach, search)
  }
}
