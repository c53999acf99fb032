/// The instances that one outermost `obtain` shares under the lifetime `.graph`, among all asynchronous factories that
/// it runs. An instance that is kept gets its own graph while it is made.
final class AsyncGraph: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// The caches that keep the graph's instances, by the providers' ids.
  private var caches = ObjectTable<InstanceCaches>()
  /// Whether the graph has ended: with the outermost `obtain`, or with the making of an instance that is kept.
  private var hasEnded = false

  /// The graph of the current task; nil if it has none, or if its graph has ended.
  static var ofTask: AsyncGraph? { AsyncCall.current?.graph?.unlessEnded }

  /// This graph; nil if it has ended.
  var unlessEnded: AsyncGraph? { Tree.change { _ in hasEnded ? nil : self } }

  /// Ends the graph, and releases its instances. A factory may start a task without waiting for it, and that task keeps
  /// this object alive.
  func end() {
    var released = ObjectTable<InstanceCaches>()
    Tree.change { _ in
      hasEnded = true
      swap(&released, &caches)
    }
    _ = consume released
  }

  /// The caches for the instances of the given provider. After the graph has ended, they are for this caller only.
  func caches(of provider: AsyncFactory) -> InstanceCaches {
    Tree.change { _ in
      let caches = caches[UInt64(provider.id)] ?? InstanceCaches()
      if !hasEnded { self.caches[UInt64(provider.id)] = caches }
      return caches
    }
  }
}
