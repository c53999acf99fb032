/// Making instances before they are needed.
extension UDIContext {
  /// Makes all instances that this context and the contexts below it can own, so that later lookups find them.
  ///
  /// ```swift
  /// try await root.warmUp()
  /// // From here on, `link` finds what asynchronous factories have made.
  /// ```
  ///
  /// This makes an instance with each provider that takes no arguments and whose lifetime makes the context own the
  /// instance, such as `.context`. Set-up blocks run first. Then asynchronous factories run, side by side, each as soon
  /// as the dependencies that it needs have been made. Then synchronous factories run, which therefore find all of
  /// these. Of the synchronous factories, those that belong to an actor come first, because the others cannot wait for
  /// that actor. Scopes count as contexts below.
  ///
  /// If something cannot be made, everything else is made all the same. Factories that take arguments, and those whose
  /// instances the context does not own, are not run. A dependency that nobody has registered is not noticed.
  ///
  /// - Throws: ``UDIWarmUpError`` with all failures, or `CancellationError` if the current task is cancelled.
  /// - Complexity: O(contexts and providers below), apart from the time that the factories take.
  public func warmUp() async throws {
    try rejectIfClosed()
    for context in allContexts() { await context.runSetUps() }
    let owned = providersWithoutArguments { $0.sharing == .strong }
    try Self.end(with: await Self.failures(ofAll: owned))
  }

  /// Makes an instance with each provider, of this context and the contexts below it, that takes no arguments, even if
  /// the provider does not keep the instance.
  ///
  /// - Returns: The failures.
  package func failuresToMakeEverything() async -> [UDIWarmUpError.Failure] {
    for context in allContexts() { await context.runSetUps() }
    return await Self.failures(ofAll: providersWithoutArguments { _ in true })
  }

  /// Makes the given dependencies, side by side. If they are kept, later lookups from here find them.
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

  private func warmUp(_ types: [Any.Type], _ reach: Reach) async throws {
    try Self.end(
      with: await Self.failures(
        of: types.map {
          WarmUp(context: self, type: $0, name: nil, reach: reach, search: nil, isAsynchronous: true, isIsolated: false)
        }))
  }
}

/// The errors that were thrown while a context was warmed up. Everything else has been made.
public struct UDIWarmUpError: Error, Sendable {
  /// A dependency that could not be made.
  public struct Failure: Sendable {
    /// The type that the dependency is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that the dependency is registered under; nil if there is none.
    public let name: String?
    /// The tags of the contexts from the root to the one that should have made the dependency, both included.
    public let path: [String]
    /// The error that was thrown instead.
    public let error: any Error
  }

  /// The failures. There is at least one.
  public let failures: [Failure]
}

extension UDIWarmUpError.Failure: CustomStringConvertible {
  /// The dependency, the context and the error.
  public var description: String { "\(describeKey(typeName, name)) in \(quoted(path)): \(error)" }
}

extension UDIWarmUpError: CustomStringConvertible {
  /// The number of failures, and one line for each.
  public var description: String {
    if failures.count == 1 { return "One dependency could not be made: \(failures[0])" }
    return (["\(failures.count) dependencies could not be made:"] + failures.map { "  \($0)" }).joined(separator: "\n")
  }
}

// MARK: - What there is to make

/// A dependency to be made by `warmUp`.
private struct WarmUp: Sendable {
  let context: UDIContext
  let type: Any.Type
  let name: UDIName?
  let reach: Reach
  let search: UDISearch?
  let isAsynchronous: Bool
  let isIsolated: Bool

  /// Makes the dependency.
  ///
  /// - Returns: The failure, if there is one.
  func failure() async -> UDIWarmUpError.Failure? {
    do {
      if reach == .mainActor { try await makeOnMainActor() } else { try await make() }
      return nil
    } catch {
      let path = context.change { node, _ in node.fullPath }
      return .init(typeName: TypeIdentity.of(type).text, name: name?.description, path: path, error: error)
    }
  }

  nonisolated(nonsending) private func make() async throws {
    _ = try await Obtaining(
      context: context, type: type, name: name, reach: reach, search: search, arguments: nil
    ).run()
  }

  @MainActor private func makeOnMainActor() async throws { try await make() }
}

extension UDIContext {
  /// This context and all contexts below it.
  private func allContexts() -> [UDIContext] {
    change { node, _ in [self] + BreadthFirst(node).dropFirst().compactMap(\.node.context) }
  }

  private func rejectIfClosed() throws {
    let path = change { node, _ in node.treeLocked.state.isEnding ? node.fullPath : nil }
    guard let path else { return }
    let error = explained(ProviderFailure.closed(path), UDIContext.self, nil, .anywhere, nil)
    throw UDIWarmUpError(
      failures: [.init(typeName: TypeIdentity.of(UDIContext.self).text, name: nil, path: path, error: error)])
  }

  /// Runs this context's own set-up blocks, on the main actor if they have to run there.
  private func runSetUps() async {
    func run() { withNode { $0.runPendingSetUps(self, .local, for: nil) } }
    run()
    guard !MainActorCheck.isOnMainActor, withNode({ $0.mustRunSetUps(.local) }) else { return }
    await MainActor.run { withNode { $0.runPendingSetUps(self, .local, for: nil) } }
  }

  /// The providers of this context and the contexts below it that take no arguments. Aliases are left out, because they
  /// make nothing themselves.
  private func providersWithoutArguments(where isIncluded: (Provider) -> Bool) -> [WarmUp] {
    allContexts().flatMap { context in
      context.change { node, garbage in
        var owned: [WarmUp] = []
        node.treeLocked.providers.forEach { element in
          let provider = element.provider
          guard isIncluded(provider), provider.wanted == nil, !(provider is Alias) else { return }
          owned.append(
            WarmUp(
              context: context, type: provider.madeType, name: provider.key.name, reach: provider.reach,
              search: .local, isAsynchronous: provider.isAsynchronous, isIsolated: provider.isIsolated))
        }
        return owned
      }
    }
  }

  /// Makes dependencies in the right order. Asynchronous factories come first, so that the others find their instances.
  /// Then come synchronous factories that belong to an actor, because the rest cannot wait for that actor.
  private static func failures(ofAll dependencies: [WarmUp]) async -> [UDIWarmUpError.Failure] {
    await failures(of: dependencies.filter { $0.isAsynchronous })
      + failures(of: dependencies.filter { !$0.isAsynchronous && $0.isIsolated })
      + failures(of: dependencies.filter { !$0.isAsynchronous && !$0.isIsolated })
  }

  private static func failures(of dependencies: [WarmUp]) async -> [UDIWarmUpError.Failure] {
    await withTaskGroup { group in
      for (index, dependency) in dependencies.enumerated() {
        group.addTask { (index, await dependency.failure()) }
      }
      var failures: [(index: Int, failure: UDIWarmUpError.Failure)] = []
      for await case (let index, let failure?) in group { failures.append((index, failure)) }
      return failures.sorted { $0.index < $1.index }.map(\.failure)
    }
  }

  private static func end(with failures: [UDIWarmUpError.Failure]) throws {
    if Task.isCancelled { throw CancellationError() }
    if !failures.isEmpty { throw UDIWarmUpError(failures: failures) }
  }
}
