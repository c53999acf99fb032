/// Making instances before they are needed.
extension UDIContext {
  /// Makes all instances that this context and the contexts below it can own, so that later lookups find them.
  ///
  /// ```swift
  /// try await root.warmUp()
  /// // From here on, `link` finds what asynchronous factories have made.
  /// ```
  ///
  /// The method makes an instance with each provider that takes no arguments and whose lifetime makes the context own
  /// the instance, such as `.context`. Asynchronous factories come first, concurrently, together with the dependencies
  /// that they obtain. Then come synchronous factories that belong to an actor, and then all others, which therefore
  /// find the instances made before; closures are called one after the other. Scopes count as contexts below. For each
  /// scope, this context included, the method also makes the dependencies that are registered above it as
  /// ``UDILifetime/scope``.
  ///
  /// If an instance cannot be made, all others are still made. A factory that failed because a dependency had not been
  /// made yet is called again when the dependency has been made. Apart from that, a factory that has failed is not
  /// called again: the factories that need its instance get its error. Factories that take arguments, and those whose
  /// instances the context does not own, are called only if another factory needs them. A dependency that has not been
  /// registered is noticed only if a factory that runs requires it.
  ///
  /// If the current task is cancelled, the warm-up calls no further factory and starts no operation. If an instance was
  /// being made at that moment, and is kept, its operation starts with the next warm-up.
  ///
  /// - Throws: ``UDIWarmUpError`` with all failures, or `CancellationError` if the current task is cancelled.
  /// - Complexity: O(contexts and providers below), apart from the time that the factories take.
  public func warmUp() async throws {
    for provider in ([self] + descendants).flatMap(\.providers) where provider.runsInstances {
      if Tree.change({ _ in provider.closer?.hasPutOffOperations == true }) { provider.beginOperations() }
    }
    try Self.end(with: await failuresToMake(areAliases: false, isOwned: true))
  }

  /// Makes the given dependencies concurrently.
  ///
  /// If they are kept, later lookups from here find them.
  ///
  /// - Parameters:
  ///   - first: The type that the first dependency is registered under.
  ///   - more: The types of the others.
  /// - Throws: ``UDIWarmUpError`` with all failures, or `CancellationError` if the current task is cancelled.
  public func warmUp<First: Sendable, each More: Sendable>(
    _ first: First.Type, _ more: repeat (each More).Type
  ) async throws {
    var requests = [LookupRequest(first, .anywhere)]
    repeat requests.append(LookupRequest(each more, .anywhere))
    try await warmUp(requests)
  }

  /// Makes the dependencies with the given keys concurrently.
  ///
  /// If they are kept, later lookups from here find them.
  ///
  /// - Parameters:
  ///   - first: The key that the first dependency is registered under.
  ///   - more: The keys of the others.
  /// - Throws: ``UDIWarmUpError`` with all failures, or `CancellationError` if the current task is cancelled.
  nonisolated(nonsending) public func warmUp<First, each More>(
    _ first: UDIKey<First>, _ more: repeat UDIKey<each More>
  ) async throws {
    var requests = [LookupRequest(First.self, first.reach, named: first.name)]
    repeat requests.append(LookupRequest((each More).self, (each more).reach, named: (each more).name))
    try await warmUp(requests)
  }

  /// Makes the given dependencies on the main actor, where their types need not be `Sendable`.
  ///
  /// In all other respects, this form does the same as the one for `Sendable` types.
  @preconcurrency @MainActor
  public func warmUp<First, each More>(_ first: First.Type, _ more: repeat (each More).Type) async throws {
    var requests = [LookupRequest(first, .mainActor)]
    repeat requests.append(LookupRequest(each more, .mainActor))
    try await warmUp(requests)
  }

  private func warmUp(_ requests: [LookupRequest]) async throws {
    let warmUp = WarmUp()
    let demands = requests.map { Demand(context: self, request: $0, warmUp: warmUp) }
    try Self.end(with: await warmUp.make([demands.map { ($0, nil) }]))
  }

  // MARK: - What there is to make

  /// The providers of this context, in the order of registration.
  package var providers: [Provider] { change { node, _ in node.allProviders } }

  /// The providers, here and above, whose instances this context owns under the lifetime `.scope`.
  package var providersOfScope: [Provider] {
    if !isScope { return [] }
    let all = sequence(first: self, next: \.parent).flatMap(\.providers)
    return all.filter { $0.sharing == .scope && $0.owner(asking: self) === self }
  }

  /// Makes an instance with each provider of this context and of the contexts below it that takes no arguments.
  ///
  /// - Parameters:
  ///   - areAliases: Whether to look for aliases, and not for other providers.
  ///   - isOwned: Whether a context has to own the instance.
  /// - Returns: The failures; a single one if this context is closed, or is being closed.
  package func failuresToMake(areAliases: Bool, isOwned: Bool = false) async -> [UDIFailure] {
    if let path = endingPath {
      let error = linkError(.closed(path), LookupRequest(UDIContext.self, .anywhere))
      return [UDIFailure(TypeIdentity.of(UDIContext.self), path: fullPath, error: error)]
    }
    let warmUp = WarmUp()
    return await warmUp.make(whatToMake(in: warmUp, areAliases: areAliases, isOwned: isOwned))
  }

  /// What a warm-up makes, in three groups: asynchronous factories come first, so that the others find their instances.
  /// Then come synchronous factories that belong to an actor, because the rest cannot wait for that actor.
  private func whatToMake(in warmUp: WarmUp, areAliases: Bool, isOwned: Bool) -> [[WarmUp.Item]] {
    var groups: [[WarmUp.Item]] = [[], [], []]
    for context in [self] + descendants {
      let own = context.providers.filter { $0.sharing != .scope }
      for (index, provider) in (own + context.providersOfScope).enumerated() {
        let isWanted = (provider is Alias) == areAliases && (provider.owns || !isOwned)
        guard isWanted, provider.wanted == nil, provider.kind != .scoped else { continue }
        let request = LookupRequest(
          provider.madeType, provider.reach, named: provider.key.name, search: index < own.count ? .local : .ancestors)
        groups[provider.isAsynchronous ? 0 : provider.isIsolated ? 1 : 2]
          .append((Demand(context: context, request: request, warmUp: warmUp), provider))
      }
    }
    return groups
  }

  private static func end(with failures: [UDIFailure]) throws {
    if Task.isCancelled { throw CancellationError() }
    if !failures.isEmpty { throw UDIWarmUpError(failures: failures) }
  }
}

/// The errors that were thrown while a context was warmed up. Everything else has been made.
public struct UDIWarmUpError: Error, Sendable, CustomStringConvertible {
  /// The failures. There is at least one.
  public let failures: [UDIFailure]

  /// The number of failures, and each error once, with all dependencies that could not be made because of it.
  public var description: String { UDIFailure.describe(failures, "could not be made") }
}
