import Synchronization

/// A storage of the user's, and what a holder has to know of it.
///
/// Its methods are the user's, so they are called with no lock held, and other threads may reset the holder before, during and after
/// each call.
final class CustomStorage: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock or atomic.
  let storage: any UDIStorage
  /// What is stored now is marked with this number. Each holder has another one, and a new one after each reset, so that what was
  /// made before, or for other arguments, is told from what is to be given. Written under the tree lock.
  private let generation = Atomic<UInt>(CustomStorage.nextGeneration)
  /// What those wait for who want an instance after a reset, while one from before it is being stored. Under the tree lock.
  private(set) var storing: Creation?
  /// Whether nobody has come to make an instance since this was last set. Under the tree lock.
  var isIdle = false

  private static let generations = Atomic<UInt>(0)
  private static var nextGeneration: UInt { generations.add(1, ordering: .relaxed).newValue }

  init(_ storage: any UDIStorage) { self.storage = storage }

  /// What was stored before is given to nobody any more. Under the tree lock.
  func beginGeneration() { generation.store(Self.nextGeneration, ordering: .releasing) }

  /// What the storage keeps, if it was stored for this holder, and since it was last reset.
  fileprivate func load() -> Made? {
    guard let kept = storage.load(), kept.generation == generation.load(ordering: .acquiring) else { return nil }
    return kept.made
  }

  /// Notes that an instance is being stored. Under the tree lock.
  ///
  /// - Returns: What to mark it with.
  fileprivate func beginStoring(_ creation: Creation) -> UInt {
    storing = Creation(creation.provider, maker: creation.maker)
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

extension Holder {
  /// What a storage of the user's keeps.
  func load() -> Made? { custom?.load() }

  /// Has a storage of the user's keep what was made, unless the holder was reset meanwhile: then it goes to those who wait for it alone.
  func store(_ made: Made, _ creation: Creation) {
    guard let custom else { return }
    let generation = Tree.change { _ in isCurrent(creation) ? custom.beginStoring(creation) : nil }
    guard let generation else { return }
    custom.storage.store(UDIMade(made: made, creation.provider?.reach ?? .anywhere, generation: generation))
    let wasReset = Tree.change { garbage in
      if isCurrent(creation) { custom.endStoring(&garbage) }
      return !isCurrent(creation)
    }
    guard wasReset else { return }
    // Whoever reset it may have come before it was stored. Those who want a newer one wait until it is out again.
    custom.storage.reset()
    Tree.change { garbage in custom.endStoring(&garbage) }
  }
}
