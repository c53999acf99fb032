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
  /// the instance, such as `.context`. Asynchronous factories come first, side by side, together with what they obtain.
  /// Then come synchronous factories that belong to an actor, and then all others, which therefore find what has been
  /// made before. Scopes count as contexts below. For each scope, this context included, the method also makes what is
  /// registered above it as ``UDILifetime/scope``.
  ///
  /// If something cannot be made, everything else is still made. A factory that failed because something had not been
  /// made yet is called again when that has been made. Apart from that, a factory that has failed is not called again:
  /// what needs its instance gets its error. Factories that take arguments, and those whose instances the context does
  /// not own, are called only for what needs them. A dependency that has not been registered is noticed only if a
  /// factory that runs requires it.
  ///
  /// If the current task is cancelled, the warm-up calls no further factory and starts no operation. The operation of
  /// something that was being made at that moment, and is kept, starts with the next warm-up.
  ///
  /// - Throws: ``UDIWarmUpError`` with all failures, or `CancellationError` if the current task is cancelled.
  /// - Complexity: O(contexts and providers below), apart from the time that the factories take.
  public func warmUp() async throws {
    for provider in ([self] + descendants).flatMap(\.providers) { provider.beginPutOffOperations() }
    try Self.end(with: await failuresToMake { !($0 is Alias) && $0.owns })
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
    try await warmUp(UDIKey(first), repeat UDIKey(each more))
  }

  /// Makes the dependencies with the given keys concurrently. If they are kept, later lookups from here find them.
  ///
  /// - Parameters:
  ///   - first: The key that the first dependency is registered under.
  ///   - more: The keys of the others.
  /// - Throws: ``UDIWarmUpError`` with all failures, or `CancellationError` if the current task is cancelled.
  public func warmUp<First: Sendable, each More: Sendable>(
    _ first: UDIKey<First>, _ more: repeat UDIKey<each More>
  ) async throws {
    try await warmUp(requests(.anywhere, first, repeat each more))
  }

  /// Makes the given dependencies on the main actor, where their types need not be `Sendable`. In all other respects,
  /// this form does the same as the one for `Sendable` types.
  @preconcurrency @MainActor
  public func warmUp<First, each More>(_ first: First.Type, _ more: repeat (each More).Type) async throws {
    try await warmUp(UDIKey(first), repeat UDIKey(each more))
  }

  /// Makes the dependencies with the given keys on the main actor, where their types need not be `Sendable`. In all
  /// other respects, this form does the same as the one for `Sendable` types.
  @preconcurrency @MainActor
  public func warmUp<First, each More>(_ first: UDIKey<First>, _ more: repeat UDIKey<each More>) async throws {
    try await warmUp(requests(.mainActor, first, repeat each more))
  }

  private func requests<First, each More>(
    _ reach: UDIReach, _ first: UDIKey<First>, _ more: repeat UDIKey<each More>
  ) -> [LookupRequest] {
    var requests = [LookupRequest(First.self, reach, named: first.name)]
    repeat requests.append(LookupRequest((each More).self, reach, named: (each more).name))
    return requests
  }

  private func warmUp(_ requests: [LookupRequest]) async throws {
    let warmUp = WarmUp()
    let items = requests.map { (Demand(context: self, request: $0, warmUp: warmUp), [$0.keyText], UInt(0)) }
    try Self.end(with: await warmUp.make([items]))
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
  /// takes no arguments.
  ///
  /// - Returns: The failures; a single one if this context is closed, or is being closed.
  package func failuresToMake(_ isWanted: (Provider) -> Bool) async -> [UDIFailure] {
    if let path = change({ node, _ in node.endingPath }) {
      let error = linkError(.closed(path), LookupRequest(UDIContext.self, .anywhere))
      return [UDIFailure(TypeIdentity.of(UDIContext.self), path: fullPath, error: error)]
    }
    let warmUp = WarmUp()
    return await warmUp.make(whatToMake(in: warmUp, isWanted))
  }

  /// What a warm-up makes, in three groups: asynchronous factories come first, so that the others find their instances.
  /// Then come synchronous factories that belong to an actor, because the rest cannot wait for that actor.
  @inline(never)
  private func whatToMake(in warmUp: WarmUp, _ isWanted: (Provider) -> Bool) -> [[WarmUp.Item]] {
    var groups: [[WarmUp.Item]] = [[], [], []]
    for context in [self] + descendants {
      func add(_ provider: Provider, _ search: UDISearch) {
        guard provider.wanted == nil, provider.kind != .scoped, isWanted(provider) else { return }
        let request = LookupRequest(provider.madeType, provider.reach, named: provider.key.name, search: search)
        let keys = Tree.change { _ in [provider.key] + provider.aliases.map(\.key) }.map(\.description)
        groups[provider.isAsynchronous ? 0 : provider.isIsolated ? 1 : 2]
          .append((Demand(context: context, request: request, warmUp: warmUp), keys, provider.id))
      }
      let isInScope = context.nearestScope != nil
      for provider in context.providers where isInScope || provider.sharing != .scope { add(provider, .local) }
      if context.isScope { for provider in context.providersOfScopesAbove { add(provider, .ancestors) } }
    }
    return groups
  }

  private static func end(with failures: [UDIFailure]) throws {
    if Task.isCancelled { throw CancellationError() }
    if !failures.isEmpty { throw UDIWarmUpError(failures: failures) }
  }
}

// MARK: - Making it

extension WarmUp {
  /// Something to make: the demand, the keys under which others look it up, and the provider's id, if that is known.
  typealias Item = (demand: Demand, keys: [String], provider: UInt)

  /// Makes one group after the other, and what is in a group side by side. Then tries again what has failed for want of
  /// something that has been made meanwhile.
  func make(_ groups: [[Item]]) async -> [UDIFailure] {
    let items = Array(groups.joined())
    var errors: [Int: any Error] = [:]
    var first = 0
    for group in groups {
      await make(first..<first + group.count, of: items, &errors)
      first += group.count
    }
    var tried = Array(items.indices)
    while !tried.isEmpty, !Task.isCancelled {
      let made = Set(tried.filter { errors[$0] == nil }.flatMap { items[$0].keys })
      forgetFailures(forWantOf: made)
      tried = errors.keys.filter { errors[$0]?.missingOnlyHere.map(made.contains) == true }.sorted()
      await make(tried, of: items, &errors)
    }
    return errors.sorted { $0.key < $1.key }.map { index, error in
      let (demand, _, provider) = items[index]
      var failure = UDIFailure(demand.request.key, path: demand.context.fullPath, error: error)
      failure.number = number(of: provider, for: demand.context)
      return failure
    }
  }

  /// Makes some of the items side by side.
  private func make(_ indices: some Sequence<Int>, of items: [Item], _ errors: inout [Int: any Error]) async {
    await withTaskGroup { group in
      for index in indices { group.addTask { (index, await items[index].demand.failure()) } }
      for await (index, error) in group { errors[index] = error }
    }
  }
}

extension Demand {
  /// Makes the dependency, and returns the error if that fails.
  fileprivate func failure() async -> (any Error)? {
    do {
      if request.reach == .mainActor { try await makeOnMainActor() } else { _ = try await obtain() }
      return nil
    } catch { return error }
  }

  // This function does not return the instance, so that the instance is released here, on the main actor.
  @MainActor private func makeOnMainActor() async throws { _ = try await obtain() }
}
