/// The instances that one outermost `obtain` shares under the lifetime `.graph`, among all asynchronous factories that
/// it runs. An instance that is kept gets its own graph while it is made.
final class AsyncGraph: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// The current task's graph. A factory may start a task without waiting for it. That task keeps this object alive
  /// even after the graph has ended, so `end` releases the instances.
  @TaskLocal private static var current: AsyncGraph?

  /// The caches that keep the graph's instances, by the providers' ids.
  private var caches: [UInt: InstanceCaches] = [:]
  /// Whether the graph has ended: with the outermost `obtain`, or with the making of an instance that is kept.
  private var hasEnded = false

  /// Ends the graph, and releases its instances.
  private func end() {
    let released = Tree.change { _ in
      hasEnded = true
      defer { caches = [:] }
      return caches
    }
    _ = consume released
  }

  /// Runs an operation in the graph of the current task, or in a new graph if there is none that has not ended.
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

  /// What keeps the graph's instance of the given provider for the given arguments.
  func keeper(for provider: AsyncFactory, _ arguments: ArgumentKey?) -> InstanceKeeper {
    let (cache, _) = InstanceCache.find(for: provider, arguments, isOfGraph: true) { body in
      Tree.change { _ in
        if !hasEnded { return body(&caches[provider.id, default: InstanceCaches()]) }
        // After the graph has ended, the cache is for this caller only.
        var caches = InstanceCaches()
        return body(&caches)
      }
    }
    return InstanceKeeper(provider: provider, cache: cache)
  }
}
