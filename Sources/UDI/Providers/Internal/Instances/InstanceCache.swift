/// Keeps an instance for one set of arguments, or in a user's storage; or for a graph of asynchronous factories.
final class InstanceCache: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  let arguments: ArgumentKey?
  let custom: CustomStorage?
  /// Whether the cache belongs to a graph, and not to a provider.
  let isOfGraph: Bool
  /// The entry for the instance that is kept; nil if a user's storage keeps it.
  private(set) var kept: InstanceEntry?
  /// The creation of the instance that will be kept, while it is under way.
  var creation: Creation?
  /// The preparation: the task that obtains the parameters of an initialiser for the instance, while it does so.
  var preparation: Creation?
  /// Another cache for arguments with the same hash. Only `InstanceCaches` uses it.
  fileprivate var next: InstanceCache?
  /// Whether the cache has been discarded: it is out of use, and nothing is kept in it any more.
  fileprivate(set) var isDiscarded = false

  /// Do not call this under a lock, because it calls user code, which makes the storage.
  private init(_ provider: Provider, _ arguments: ArgumentKey?, isOfGraph: Bool) {
    (self.arguments, self.isOfGraph) = (arguments, isOfGraph)
    custom = provider.lifetime.kind.makeStorage.map { CustomStorage($0()) }
  }

  /// Finds the cache for the given arguments, or adds one. Do not call this under a lock.
  ///
  /// - Parameter caches: The caches among which to look.
  static func find(
    for provider: Provider, _ arguments: ArgumentKey?, in caches: InstanceCaches, isOfGraph: Bool = false
  ) -> (cache: InstanceCache, isNew: Bool) {
    // Two steps must not happen under the lock: comparing arguments, which calls the user's `==`, and making a cache,
    // which makes the user's storage.
    var new: InstanceCache?
    while true {
      let present = Tree.change { _ in caches.find(arguments) }
      // The oldest is compared first, because `==` may itself perform a lookup with the arguments that it compares
      // with.
      if let found = present.last(where: { $0.arguments == arguments }) { return (found, false) }
      let added = new ?? InstanceCache(provider, arguments, isOfGraph: isOfGraph)
      new = added
      // In the meantime, another thread might have added a cache for the same arguments.
      let isCurrent = Tree.change { _ in
        let isCurrent = caches.find(arguments).elementsEqual(present, by: ===)
        if isCurrent { caches.add(added) }
        return isCurrent
      }
      if isCurrent { return (added, true) }
    }
  }

  // MARK: - Under the tree lock

  /// Keeps an instance, or none, and forgets the previous one. (`Provider.show` and `Provider.forget` do so for a
  /// provider that keeps an instance by itself.)
  func keep(_ entry: InstanceEntry?, _ garbage: inout Garbage) {
    if let kept { garbage.add(kept) }
    kept = entry
  }

  /// Whether no instance that will be kept is being made, and none is being stored.
  var isAtRest: Bool { creation == nil && preparation == nil && custom?.storing == nil }

  /// Whether an instance is being made or stored, or is kept in `kept`. Does not look into a user's storage.
  func isInUse(_ garbage: inout Garbage) -> Bool {
    !isAtRest || garbage.held(kept?.instance?.object, kept?.reach ?? .anywhere) != nil
  }
}

/// The caches of one provider, or those that a graph has for one.
final class InstanceCaches: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// The first cache for each hash of arguments.
  private var caches = ObjectTable<InstanceCache>()
  /// How many caches there are. Many different arguments can have the same hash, so this is not the number of hashes.
  private var count = 0
  /// As soon as a provider has this many caches, adding another one starts a sweep, which discards empty caches. A
  /// graph's caches are not swept.
  private var nextSweep = 32

  // A long chain of caches is not released recursively.
  deinit { for cache in all { cache.next = nil } }

  private func number(_ arguments: ArgumentKey?) -> UInt64 { UInt64(bitPattern: Int64(arguments?.digest ?? 0)) }

  /// The first of the caches for arguments with the same hash.
  func first(_ arguments: ArgumentKey?) -> InstanceCache? { caches[number(arguments)] }

  /// All caches for arguments with the same hash.
  func find(_ arguments: ArgumentKey?) -> [InstanceCache] {
    first(arguments).map { Array(sequence(first: $0, next: \.next)) } ?? []
  }

  func add(_ cache: InstanceCache) {
    cache.next = first(cache.arguments)
    caches[number(cache.arguments)] = cache
    count += 1
  }

  /// If there are many caches, discards those that keep no instance and are making none. Do not call this under a lock,
  /// because it asks users' storages.
  ///
  /// - Parameter new: A cache that is about to be used, and is not discarded.
  func sweep(sparing new: InstanceCache) {
    let atRest = Tree.change { _ -> [InstanceCache] in
      guard count > nextSweep else { return [] }
      let atRest = all.filter(\.isAtRest)
      // No other sweep begins before this one has ended.
      if !atRest.isEmpty { nextSweep = .max }
      for cache in atRest { cache.custom?.isIdle = true }
      return atRest
    }
    if atRest.isEmpty { return }
    let empty = atRest.filter { $0 !== new && $0.custom?.load() == nil }
    Tree.change { garbage in
      for cache in empty where !cache.isInUse(&garbage) && cache.custom?.isIdle != false { discard(cache, &garbage) }
      nextSweep = max(32, count * 2)
    }
  }

  /// Discards a cache: nothing finds it any more, and whatever is about to use it looks for another one.
  func discard(_ cache: InstanceCache, _ garbage: inout Garbage) {
    if cache.isDiscarded { return }
    // The chain is read first, because discarding a cache takes it out of the chain.
    let same = find(cache.arguments)
    (cache.isDiscarded, cache.next) = (true, nil)
    caches[number(cache.arguments)] = nil
    count -= same.count
    for other in same where other !== cache { add(other) }
    garbage.add(cache)
  }

  var all: [InstanceCache] { caches.values.flatMap { sequence(first: $0, next: \.next) } }

  var isEmpty: Bool { caches.isEmpty }
}

// MARK: - The caches of a provider

extension Provider {
  /// Whether a cache or a user's storage keeps an instance for the given arguments. Do not call this under a lock,
  /// because it compares arguments and asks the storage, which is user code.
  final func keepsInstance(for arguments: [Any]) -> Bool {
    let values = arguments.compactMap(ArgumentKey.comparable)
    guard values.count == arguments.count else { return false }
    let key = values.isEmpty ? nil : ArgumentKey(values, belongsToMainActor: reach == .mainActor)
    let cache = Tree.change { _ in caches?.find(key) ?? [] }.first { $0.arguments == key }
    return cache.map { InstanceKeeper(provider: self, cache: $0).present != nil } ?? false
  }

  /// The user's storages. Call this under the tree lock.
  package final var storages: [any UDIStorage] { caches?.all.compactMap(\.custom?.storage) ?? [] }

  /// The instances that are held strongly, except those in the user's storages. Call this under the tree lock.
  package final var allOwned: [AnyObject] { sharing == .weak ? [] : allKept.map(\.object) }
}
