/// The instances that one outermost `obtain` shares under the lifetime `.graph`, among all asynchronous factories that
/// it runs.
final class AsyncGraph: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// The current task's graph. A factory may start a task without waiting for it. That task keeps this object alive
  /// even after the graph has ended, so `end` releases the shares.
  @TaskLocal private static var current: AsyncGraph?

  /// The shares, by the providers' ids and the hashes of the arguments.
  private var shares: [Graphs.Key: [Share]] = [:]
  /// Whether the outermost `obtain` has ended.
  private var hasEnded = false

  /// Ends the graph, and releases its instances.
  private func end() {
    let released = Tree.change { _ in
      hasEnded = true
      defer { shares = [:] }
      return shares
    }
    _ = consume released
  }

  /// One instance of the graph, or the creation that is making it.
  final class Share: AsyncKeeper, @unchecked Sendable {
    // Unchecked: `creation` is guarded by the tree lock.
    fileprivate let arguments: ArgumentKey?
    private var creation: AsyncCreation?

    fileprivate init(_ arguments: ArgumentKey?) { self.arguments = arguments }

    var isIndependent: Bool { false }
    func storedInstance() -> Instance? { nil }

    func claim(_ provider: AsyncFactory, for context: UDIContext, _ path: [KeyIdentity]) throws -> AsyncClaim {
      let call = AsyncCall.current
      return try Tree.change { garbage in
        let present = creation
        if let present {
          garbage.add(present)
          if let instance = present.instance { return .found(instance) }
          if let number = try present.join(call, path) { return .wait(present, number) }
        }
        let new = AsyncCreation(provider)
        let (number, predecessor) = try new.enterFirst(call, path, after: present)
        creation = new
        return .make(context, new, number, after: predecessor)
      }
    }

    func end(
      _ creation: AsyncCreation, with instance: Instance?, _ provider: AsyncFactory, _ owner: UDIContext
    ) -> Bool { true }
  }

  /// Runs an operation in the graph of the current task, or in a new graph if there is none.
  ///
  /// - Parameter isNew: Whether to use a new graph even if the current task has one.
  static func run<Result>(
    anew isNew: Bool = false, _ operation: (AsyncGraph) async throws -> Result
  ) async rethrows -> Result {
    if !isNew, let current, !Tree.change({ _ in current.hasEnded }) { return try await operation(current) }
    let graph = AsyncGraph()
    defer { graph.end() }
    return try await $current.withValue(graph) { try await operation(graph) }
  }

  /// Finds or adds the share for the given provider and arguments.
  func share(for provider: AsyncFactory, _ arguments: ArgumentKey?) -> Share {
    let key = Graphs.Key(provider: provider.id, number: UInt(bitPattern: arguments?.digest ?? 0))
    // Comparing arguments calls the user's `==`, so it happens while the lock is not held. If other shares have been
    // added in the meantime, they are compared in the next turn.
    var compared = 0
    while true {
      let candidates = Tree.change { _ in shares[key] ?? [] }
      if let found = candidates.dropFirst(compared).first(where: { $0.arguments == arguments }) { return found }
      compared = candidates.count
      let new = Share(arguments)
      let isAdded = Tree.change { _ in
        guard (shares[key]?.count ?? 0) == compared else { return false }
        // After the graph has ended, the new share is for this caller only.
        if !hasEnded { shares[key, default: []].append(new) }
        return true
      }
      if isAdded { return new }
    }
  }
}
