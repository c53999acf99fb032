/// The instances that are shared under the lifetime `.graph`. There is one graph for each outermost link of a thread,
/// one for the parameters of each initialiser that `obtain` gets one after the other, and one for the asynchronous
/// factories that an outermost `obtain` runs. An instance that is kept gets its own graph while it is made.
final class Graph: @unchecked Sendable {
  // Unchecked: `caches` and `hasEnded` are guarded by the tree lock. One thread at a time uses the other properties:
  // the one whose graph this is, or on which a task obtains parameters.

  /// The instances that synchronous factories have made without arguments.
  @exclusivity(unchecked) private var shared = CompactTable<Element>()
  /// The caches that keep all other instances, by the providers' ids.
  private var caches = ObjectTable<InstanceCaches>()
  /// Whether `end` has been called.
  private var hasEnded = false
  /// Whether there are instances in `shared` that are not `Sendable`.
  @exclusivity(unchecked) private var belongsToMainActor = false

  // Not private, because otherwise the compiler (Swift 6.3) crashes.
  struct Element: CompactTableElement {
    /// The provider's `id`.
    let key: UInt
    let instance: Instance
    static func hash(_ key: UInt) -> UInt { scrambled(key) }
  }

  deinit {
    guard unsafe belongsToMainActor, !runsOnMainActor else { return }
    let carrier = Graph()
    unsafe swap(&carrier.shared, &shared)
    releaseOnMainActor(consume carrier)
  }

  // MARK: - For one thread at a time

  /// The instance that the given provider, which is synchronous, made without arguments; nil if there is none.
  @inline(__always)
  func find(_ provider: UInt) -> Instance? { unsafe shared.find(provider)?.element.instance }

  /// Adds such an instance. There is none yet: a factory that runs inside itself is a cycle.
  func insert(_ instance: Instance, of provider: Provider) {
    if provider.reach == .mainActor { unsafe belongsToMainActor = true }
    unsafe shared.insert(Element(key: provider.id, instance: instance), initialCapacity: 16)
  }

  // MARK: - For threads and tasks. Do not call these under a lock

  /// Returns the keeper of the given provider's instance for the given arguments.
  func keeper(of provider: Provider, _ arguments: ArgumentKey?) -> InstanceKeeper {
    // After the graph has ended, the caches are for this caller only.
    let own = Tree.change { _ in
      let present = caches[UInt64(provider.id)] ?? InstanceCaches()
      if !hasEnded { caches[UInt64(provider.id)] = present }
      return present
    }
    let (cache, _) = InstanceCache.find(for: provider, arguments, in: own, isOfGraph: true)
    return InstanceKeeper(provider: provider, cache: cache)
  }

  /// This graph; nil if it has ended.
  var unlessEnded: Graph? { Tree.change { _ in hasEnded ? nil : self } }

  /// Ends a graph of asynchronous factories, and releases its instances. A factory may start a task without waiting for
  /// it, and that task keeps this object alive.
  func end() {
    Tree.change { garbage in
      hasEnded = true
      caches.forEach { garbage.add($0) }
      caches = ObjectTable()
    }
  }
}

// MARK: - The graph of a thread

extension Resolution {
  /// The graph in which this thread makes something now. It is made when it is first needed.
  @inline(__always)
  var presentGraph: Graph {
    if let graph = unsafe graph { return graph }
    unsafe hasRemains = true
    let new = Graph()
    unsafe graph = new
    return new
  }

  /// Writes the graph's instance of the given provider to `memory`, if there is one and it is an object that needs no
  /// cast. `memory` must be memory for an optional of the provider's type.
  ///
  /// - Returns: Whether the instance was written.
  @inline(__always)
  func writeShared(_ provider: UInt, to memory: UnsafeMutableRawPointer) -> Bool {
    guard let found = unsafe graph?.find(provider), found.form.isComplete else { return false }
    unsafe found.form.write(found.object, to: memory)
    return true
  }

  /// The graph's instance of the given provider for the given arguments; nil if there is none.
  func shared(_ provider: Provider, _ arguments: ArgumentKey?) -> Instance? {
    guard let graph = unsafe graph else { return nil }
    return arguments == nil ? graph.find(provider.id) : graph.keeper(of: provider, arguments).present
  }

  /// Adds a new instance to the graph.
  func share(_ instance: Instance, of provider: Provider, with arguments: ArgumentKey?) {
    guard arguments != nil else { return presentGraph.insert(instance, of: provider) }
    let keeper = presentGraph.keeper(of: provider, arguments)
    Tree.change { garbage in keeper.cache?.keep(InstanceEntry(instance, provider, isWeak: false), &garbage) }
  }
}
