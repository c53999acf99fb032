/// Which set-up blocks have to run before a lookup: kept true to the slots for pending set-ups, so that one load tells whether
/// there are any.
struct PendingSetUps: OptionSet {
  let rawValue: UInt8
  /// The context's own.
  static let own = PendingSetUps(rawValue: 1)
  /// Some context's below: before a lookup that goes down.
  static let below = PendingSetUps(rawValue: 2)
}

/// A context's set-up blocks that have not run yet.
///
/// While there are any, this is in the index of the context's node and of all above it like an entry under a key of its own, so
/// that the nearest pending set-up is found as fast as a dependency, in the same order, and moves with its context.
final class SetUp: Entry, @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.
  struct Block {
    let isOnMainActor: Bool
    let body: (UDIContext) -> Void
    /// Whether a look for a watcher added it, see `ChangeKind`.
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
  /// How many of them may run on the main actor alone.
  private var mainActorCount = 0
  /// While one of them runs: what other threads wait for.
  private(set) var running: SharedCreation?
  /// Whether that one may run on the main actor alone.
  private var runsOnMainActor = false
  /// The keys that it is in the index under.
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

  /// Takes out the first block that may run here.
  func begin(isOnMainActor: Bool, _ resolution: Resolution) -> (Block, SharedCreation)? {
    guard let index = blocks.firstIndex(where: { isOnMainActor || !$0.isOnMainActor }) else { return nil }
    let block = blocks.remove(at: index)
    if block.isOnMainActor { mainActorCount -= 1 }
    let creation = SharedCreation(nil, maker: resolution)
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

// MARK: - In the index

extension TypeIdentity {
  /// Of pending set-ups, which nobody can name: what they are in the index under is `SetUp.Keys`.
  fileprivate static let setUp = TypeIdentity(id: SetUp.Keys.ids.lowerBound, metatype: ObjectIdentifier(SetUp.self))
}

extension SetUp {
  /// The keys that pending set-ups are in the index under. No type's key has their ids.
  struct Keys: OptionSet {
    let rawValue: UInt8
    /// Blocks that may run on any thread.
    static let anywhere = Keys(rawValue: 1)
    /// Blocks that may run on the main actor alone.
    static let mainActor = Keys(rawValue: 2)
    /// A block runs that other threads wait for; the thread that runs it passes it by.
    static let running = Keys(rawValue: 4)

    /// The ids of all. Those of types are higher.
    static var ids: ClosedRange<UInt64> { 1...lastID }
    static var lastID: UInt64 { KeyIdentity.lastReservedID }

    func contains(_ id: UInt64) -> Bool { rawValue >> (id - 1) & 1 == 1 }
  }

  /// The keys that it has to be under now.
  fileprivate var wantedKeys: Keys {
    var keys: Keys = []
    if mainActorCount > 0 { keys.insert(.mainActor) }
    if blocks.count > mainActorCount { keys.insert(.anywhere) }
    guard running != nil else { return keys }
    // Nobody waits elsewhere for a block of the main actor alone, and on the main actor there is nobody else.
    return runsOnMainActor && !keys.contains(.anywhere) ? [] : .running
  }

  /// Whether a lookup has to run one of the blocks, or to wait for one.
  func isPending(_ keys: Keys) -> Bool { !self.keys.isDisjoint(with: keys) }
}

extension Node {
  /// Adds a set-up block. Under the tree lock.
  func addSetUp(_ block: SetUp.Block) {
    let setUp = self.setUp ?? SetUp(self)
    var block = block
    block.comesFromLook = Tree.isLooking
    setUp.add(block)
    self.setUp = setUp
    updateIndex(of: setUp)
    notifyWatchersOfSetUp()
  }

  /// Puts this node's set-up into the index where it belongs now. Under the tree lock.
  func updateIndex(of setUp: SetUp) {
    let (old, new) = (setUp.keys, setUp.wantedKeys)
    // Put in before it is taken out, so that a lookup sees at every moment that there is something.
    for id in SetUp.Keys.ids where new.contains(id) && !old.contains(id) { setEntry(setUp, forKey: id) }
    for id in SetUp.Keys.ids where old.contains(id) && !new.contains(id) { setEntry(nil, forKey: id) }
    setUp.keys = new
  }

  /// Makes `pendingSetUps` say what the slots do. Under the tree lock.
  @inline(never)
  func updatePendingSetUps() {
    var pending: PendingSetUps = []
    for id in SetUp.Keys.ids {
      guard let slot = slots.find(id) else { continue }
      if slot.element.depth == 0 { pending.insert(.own) }
      if !slot.element.children.isEmpty { pending.insert(.below) }
    }
    lock.withLock { pendingSetUps = pending }
  }

  /// How many slots there are for set-ups. Under the tree lock.
  var setUpSlotCount: Int {
    @inline(never) get { SetUp.Keys.ids.count { slots.find($0) != nil } }
  }
}

extension SetUp {
  /// Counts, in debug builds, what a lookup looks at on its way to the next set-up, for tests.
  static func countStep() {
    #if DEBUG
      PerThread.prepare()
      PerThread.resolution.read { unsafe $0.setUpSteps += 1 }
    #endif
  }
}
