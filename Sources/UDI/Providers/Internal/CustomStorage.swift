import Synchronization

/// A storage of the user's, and what a cache has to know about it.
///
/// Its methods are the user's, so they are called with no lock held, and other threads may reset the cache before, during and after
/// each call.
final class CustomStorage: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock or atomic.
  let storage: any UDIStorage
  /// Marks what is stored from now on. Each cache has a number of its own, and gets a new one with each reset: so what was stored before
  /// the reset, or for other arguments, is recognised and given to nobody. Written under the tree lock.
  private let generation = Atomic<UInt>(CustomStorage.nextGeneration)
  /// Set while an instance is being stored. If a reset comes meanwhile, those who want a newer instance wait for this. Under the tree lock.
  private(set) var storing: SharedCreation?
  /// The resets that have begun and have not yet emptied the storage. Nothing is made meanwhile: one of them could drop it from the
  /// storage. Under the tree lock.
  private(set) var resets: [SharedCreation] = []
  /// Set when a sweep begins, and cleared when somebody asks for an instance. If it is still set when the sweep has found the storage
  /// empty, the cache can go. Under the tree lock.
  var isIdle = false

  private static let generations = Atomic<UInt>(0)
  private static var nextGeneration: UInt { generations.add(1, ordering: .relaxed).newValue }

  init(_ storage: any UDIStorage) { self.storage = storage }

  /// Notes that a reset has begun: what was stored before is given to nobody any more. Under the tree lock.
  fileprivate func beginReset() -> SharedCreation {
    generation.store(Self.nextGeneration, ordering: .releasing)
    let reset = SharedCreation(nil, maker: PerThread.resolution.object)
    resets.append(reset)
    return reset
  }

  /// Lets those go on who wait to make a newer one. Under the tree lock.
  fileprivate func endReset(_ reset: SharedCreation, _ garbage: inout Garbage) {
    resets.removeAll { $0 === reset }
    reset.end(.undecided)
    garbage.add(reset)
  }

  /// What the storage keeps, if it was stored for this cache, and since it was last reset.
  fileprivate func load() -> Instance? {
    guard let kept = storage.load(), kept.generation == generation.load(ordering: .acquiring) else { return nil }
    return kept.instance
  }

  /// Notes that an instance is being stored. Under the tree lock.
  ///
  /// - Returns: What to mark it with.
  fileprivate func beginStoring(_ creation: SharedCreation) -> UInt {
    storing = SharedCreation(creation.provider, maker: creation.maker)
    return generation.load(ordering: .relaxed)
  }

  /// Lets those go on who wait to make a newer one. Under the tree lock.
  fileprivate func endStoring(_ garbage: inout Garbage) {
    guard let ended = storing else { return }
    storing = nil
    ended.end(.undecided)
    garbage.add(ended)
  }
}

/// A storage that is to be reset as soon as the tree lock has been given back.
struct DroppedStorage {
  private let custom: CustomStorage
  private let creation: SharedCreation

  /// Under the tree lock.
  init(_ custom: CustomStorage) {
    self.custom = custom
    creation = custom.beginReset()
  }

  /// Not under a lock: calls the user's storage.
  func reset() {
    custom.storage.reset()
    Tree.change { garbage in custom.endReset(creation, &garbage) }
  }
}

extension InstanceCache {
  /// What a storage of the user's keeps.
  func load() -> Instance? { custom?.load() }

  /// Has the user's storage keep what was made. If the cache was reset meanwhile the instance is not kept: only those who were already
  /// waiting for it get it.
  func store(_ instance: Instance, _ creation: SharedCreation) {
    guard let custom else { return }
    let generation = Tree.change { _ in isCurrent(creation) ? custom.beginStoring(creation) : nil }
    guard let generation else { return }
    custom.storage.store(UDIMade(instance: instance, creation.provider?.reach ?? .anywhere, generation: generation))
    let wasReset = Tree.change { garbage in
      if isCurrent(creation) { custom.endStoring(&garbage) }
      return !isCurrent(creation)
    }
    guard wasReset else { return }
    // The reset may have reached the storage before this instance did, so the storage is reset once more. Until then nobody makes a newer
    // instance: they wait for `storing`.
    custom.storage.reset()
    Tree.change { garbage in custom.endStoring(&garbage) }
  }
}
