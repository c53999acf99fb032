/// The instances that a provider keeps: by itself, or in its caches.
extension Provider {
  /// What keeps the instance for the given arguments.
  final func keeper(for arguments: ArgumentKey?) -> InstanceKeeper {
    guard arguments != nil || sharing == .custom else { return InstanceKeeper(provider: self, cache: nil) }
    let (cache, isNew) = InstanceCache.find(for: self, arguments) { body in Tree.change { _ in body(&caches) } }
    if isNew { sweepCaches(sparing: cache) }
    return InstanceKeeper(provider: self, cache: cache)
  }

  /// Whether a cache or a user's storage keeps an instance for the given arguments. Do not call this under a lock,
  /// because it compares arguments and asks the storage, which is user code.
  final func keepsInstance(for arguments: [Any]) -> Bool {
    let key = arguments.isEmpty ? nil : ArgumentKey(arguments, belongsToMainActor: reach == .mainActor)
    if key == nil, !arguments.isEmpty { return false }
    let candidates = Tree.change { _ in hasCaches ? caches.find(key?.digest ?? 0) : [] }
    guard let cache = candidates.first(where: { $0.arguments == key }) else { return false }
    if let custom = cache.custom { return custom.load() != nil }
    return Tree.change { garbage in
      guard let kept = cache.kept, let instance = kept.instance else { return false }
      garbage.add(instance.object, of: kept)
      return true
    }
  }

  /// Discards caches that are not in use, if it is time for that. Users' storages are checked with no lock held.
  private final func sweepCaches(sparing new: InstanceCache) {
    let candidates = Tree.change { _ in caches.beginSweep() }
    if candidates.isEmpty { return }
    let empty = candidates.filter { $0 !== new && $0.custom?.load() == nil }
    Tree.change { garbage in caches.endSweep(empty, &garbage) }
  }

  /// Drops all instances that are kept or are being made. Call this under the tree lock.
  final func dropInstances(_ garbage: inout Garbage) {
    InstanceKeeper(provider: self, cache: nil).dropKept(&garbage)
    guard hasCaches else { return }
    let all = Array(caches.all)
    // Caches that keep nothing must not hold their arguments. A cache with a user's storage stays: until the storage
    // has been reset, it makes other threads wait.
    if sharing != .custom { caches.discardAll(&garbage) }
    for cache in all { InstanceKeeper(provider: self, cache: cache).dropKept(&garbage) }
  }

  /// The user's storages. Call this under the tree lock.
  final var storages: [any UDIStorage] { hasCaches ? caches.all.compactMap(\.custom?.storage) : [] }

  /// Calls `body` with each instance that is held strongly, except those in the user's storages. Call this under the
  /// tree lock.
  final func forEachOwned(_ body: (AnyObject) -> Void) {
    if let owned = shown?.owned { body(owned) }
    guard hasCaches else { return }
    for cache in caches.all { if let owned = cache.kept?.owned { body(owned) } }
  }
}
