/// What a provider has made and keeps, for one set of arguments.
final class InstanceCache: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.

  /// Not held: the provider holds its caches, and whoever uses a cache holds the provider.
  private let provider: Unretained<Provider>
  let arguments: ArgumentKey?
  /// The user's storage, if the lifetime has one.
  let custom: CustomStorage?
  private(set) var entry: InstanceEntry?
  private var creation: SharedCreation?
  /// Whether the provider has discarded this cache because it held nothing.
  private var isDetached = false

  /// Not under a lock: this makes the user's storage.
  init(_ provider: Provider, _ arguments: ArgumentKey?) {
    self.provider = Unretained(provider)
    self.arguments = arguments
    custom = provider.lifetime.makeStorage.map { CustomStorage($0()) }
  }

  enum Claim {
    case found(Instance)
    case wait(Gate, SharedCreation)
    /// The caller has to make an instance for this context, and then to call `keep` or `end`.
    case make(UDIContext, SharedCreation)
    /// The cache is no longer in use: the caller has to get another one.
    case again
    case gone
  }

  /// Finds what is kept or being made; otherwise leaves it to the caller to make an instance.
  ///
  /// - Throws: `ProviderFailure.cycle` if waiting would never end.
  func claim(_ context: UDIContext, _ resolution: Resolution) throws -> Claim {
    let provider = provider.object
    return try Tree.change { garbage in
      guard let node = provider.node else { return .gone }
      if isDetached { return .again }
      custom?.isIdle = false
      // If a context was provided with an instance, and so did not make it, only the provider knows of it. If another
      // one were made, an entry would be dropped that slots still point at.
      if let entry = entry ?? (arguments == nil ? provider.shown : nil) {
        if let instance = entry.instance { return .found(instance) }
        self.entry = nil
        provider.forget(entry, &garbage)
        garbage.add(entry)
      }
      // After a reset, an older instance may still be on its way into the storage. It has to be out again before a
      // newer one is made.
      if let creation = creation ?? custom?.storing {
        return .wait(try creation.prepareToWait(resolution), creation)
      }
      // Nor is one made before the storage has been reset. But a storage may link while it is reset: if waiting would
      // never end, this thread does not wait.
      for reset in custom?.resets ?? [] {
        if let gate = try? reset.prepareToWait(resolution) { return .wait(gate, reset) }
      }
      guard let owner = context.withNode({ $0 == node }) ? context : node.context else { return .gone }
      let new = SharedCreation(provider, maker: resolution)
      creation = new
      return .make(owner, new)
    }
  }

  /// Keeps what the caller has made, and passes it to the threads that wait for it.
  func keep(_ instance: Instance, _ creation: SharedCreation) {
    let provider = provider.object
    let isWeak = provider.sharing == .weak
    if isWeak, instance.isBox { provider.reportWeakValue(instance) }
    store(instance, creation)
    Tree.change { garbage in
      let isCurrent = isCurrent(creation)
      end(creation, .made(instance), &garbage)
      guard let node = provider.node, isCurrent else { return }
      if !instance.isBox { BindingAudit.note(instance.object, provider, node, &garbage) }
      guard custom == nil, !(isWeak && instance.isBox) else { return }
      let new = InstanceEntry(instance, provider, isWeak: isWeak, origin: nil)
      if let entry { garbage.add(entry) }
      entry = new
      if arguments == nil { provider.show(new) }
    }
  }

  /// Whether a creation is still the current one; a reset discards it. Under the tree lock.
  func isCurrent(_ creation: SharedCreation) -> Bool { self.creation === creation }

  /// Ends a creation without keeping anything.
  func end(_ creation: SharedCreation, _ outcome: SharedCreation.Outcome) {
    Tree.change { garbage in end(creation, outcome, &garbage) }
  }

  private func end(_ creation: SharedCreation, _ outcome: SharedCreation.Outcome, _ garbage: inout Garbage) {
    if self.creation === creation { self.creation = nil }
    creation.end(outcome)
    garbage.add(creation)
  }

  /// Drops what is kept and what is being made. The latter still goes to the threads that are waiting for it, but
  /// whoever asks from now on gets a newer one. Under the tree lock.
  ///
  /// - Returns: The user's storage, to be reset once the lock has been given back.
  func drop(_ garbage: inout Garbage) -> DroppedStorage? {
    if let creation { garbage.add(creation) }
    creation = nil
    if let entry { garbage.add(entry) }
    entry = nil
    return custom.map { DroppedStorage($0) }
  }

  /// Takes the cache out of use. Under the tree lock.
  func detach() { isDetached = true }

  /// Whether nothing is being made or stored. Under the tree lock.
  var isAtRest: Bool { creation == nil && custom?.storing == nil }

  /// Whether something is kept or being made, as far as that is known without asking a user's storage. Under the tree
  /// lock.
  func isInUse(_ garbage: inout Garbage) -> Bool {
    if !isAtRest { return true }
    guard let entry else { return false }
    guard let instance = entry.instance else { return false }
    Schedule.reached(.loadedToLook)
    garbage.add(instance.object, of: entry)
    return true
  }
}

/// The caches of one provider for its sets of arguments. Under the tree lock.
struct InstanceCachesByArguments {
  private var caches: [Int: [InstanceCache]] = [:]
  /// The number of sets of arguments at which empty caches are swept out next.
  private var nextSweep = 32

  func find(_ digest: Int) -> [InstanceCache] { caches[digest] ?? [] }

  mutating func add(_ cache: InstanceCache, _ arguments: ArgumentKey, _ garbage: inout Garbage) {
    if caches.count >= nextSweep, cache.custom == nil { sweep(&garbage) }
    caches[arguments.digest, default: []].append(cache)
  }

  /// Discards caches that hold nothing any more.
  private mutating func sweep(_ garbage: inout Garbage) {
    for (digest, candidates) in caches {
      var used: [InstanceCache] = []
      for cache in candidates {
        if cache.isInUse(&garbage) { used.append(cache) } else { cache.detach() }
        garbage.add(cache)
      }
      caches[digest] = used.isEmpty ? nil : used
    }
    planSweep()
  }

  private mutating func planSweep() { nextSweep = max(32, caches.count * 2) }

  /// Begins to sweep out caches whose storages, which are the user's, no longer keep anything.
  ///
  /// - Returns: The caches to ask, with no lock held, before `endSweep` is called; none if it is not time for a sweep
  ///   yet.
  mutating func beginSweep() -> [InstanceCache] {
    guard caches.count >= nextSweep else { return [] }
    let atRest = caches.values.joined().filter(\.isAtRest)
    guard !atRest.isEmpty else { return [] }
    // No other sweep begins before this one has ended.
    nextSweep = .max
    for cache in atRest { cache.custom?.isIdle = true }
    return atRest
  }

  /// Discards caches whose storages were empty, except those that somebody has used since.
  mutating func endSweep(_ empty: [InstanceCache], _ garbage: inout Garbage) {
    for cache in empty where cache.isAtRest && cache.custom?.isIdle == true {
      guard let digest = cache.arguments?.digest else { continue }
      cache.detach()
      let others = caches[digest]?.filter { $0 !== cache } ?? []
      caches[digest] = others.isEmpty ? nil : others
      garbage.add(cache)
    }
    planSweep()
  }

  var all: some Sequence<InstanceCache> { caches.values.joined() }
}

extension Provider {
  /// The cache for a set of arguments; made if there is none.
  final func cache(for arguments: ArgumentKey?) -> InstanceCache {
    // Neither happens under the lock: arguments are compared by the user's `==`, and a new cache makes the user's
    // storage.
    var compared: [InstanceCache] = []
    var new: InstanceCache?
    while true {
      let candidates = Tree.change { garbage -> [InstanceCache]? in
        let present = presentCaches(arguments?.digest)
        guard let new, present.allSatisfy({ one in compared.contains { $0 === one } }) else { return present }
        if let arguments { changeCachesByArguments { $0.add(new, arguments, &garbage) } } else { cache = new }
        return nil
      }
      guard let candidates else {
        let added = unsafe new.unsafelyUnwrapped
        if added.custom != nil, arguments != nil { sweepStorages(sparing: added) }
        return added
      }
      if let found = candidates.first(where: { $0.arguments == arguments }) { return found }
      compared = candidates
      if new == nil { new = InstanceCache(self, arguments) }
    }
  }

  /// Discards caches whose storages no longer keep anything. The storages are asked with no lock held.
  private final func sweepStorages(sparing new: InstanceCache) {
    let candidates = Tree.change { _ in changeCachesByArguments { $0.beginSweep() } }
    if candidates.isEmpty { return }
    let empty = candidates.filter { $0 !== new && $0.load() == nil }
    Tree.change { garbage in changeCachesByArguments { $0.endSweep(empty, &garbage) } }
  }

  private final func presentCaches(_ digest: Int?) -> [InstanceCache] {
    if let digest { return cachesByArguments?.find(digest) ?? [] }
    return cache.map { [$0] } ?? []
  }

  private final var allCaches: [InstanceCache] { presentCaches(nil) + (cachesByArguments.map { Array($0.all) } ?? []) }

  /// Drops everything that is kept. Under the tree lock.
  ///
  /// - Returns: The user's storages, to be reset once the lock has been given back.
  final func dropCaches(_ garbage: inout Garbage) -> [DroppedStorage] {
    // The caches themselves stay: another thread may be about to use one.
    var storages: [DroppedStorage] = []
    if let storage = cache?.drop(&garbage) { storages.append(storage) }
    for cache in cachesByArguments.map({ Array($0.all) }) ?? [] {
      if let storage = cache.drop(&garbage) { storages.append(storage) }
    }
    return storages
  }

  /// The user's storages. Under the tree lock.
  final var storages: [any UDIStorage] { allCaches.compactMap(\.custom?.storage) }

  /// Calls `body` with each instance that is kept strongly, except for those in the user's storages. Under the tree
  /// lock.
  final func forEachOwned(_ body: (AnyObject) -> Void) {
    for cache in allCaches { if let owned = cache.entry?.owned { body(owned) } }
  }
}
