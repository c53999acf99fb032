/// Keeps a provider's instance for one set of arguments, or in a user's storage.
final class InstanceCache: InstanceKeeper, @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// Unowned: the provider holds its caches, and all code that uses a cache holds the provider.
  private let owner: Unretained<Provider>
  let arguments: ArgumentKey?
  let custom: CustomStorage?
  private(set) var kept: InstanceEntry?
  var creation: SharedCreation?
  var asyncCreation: AsyncCreation?
  private(set) var isDiscarded = false

  /// Do not call this under a lock, because it calls user code, which makes the storage.
  init(_ provider: Provider, _ arguments: ArgumentKey?) {
    owner = Unretained(provider)
    self.arguments = arguments
    custom = provider.lifetime.makeStorage.map { CustomStorage($0()) }
  }

  var provider: Provider { owner.object }
  var digest: Int { arguments?.digest ?? 0 }

  func keep(_ entry: InstanceEntry, _ garbage: inout Garbage) {
    forgetKept(&garbage)
    kept = entry
  }

  func forgetKept(_ garbage: inout Garbage) {
    if let kept { garbage.add(kept) }
    kept = nil
  }

  func mayMake(in node: Node) -> Bool { !node.treeLocked.state.isEnding }

  /// Takes the cache out of use. Call this under the tree lock.
  func discard() { isDiscarded = true }

  func discardIfUnused(_ garbage: inout Garbage) {
    // A user's storage may be asked whether it is empty only while no lock is held, so its cache stays until a sweep.
    guard custom == nil, !isDiscarded, !isInUse(&garbage) else { return }
    provider.caches.discard(self, &garbage)
  }

  /// Whether no instance is being made or stored. Call this under the tree lock.
  var isAtRest: Bool { creation == nil && asyncCreation == nil && custom?.storing == nil }

  /// Whether an instance is being made or stored, or is kept in `kept`. Does not look into a user's storage. Call this
  /// under the tree lock.
  func isInUse(_ garbage: inout Garbage) -> Bool {
    if !isAtRest { return true }
    guard let kept, let instance = kept.instance else { return false }
    garbage.add(instance.object, of: kept)
    return true
  }
}

/// The caches of one provider. Guarded by the tree lock.
struct InstanceCaches {
  /// The caches, by the hashes of their arguments.
  private var caches: [Int: [InstanceCache]] = [:]
  /// How many caches there are. Many different arguments can have the same hash, so this is not the number of hashes.
  private var count = 0
  /// As soon as there are this many caches, adding another one starts a sweep, which discards empty caches.
  private var nextSweep = 32

  func find(_ digest: Int) -> [InstanceCache] { caches[digest] ?? [] }

  mutating func add(_ cache: InstanceCache, _ garbage: inout Garbage) {
    if count >= nextSweep, cache.custom == nil { sweep(&garbage) }
    caches[cache.digest, default: []].append(cache)
    count += 1
  }

  /// Discards the caches that keep no instance and are making none.
  private mutating func sweep(_ garbage: inout Garbage) {
    for (digest, candidates) in caches {
      var used: [InstanceCache] = []
      for cache in candidates {
        if cache.isInUse(&garbage) { used.append(cache) } else { cache.discard() }
        garbage.add(cache)
      }
      caches[digest] = used.isEmpty ? nil : used
      count -= candidates.count - used.count
    }
    planSweep()
  }

  private mutating func planSweep() { nextSweep = max(32, count * 2) }

  /// Begins a sweep of caches with users' storages. The sweep discards the caches whose storages are empty.
  ///
  /// - Returns: The caches whose storages the caller has to check, with no lock held, before it calls `endSweep`. Empty
  ///   if it is not time for a sweep yet.
  mutating func beginSweep() -> [InstanceCache] {
    guard count >= nextSweep else { return [] }
    let atRest = caches.values.joined().filter(\.isAtRest)
    guard !atRest.isEmpty else { return [] }
    // No other sweep begins before this one has ended.
    nextSweep = .max
    for cache in atRest { cache.custom?.isIdle = true }
    return atRest
  }

  /// Discards the given caches, whose storages were empty, except those that have been used since.
  mutating func endSweep(_ empty: [InstanceCache], _ garbage: inout Garbage) {
    for cache in empty where cache.isAtRest && cache.custom?.isIdle == true { discard(cache, &garbage) }
    planSweep()
  }

  /// Discards a cache. A thread that is about to use it then looks for another one.
  mutating func discard(_ cache: InstanceCache, _ garbage: inout Garbage) {
    cache.discard()
    let others = caches[cache.digest]?.filter { $0 !== cache } ?? []
    caches[cache.digest] = others.isEmpty ? nil : others
    count -= 1
    garbage.add(cache)
  }

  /// Discards all caches.
  mutating func discardAll(_ garbage: inout Garbage) {
    for cache in all {
      cache.discard()
      garbage.add(cache)
    }
    caches = [:]
    count = 0
    planSweep()
  }

  var all: some Sequence<InstanceCache> { caches.values.joined() }
  var isEmpty: Bool { caches.isEmpty }
}
