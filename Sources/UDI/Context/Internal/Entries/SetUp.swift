/// Which set-up blocks have to run before a lookup. The set always agrees with the slots for pending set-ups, so that a
/// lookup can tell by a single load whether there are any.
///
/// The same load tells whether lookups from here are recorded, so recording costs a lookup nothing while it is off.
struct PendingSetUps: OptionSet {
  let rawValue: UInt8
  /// The context's own blocks. They run before every lookup that reaches the context.
  static let own = PendingSetUps(rawValue: 1)
  /// Blocks of contexts below. They run before lookups that go down.
  static let below = PendingSetUps(rawValue: 2)
  /// Not a block, but a mark: lookups that begin here are recorded (`Node.recordLookups`), and therefore do not take
  /// the fast path.
  static let recorded = PendingSetUps(rawValue: 4)

  /// Whether there are any blocks.
  var hasBlocks: Bool { !isDisjoint(with: [.own, .below]) }
}

/// A context's set-up blocks that have not run yet.
///
/// While there are any, this entry is in the index, under reserved keys (`SetUp.Keys`), for the context's node and the
/// nodes above. The nearest pending set-up is therefore found in the same way as the nearest dependency, and the entry
/// moves with its context.
final class SetUp: Entry, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the tree lock.
  struct Block {
    let isOnMainActor: Bool
    let body: (UDIContext) -> Void
    /// Whether a look (a lookup for a watcher) added the block; see `ChangeKind`.
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
  /// How many of `blocks` may run only on the main actor.
  private var mainActorCount = 0
  /// The creation that other threads wait for while one of the blocks runs.
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

  /// Notes that the running block has ended, and lets the threads that wait for it continue.
  ///
  /// - Returns: Whether all blocks have run.
  func end(_ creation: SharedCreation) -> Bool {
    creation.end(.undecided)
    running = nil
    return blocks.isEmpty
  }
}

extension SetUp {
  /// Removes and returns the blocks that have not begun to run.
  fileprivate func removeBlocks() -> [Block] {
    defer { blocks = [] }
    mainActorCount = 0
    return blocks
  }
}

extension Node {
  /// Discards those of this node's set-up blocks that have not begun to run. Called under the tree lock.
  func discardBlocks(of setUp: SetUp, _ garbage: inout Garbage) {
    garbage.add(ValueBox(setUp.removeBlocks()))
    updateIndex(of: setUp)
    guard setUp.running == nil else { return }
    treeLocked.extras?.setUp = nil
    garbage.add(setUp)
  }
}

// MARK: - In the index

extension TypeIdentity {
  /// The type of all pending set-ups. Lookups cannot name it. The index has pending set-ups under the keys in
  /// `SetUp.Keys` instead.
  fileprivate static let setUp = TypeIdentity(ObjectIdentifier(SetUp.self), id: SetUp.Keys.ids.lowerBound)
}

extension SetUp {
  /// The keys under which pending set-ups are in the index. The ids of these keys are reserved, so no type's key has
  /// one of them.
  struct Keys: OptionSet {
    let rawValue: UInt8
    /// There are blocks that may run on any thread.
    static let anywhere = Keys(rawValue: 1)
    /// There are blocks that may run only on the main actor.
    static let mainActor = Keys(rawValue: 2)
    /// A block is running. Other threads wait for it; the thread that runs it does not.
    static let running = Keys(rawValue: 4)

    /// The ids of all these keys. The ids of types are higher.
    static var ids: ClosedRange<UInt64> { 1...lastID }
    static var lastID: UInt64 { KeyIdentity.lastReservedID }

    func contains(_ id: UInt64) -> Bool { rawValue >> (id - 1) & 1 == 1 }
  }

  /// The keys under which this entry should be in the index now.
  fileprivate var wantedKeys: Keys {
    var keys: Keys = []
    if mainActorCount > 0 { keys.insert(.mainActor) }
    if blocks.count > mainActorCount { keys.insert(.anywhere) }
    guard running != nil else { return keys }
    // If the running block and all remaining ones may run only on the main actor, no thread waits for them: lookups on
    // other threads do without such blocks, and the main actor itself is busy with the running one.
    return runsOnMainActor && !keys.contains(.anywhere) ? [] : .running
  }

  /// Whether a lookup that looks for these keys has to run one of the blocks, or to wait for one.
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

  /// Updates the keys under which this node's set-up is in the index. Called under the tree lock.
  func updateIndex(of setUp: SetUp) {
    let (old, new) = (setUp.keys, setUp.wantedKeys)
    // The new keys are added before the old ones are removed, so that at every moment lookups see that a set-up is
    // pending.
    for id in SetUp.Keys.ids where new.contains(id) && !old.contains(id) { setEntry(setUp, forKey: id) }
    for id in SetUp.Keys.ids where old.contains(id) && !new.contains(id) { setEntry(nil, forKey: id) }
    setUp.keys = new
  }

  /// Updates `pendingSetUps` from the slots. Called under the tree lock.
  @inline(never)
  func updatePendingSetUps() {
    var pending = shared.pendingSetUps.intersection(.recorded)
    for id in SetUp.Keys.ids {
      guard let slot = shared.slots.find(id) else { continue }
      if slot.element.state.depth == 0 { pending.insert(.own) }
      if !slot.element.children.isEmpty { pending.insert(.below) }
    }
    lock.withLock { shared.pendingSetUps = pending }
  }

  /// The number of slots for pending set-ups. Call this under the tree lock.
  var setUpSlotCount: Int {
    @inline(never) get { SetUp.Keys.ids.count { shared.slots.find($0) != nil } }
  }
}

extension SetUp {
  /// For tests, counts the nodes that a lookup visits in search of the next set-up. Does nothing in release builds.
  static func countStep() {
    #if DEBUG
      PerThread.prepare()
      PerThread.resolution.read { unsafe $0.setUpSteps += 1 }
    #endif
  }
}
