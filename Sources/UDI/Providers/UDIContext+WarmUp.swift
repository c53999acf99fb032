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
  /// the instance, such as `.context`. Asynchronous factories run first and concurrently, each as soon as the
  /// dependencies that it needs have been made. Then synchronous factories run, which therefore find what the
  /// asynchronous ones have made. Of the synchronous factories, those that belong to an actor come first, because the
  /// others cannot wait for that actor. Scopes count as contexts below. For each scope, this context included, the
  /// method also makes what is registered above it as ``UDILifetime/scope``.
  ///
  /// If something cannot be made, everything else is still made. Factories that take arguments, and those whose
  /// instances the context does not own, are not run. A dependency that has not been registered is noticed only if a
  /// factory that runs requires it.
  ///
  /// If an asynchronous factory fails, the synchronous ones that need its instance get its error; it does not run again
  /// for them.
  ///
  /// - Throws: ``UDIWarmUpError`` with all failures, or `CancellationError` if the current task is cancelled.
  /// - Complexity: O(contexts and providers below), apart from the time that the factories take.
  public func warmUp() async throws {
    try Self.end(with: await failuresToMake { !($0 is Alias) && ($0.sharing == .strong || $0.sharing == .scope) })
  }

  /// Makes the given dependencies concurrently. If they are kept, later lookups from here find them.
  ///
  /// - Parameters:
  ///   - first: The type that the first dependency is registered under.
  ///   - more: The types of the others.
  /// - Throws: ``UDIWarmUpError`` with all failures, or `CancellationError` if the current task is cancelled.
  public func warmUp<First: Sendable, each More: Sendable>(
    _ first: First.Type, _ more: repeat (each More).Type
  ) async throws {
    try await warmUp(ArgumentPack<First, repeat each More>.types, .anywhere)
  }

  /// Does the same as ``warmUp(_:_:)`` on the main actor, for types that are not `Sendable`.
  @preconcurrency @MainActor
  public func warmUp<First, each More>(_ first: First.Type, _ more: repeat (each More).Type) async throws {
    try await warmUp(ArgumentPack<First, repeat each More>.types, .mainActor)
  }

  private func warmUp(_ types: [Any.Type], _ reach: UDIReach) async throws {
    let wanted = types.map { Obtaining(context: self, request: LookupRequest($0, reach)) }
    await Self.make(wanted)
    try Self.end(with: wanted.compactMap(\.failure))
  }
}

/// The errors that were thrown while a context was warmed up. Everything else has been made.
public struct UDIWarmUpError: Error, Sendable {
  /// The failures. There is at least one.
  public let failures: [UDIFailure]
}

extension UDIWarmUpError: CustomStringConvertible {
  /// The number of failures, and each error once, with all dependencies that could not be made because of it.
  public var description: String { UDIFailure.describe(failures, "could not be made") }
}

// MARK: - What there is to make

extension Obtaining {
  /// Makes the dependency for `warmUp`.
  fileprivate func make() async {
    do { if request.reach == .mainActor { try await makeOnMainActor() } else { _ = try await run() } } catch {
      unsafe self.error = error
    }
  }

  /// What `make` has failed with, if it has.
  fileprivate var failure: UDIFailure? {
    unsafe error.map { UDIFailure(request.key, path: context.fullPath, error: $0) }
  }

  // This function does not return the instance, so that the instance is released here, on the main actor.
  @MainActor private func makeOnMainActor() async throws { _ = try await run() }
}

extension UDIContext {
  /// The providers of this context, in the order of registration.
  package var providers: [Provider] { change { node, _ in node.allProviders } }

  /// The providers above this scope that make an instance for each scope.
  package var providersOfScopesAbove: [Provider] {
    sequence(first: self, next: \.parent).dropFirst().flatMap(\.providers).filter { $0.sharing == .scope }
  }

  /// The nearest scope around this context, which may be the context itself.
  package var nearestScope: UDIContext? { change { node, _ in node.nearestScope?.context } }

  /// Makes an instance with each provider of this context and of the contexts below it that satisfies a predicate and
  /// takes no arguments. Asynchronous factories come first, so that the others find their instances. Then come
  /// synchronous factories that belong to an actor, because the rest cannot wait for that actor.
  ///
  /// - Returns: The failures; a single one if this context is closed, or is being closed.
  package func failuresToMake(_ isWanted: (Provider) -> Bool) async -> [UDIFailure] {
    if let path = change({ node, _ in node.endingPath }) {
      let error = linkError(.closed(path), LookupRequest(UDIContext.self, .anywhere))
      return [UDIFailure(TypeIdentity.of(UDIContext.self), path: fullPath, error: error)]
    }
    var tried: [Obtaining] = []
    for group in whatToMake(isWanted) {
      for dependency in group { unsafe dependency.tried = tried }
      await Self.make(group)
      tried += group
    }
    return tried.compactMap(\.failure)
  }

  @inline(never)
  private func whatToMake(_ isWanted: (Provider) -> Bool) -> [[Obtaining]] {
    var groups: [[Obtaining]] = [[], [], []]
    for context in [self] + descendants {
      func add(_ provider: Provider, _ search: UDISearch) {
        guard provider.wanted == nil, provider.kind != .scoped, isWanted(provider) else { return }
        let request = LookupRequest(provider.madeType, provider.reach, named: provider.key.name, search: search)
        groups[provider.isAsynchronous ? 0 : provider.isIsolated ? 1 : 2]
          .append(Obtaining(context: context, request: request, of: provider.sharing == .strong ? provider.id : 0))
      }
      let isInScope = context.nearestScope != nil
      for provider in context.providers where isInScope || provider.sharing != .scope { add(provider, .local) }
      if context.isScope { for provider in context.providersOfScopesAbove { add(provider, .ancestors) } }
    }
    return groups
  }

  @inline(never)
  private static func make(_ dependencies: [Obtaining]) async {
    await withTaskGroup { group in
      for dependency in dependencies { group.addTask { await dependency.make() } }
    }
  }

  private static func end(with failures: [UDIFailure]) throws {
    if Task.isCancelled { throw CancellationError() }
    if !failures.isEmpty { throw UDIWarmUpError(failures: failures) }
  }
}
