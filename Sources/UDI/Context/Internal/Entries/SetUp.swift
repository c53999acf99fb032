/// Which set-up blocks have to run before a lookup. This is kept in step with the slots for pending set-ups, so that
/// one load tells whether there are any.
struct PendingSetUps: OptionSet {
  let rawValue: UInt8
  /// The context's own blocks.
  static let own = PendingSetUps(rawValue: 1)
  /// Blocks of some context below, which run before a lookup that goes down.
  static let below = PendingSetUps(rawValue: 2)
}

/// A context's set-up blocks that have not run yet.
///
/// While there are any, this entry is in the index of the context's node and of the nodes above, under reserved keys
/// (`SetUp.Keys`). So the nearest pending set-up is found as fast as a dependency and in the same order, and it moves
/// with its context.
final class SetUp: Entry, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the tree lock.
  struct Block {
    let isOnMainActor: Bool
    let body: (UDIContext) -> Void
    /// Whether a watcher's lookup added it, see `ChangeKind`.
    var comesFromLook = false

    /// - Parameters:
    ///   - isolation: Where the block may run: anywhere, or on the main actor.
    ///   - body: The block, without its isolation.
    init(_ isolation: Isolation, _ body: @escaping (UDIContext) -> Void) {
      isOnMainActor = isolation.isMainActor
      guard let actor = isolation.actor else {
        self.body = body
        return
      }
      let owned = ActorOwned(body, by: actor)
      self.body = { owned.value($0) }
    }
  }

  private var blocks: [Block] = []
  /// How many of the blocks may run only on the main actor.
  private var mainActorCount = 0
  /// What other threads wait for while one of the blocks runs.
  private(set) var running: SharedCreation?
  /// Whether the running block may run only on the main actor.
  private var runsOnMainActor = false
  /// The keys under which this entry is in the index.
  fileprivate var keys = Keys()

  init(_ node: Node) {
    super.init(
      .setUp, without: .none, key: .of(Unretained(TypeIdentity.setUp), nil), isExact: false, .anywhere, CallSite("", 0))
    self.node = node
  }

  func add(_ block: Block) {
    blocks.append(block)
    if block.isOnMainActor { mainActorCount += 1 }
  }

  /// Takes out the first block that may run on this thread.
  func begin(isOnMainActor: Bool, _ resolution: Unretained<Resolution>) -> (Block, SharedCreation)? {
    guard let index = blocks.firstIndex(where: { isOnMainActor || !$0.isOnMainActor }) else { return nil }
    let block = blocks.remove(at: index)
    if block.isOnMainActor { mainActorCount -= 1 }
    let creation = SharedCreation(maker: resolution)
    running = creation
    runsOnMainActor = block.isOnMainActor
    return (block, creation)
  }

  /// - Returns: Whether all have run.
  func end(_ creation: SharedCreation) -> Bool {
    creation.end(.undecided)
    running = nil
    return blocks.isEmpty
  }
}

extension SetUp {
  /// Takes out the blocks that have not begun to run.
  fileprivate func removeBlocks() -> [Block] {
    defer { blocks = [] }
    mainActorCount = 0
    return blocks
  }
}

extension Node {
  /// Discards the blocks of this node's set-up that have not begun to run. Called under the tree lock.
  func discardBlocks(of setUp: SetUp, _ garbage: inout Garbage) {
    // The blocks are released with this object.
    final class Discarded {
      let blocks: [SetUp.Block]
      init(_ blocks: [SetUp.Block]) { self.blocks = blocks }
    }
    garbage.add(Discarded(setUp.removeBlocks()))
    updateIndex(of: setUp)
    guard setUp.running == nil else { return }
    treeLocked.extras?.setUp = nil
    garbage.add(setUp)
  }
}

// MARK: - In the index

extension TypeIdentity {
  /// The type of all pending set-ups. No lookup can name it; in the index, they are under the keys in `SetUp.Keys`
  /// instead.
  fileprivate static let setUp = TypeIdentity(ObjectIdentifier(SetUp.self), id: SetUp.Keys.ids.lowerBound)
}

extension SetUp {
  /// The keys under which pending set-ups are in the index. The ids of these keys are reserved: no type's key has one
  /// of them.
  struct Keys: OptionSet {
    let rawValue: UInt8
    /// Blocks that may run on any thread.
    static let anywhere = Keys(rawValue: 1)
    /// Blocks that may run only on the main actor.
    static let mainActor = Keys(rawValue: 2)
    /// A block is running: other threads wait for it, and the thread that runs it passes it by.
    static let running = Keys(rawValue: 4)

    /// The ids of all these keys. The ids of types are higher.
    static var ids: ClosedRange<UInt64> { 1...lastID }
    static var lastID: UInt64 { KeyIdentity.lastReservedID }

    func contains(_ id: UInt64) -> Bool { rawValue >> (id - 1) & 1 == 1 }
  }

  /// The keys under which this entry has to be in the index now.
  fileprivate var wantedKeys: Keys {
    var keys: Keys = []
    if mainActorCount > 0 { keys.insert(.mainActor) }
    if blocks.count > mainActorCount { keys.insert(.anywhere) }
    guard running != nil else { return keys }
    // Nobody waits while a block runs that may run only on the main actor: lookups on other threads do without such
    // blocks, and the main actor itself is busy with the block.
    return runsOnMainActor && !keys.contains(.anywhere) ? [] : .running
  }

  /// Whether a lookup has to run one of the blocks, or wait for one.
  func isPending(_ keys: Keys) -> Bool { !self.keys.isDisjoint(with: keys) }
}

extension Node {
  /// Adds a set-up block. Called under the tree lock.
  func addSetUp(_ block: SetUp.Block, _ garbage: inout Garbage) {
    if treeLocked.state.isEnding { return reportClosed("setUp", "a block", CallSite("", 0), &garbage) }
    let setUp = treeLocked.extras?.setUp ?? SetUp(self)
    var block = block
    block.comesFromLook = Tree.isLooking
    setUp.add(block)
    treeLocked.ensureExtras().setUp = setUp
    updateIndex(of: setUp)
    notifyWatchersOfSetUp()
  }

  /// Puts this node's set-up into the index under the keys that it needs now. Called under the tree lock.
  func updateIndex(of setUp: SetUp) {
    let (old, new) = (setUp.keys, setUp.wantedKeys)
    // The new keys are added before the old ones are removed, so that at every moment a lookup sees that a set-up is
    // pending.
    for id in SetUp.Keys.ids where new.contains(id) && !old.contains(id) { setEntry(setUp, forKey: id) }
    for id in SetUp.Keys.ids where old.contains(id) && !new.contains(id) { setEntry(nil, forKey: id) }
    setUp.keys = new
  }

  /// Makes `pendingSetUps` agree with the slots. Called under the tree lock.
  @inline(never)
  func updatePendingSetUps() {
    var pending: PendingSetUps = []
    for id in SetUp.Keys.ids {
      guard let slot = shared.slots.find(id) else { continue }
      if slot.element.state.depth == 0 { pending.insert(.own) }
      if !slot.element.children.isEmpty { pending.insert(.below) }
    }
    lock.withLock { shared.pendingSetUps = pending }
  }

  /// The number of slots for set-ups. Used under the tree lock.
  var setUpSlotCount: Int {
    @inline(never) get { SetUp.Keys.ids.count { shared.slots.find($0) != nil } }
  }
}

extension SetUp {
  /// In debug builds, counts for the tests what a lookup visits on its way to the next set-up.
  static func countStep() {
    #if DEBUG
      PerThread.prepare()
      PerThread.resolution.read { unsafe $0.setUpSteps += 1 }
    #endif
  }
}
