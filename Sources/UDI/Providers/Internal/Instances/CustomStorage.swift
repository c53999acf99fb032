import Synchronization

/// A user's storage, and the state that a cache needs to use it.
///
/// The storage's methods are user code, so they are called with no lock held. Other threads can therefore reset the
/// cache before, during and after each call.
final class CustomStorage: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock or are atomic.
  let storage: any UDIStorage
  /// The number that is stored with each instance. Each cache has its own number, and gets a new one at each reset.
  /// This is how `load` recognises an instance that must not be returned, because it was stored before the reset, for
  /// other arguments, or by another provider. Written under the tree lock.
  fileprivate let generation = Atomic<UInt>(CustomStorage.nextGeneration)
  /// Set while an instance is being stored. If the cache is reset in the meantime, threads that want a newer instance
  /// wait until this creation has ended. Guarded by the tree lock.
  fileprivate(set) var storing: Creation?
  /// Set when a sweep of the caches begins, and cleared by a lookup that does not find its instance in the storage. The
  /// sweep discards the cache if it has found the storage empty and this flag is still set. Guarded by the tree lock.
  var isIdle = false

  private static let generations = Atomic<UInt>(0)
  private static var nextGeneration: UInt { generations.add(1, ordering: .relaxed).newValue }

  init(_ storage: any UDIStorage) { self.storage = storage }

  /// Begins a reset. From now on, no caller gets an instance that was stored before. Call this under the tree lock.
  ///
  /// - Returns: A call that empties the storage. An instance that is stored before this call is dropped by it: the
  ///   reset takes effect after that.
  func reset() -> LateCall {
    generation.store(Self.nextGeneration, ordering: .releasing)
    return LateCall { [storage] in storage.reset() }
  }

  /// Returns the instance in the storage, if it was stored for this cache and since the last reset. Do not call this
  /// under a lock.
  func load() -> Instance? {
    storage.load().flatMap { $0.generation == generation.load(ordering: .acquiring) ? $0.instance : nil }
  }
}

extension InstanceKeeper {
  /// Stores an instance in the user's storage. If the cache has been reset in the meantime, the storage does not keep
  /// the instance: only the caller that made it and those that were already waiting for it get it.
  func store(_ instance: Instance, in custom: CustomStorage, _ creation: Creation) {
    let storing = Creation(on: Resolution.current)
    let generation = Tree.change { _ -> UInt? in
      guard creation === self.creation else { return nil }
      storing.begin(self)
      custom.storing = storing
      return custom.generation.load(ordering: .relaxed)
    }
    guard let generation else { return }
    custom.storage.store(UDIMade(owned: OwnedInstance(instance, provider.reach), generation: generation))
    // A reset might have emptied the storage before this instance was stored, so the storage is reset once more. Until
    // then, no newer instance is made, because whoever wants one waits for `storing`.
    if Tree.change({ _ in creation !== self.creation }) { custom.storage.reset() }
    Tree.change { _ in
      custom.storing = nil
      storing.end(.success(nil))
    }
  }
}
