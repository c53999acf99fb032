/// One call of `warmUp`. It remembers which factories have failed, so that they are not called again, and each failure
/// is reported only once.
final class WarmUp: @unchecked Sendable {
  // Unchecked: the property is guarded by the tree lock.

  /// Something to make: the demand, and the provider, if that is known. The provider is held until the warm-up ends,
  /// even if it is replaced meanwhile.
  typealias Item = (demand: Demand, provider: Provider?)

  /// The factories that have failed, those of items and of their dependencies, in the order in which they failed. The
  /// contexts are held, so that no other context gets the address of one of them.
  private var factoryErrors: [(provider: UInt, context: UDIContext, error: any Error)] = []

  /// Makes one group after the other. In a group, closures of synchronous factories are called in turn, without a task
  /// of their own, and everything else is made side by side. Then tries again the items that failed for want of
  /// something that has been made meanwhile.
  func make(_ groups: [[Item]]) async -> [UDIFailure] {
    let items = Array(groups.joined())
    // The error of each item; nil if it has been made.
    var errors: [(any Error)?] = Array(repeating: nil, count: items.count)
    var first = 0
    for group in groups {
      await make(Array(first..<first + group.count), of: items, &errors)
      first += group.count
    }
    var tried = Array(items.indices)
    while !tried.isEmpty, !Task.isCancelled, errors.contains(where: { $0 != nil }) {
      tried = whatToTryAgain(after: tried, items, errors)
      await make(tried, of: items, &errors)
    }
    return failures(of: items, errors)
  }

  // The steps are not inlined, because the code after each `await` would contain them once more.

  /// Makes some of the items.
  private func make(_ indices: [Int], of items: [Item], _ errors: inout [(any Error)?]) async {
    await withTaskGroup(of: (Int, (any Error)?).self) { group in
      for index in indices {
        let (demand, provider) = items[index]
        let actor = demand.request.reach == .mainActor ? MainActor.shared : nil
        if let provider, !provider.isAsynchronous, provider.reachOfParameters == nil {
          errors[index] = await Self.failure(of: demand, on: provider.isolation.isMainActor ? MainActor.shared : actor)
        } else {
          group.addTask { (index, await WarmUp.failure(of: demand, on: actor)) }
        }
      }
      for await (index, error) in group { errors[index] = error }
    }
  }

  /// Returns the items that have failed only for want of something that has been made since. Forgets the errors of all
  /// factories that failed for that reason.
  private func whatToTryAgain(after tried: [Int], _ items: [Item], _ errors: [(any Error)?]) -> [Int] {
    let failed = Tree.change { _ in self.factoryErrors }
    var made: [String] = []
    for index in tried where errors[index] == nil {
      let (demand, provider) = items[index]
      made.append(demand.request.key.description)
      for alias in Tree.change({ _ in provider?.aliases }) ?? [] { made.append(alias.key.description) }
    }
    func isForWantOfIt(_ error: (any Error)?) -> Bool {
      // If a circle goes through an optional parameter, the dependency with which it begins decides whether it can be
      // made.
      guard let error, error.isOnlyHere || error.isCycleOrTooDeep, let missing = (error as? UDILinkError)?.chain.last
      else { return false }
      return made.contains(describeKey(missing.typeName, missing.name))
    }
    var others = failed.filter { !isForWantOfIt($0.error) }
    Tree.change { _ in swap(&self.factoryErrors, &others) }
    return items.indices.filter { isForWantOfIt(errors[$0]) }
  }

  private func failures(of items: [Item], _ errors: [(any Error)?]) -> [UDIFailure] {
    let failed = Tree.change { _ in self.factoryErrors }
    // What failed first comes first: it is what the others need.
    let inOrder = items.indices.filter { errors[$0] != nil }.inOrder { index in
      let (demand, provider) = items[index]
      return UInt64(failed.firstIndex { $0.provider == provider?.id && $0.context === demand.context } ?? failed.count)
    }
    return inOrder.map { index in
      let demand = items[index].demand
      return UDIFailure(demand.request.key, path: demand.context.fullPath, error: errors[index]!)
    }
  }

  // MARK: - The errors of factories

  /// The error of a provider's factory that was given the context; nil if it has not failed.
  func failure(of provider: Provider, for context: UDIContext) -> (any Error)? {
    Tree.change { _ in factoryErrors.first { $0.provider == provider.id && $0.context === context }?.error }
  }

  /// Notes that a factory has failed.
  func note(_ error: any Error, of provider: Provider, for context: UDIContext) {
    Tree.change { _ in factoryErrors.append((provider.id, context, error)) }
  }

  /// Makes a dependency, and returns the error if that fails. The instance is released here.
  ///
  /// - Parameter actor: The main actor, if the dependency might not be `Sendable`.
  @inline(never) private static func failure(of demand: Demand, on actor: isolated (any Actor)?) async -> (any Error)? {
    do {
      _ = try await demand.obtain()
      return nil
    } catch { return error }
  }
}
