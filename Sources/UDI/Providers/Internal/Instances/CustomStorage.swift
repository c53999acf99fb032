import Synchronization

/// A user's storage, and what a cache has to know about it.
///
/// The storage's methods are user code. They are called with no lock held, so other threads may reset the cache before,
/// during and after each call.
final class CustomStorage: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock or atomic.
  let storage: any UDIStorage
  /// The number that marks what is stored from now on. Each cache has a number of its own, and gets a new one at each
  /// reset. So `load` recognises what was stored before the reset, or for other arguments, and does not return it.
  /// Written under the tree lock.
  private let generation = Atomic<UInt>(CustomStorage.nextGeneration)
  /// Set while an instance is being stored. If the cache is reset in the meantime, threads that want a newer instance
  /// wait until this creation has ended. Under the tree lock.
  private(set) var storing: SharedCreation?
  /// The resets that have begun but have not emptied the storage yet. No instance is made in the meantime, because one
  /// of the resets could remove it from the storage again. Under the tree lock.
  private(set) var resets: [SharedCreation] = []
  /// Set when a sweep begins, and cleared when somebody asks for an instance. If it is still set when the sweep has
  /// found the storage empty, the cache can be discarded. Under the tree lock.
  var isIdle = false
  /// The place of what was stored last in the order in which the instances that have to be closed were made. Under the
  /// tree lock.
  private(set) var sequence: UInt64 = 0

  private static let generations = Atomic<UInt>(0)
  private static var nextGeneration: UInt { generations.add(1, ordering: .relaxed).newValue }

  init(_ storage: any UDIStorage) { self.storage = storage }

  /// The number that marks what is stored now.
  fileprivate var present: UInt { generation.load(ordering: .relaxed) }

  /// Notes that a reset has begun: from now on, nobody gets what was stored before. Under the tree lock.
  fileprivate func beginReset() -> SharedCreation {
    generation.store(Self.nextGeneration, ordering: .releasing)
    let reset = SharedCreation(maker: PerThread.resolution)
    resets.append(reset)
    return reset
  }

  /// Wakes the threads that wait to make a newer instance. Under the tree lock.
  fileprivate func endReset(_ reset: SharedCreation, _ garbage: inout Garbage) {
    resets.removeAll { $0 === reset }
    reset.end(.undecided)
    garbage.add(reset)
  }

  /// Whether the storage keeps something that was stored in a given generation. Do not call this under a lock.
  fileprivate func holds(_ generation: UInt) -> Bool { storage.load()?.generation == generation }

  /// What the storage keeps, if it was stored for this cache and since the last reset.
  func load() -> Instance? {
    guard let kept = storage.load(), kept.generation == generation.load(ordering: .acquiring) else { return nil }
    return kept.instance
  }

  /// Notes that an instance is being stored. Under the tree lock.
  ///
  /// - Returns: The generation to mark it with.
  fileprivate func beginStoring(_ creation: SharedCreation) -> UInt {
    storing = SharedCreation(creation.provider, maker: creation.maker)
    sequence = Tree.nextUnclosed()
    return generation.load(ordering: .relaxed)
  }

  /// Wakes the threads that wait to make a newer instance. Under the tree lock.
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
  /// What to report if the storage still keeps an instance that nobody has closed, and the instance's generation.
  private let unclosed: (report: () -> LateReport, generation: UInt)?

  /// Under the tree lock.
  init(_ custom: CustomStorage, of provider: Provider) {
    self.custom = custom
    let generation = custom.present
    unclosed =
      provider.closer.map { $0.isClosing } == false ? ({ provider.unclosedReport(count: 1) }, generation) : nil
    creation = custom.beginReset()
  }

  /// Resets the storage. Do not call this under a lock, because it runs user code.
  func reset() {
    // The report is made at once.
    if let unclosed, custom.holds(unclosed.generation) { _ = unclosed.report() }
    custom.storage.reset()
    Tree.change { garbage in custom.endReset(creation, &garbage) }
  }
}

extension InstanceKeeper {
  /// Makes the user's storage keep what was made. If the cache has been reset in the meantime, the instance is not
  /// kept: only threads that were already waiting for it get it.
  func store(_ instance: Instance, in custom: CustomStorage, _ creation: SharedCreation) {
    let generation = Tree.change { _ in isCurrent(creation) ? custom.beginStoring(creation) : nil }
    guard let generation else { return }
    custom.storage.store(UDIMade(instance: instance, provider.reach, generation: generation))
    let wasReset = Tree.change { garbage in
      if isCurrent(creation) { custom.endStoring(&garbage) }
      return !isCurrent(creation)
    }
    guard wasReset else { return }
    // The reset might have reached the storage before this instance did, so the storage is reset once more. Until then
    // nobody makes a newer instance: other threads wait for `storing`.
    custom.storage.reset()
    Tree.change { garbage in custom.endStoring(&garbage) }
  }
}
