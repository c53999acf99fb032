/// What a node knows about one key for which it, or anything below it, has an entry.
///
/// The slots of all nodes together are the index that answers lookups without a traversal. These invariants hold
/// between calls:
///
/// 1. A node has a slot for a key exactly if there is an entry for the key at the node or below it. Here and in what
///    follows, "below" ends at scopes: what is in a scope counts for the nodes up to the scope's own, and no further.
/// 2. `depth` is 0 if the node itself has an entry. Otherwise it is one more than the depth of the first of `children`,
///    and `best` is that child's `best`.
/// 3. An entry is released only after no slot refers to it.
/// 4. `children` are exactly the children of the node that have a slot for the key, at their present rank.
/// 5. `isSingle` is true exactly if only one node, this one or one below it, has an entry for the key; that entry is
///    `best`.
///
/// Breadth-first order takes the nearest level first, and within a level the branch that was added first. That is the
/// order of ranks, (depth, sequence), so the first child always leads to the answer.
struct Slot: CompactTableElement {
  let key: UInt64
  /// The entry that a lookup from here finds, dead or alive.
  var best: Unretained<Entry>
  var children: RankedChildren
  /// How many levels below the node `best` is.
  var depth: UInt32
  var isSingle: Bool

  static func hash(_ key: UInt64) -> UInt { scrambledID(key) }

  var state: SlotState { SlotState(best: best, depth: depth, isSingle: isSingle) }
}

/// What a parent needs to know about a slot to tell whether it has changed; or that there is no slot.
///
/// All of it counts: if only depths were compared, the slots above could keep a `best` that has been freed. It has two
/// words, so that a change, which consists of two states, is passed in registers.
struct SlotState: Equatable {
  /// The address of `best`; 0 if there is no slot.
  private let address: UInt
  // On 32-bit platforms, 31 bits are left for the depth: more levels than fit into memory.
  private let depthAndIsSingle: UInt

  static var absent: SlotState { SlotState(address: 0, depthAndIsSingle: 0) }

  init(best: Unretained<Entry>, depth: UInt32, isSingle: Bool) {
    address = best.address
    depthAndIsSingle = UInt(depth) << 1 | (isSingle ? 1 : 0)
  }

  private init(address: UInt, depthAndIsSingle: UInt) {
    self.address = address
    self.depthAndIsSingle = depthAndIsSingle
  }

  var isAbsent: Bool { address == 0 }
  /// As in the slot. Must not be used if there is no slot, and only under a lock that guards the slot: then the entry is
  /// alive.
  var best: Unretained<Entry> { unsafe Unretained(address: address) }
  var depth: UInt32 { UInt32(truncatingIfNeeded: depthAndIsSingle >> 1) }
  var isSingle: Bool { depthAndIsSingle & 1 == 1 }

  /// The rank of a child that has this slot and a sequence number; nil if there is no slot.
  func rank(_ sequence: UInt64) -> Rank? { isAbsent ? nil : Rank(depth: depth, sequence: sequence) }

  /// Whether both have the same `best`, or both have none.
  func hasSameBest(as other: SlotState) -> Bool { address == other.address }
}

/// How a slot has changed.
struct SlotChange {
  let before: SlotState
  let after: SlotState

  init(from before: SlotState, to after: SlotState) {
    self.before = before
    self.after = after
  }

  /// Whether anything changed.
  var isAny: Bool { before != after }
  /// Whether a lookup gives another answer than before.
  var isOfAnswer: Bool { !before.hasSameBest(as: after) }
}

/// A child's place among the children of a node that have a slot for one key: ordered by the depth of the child's slot,
/// then by the child's `sequence`. It fits into one word, because blocks of children are moved and compared at every
/// change.
///
/// The depth has 20 bits: children that lead to entries more than a million levels down count as equally far. The
/// sequence number has the other 44 bits, enough for the 17 million million children that one context can ever have.
struct Rank: Comparable {
  private let word: UInt64

  private static var sequenceBits: UInt64 { 44 }
  static var sequenceLimit: UInt64 { 1 << sequenceBits }

  init(depth: UInt32, sequence: UInt64) {
    word = min(UInt64(depth), UInt64.max >> Self.sequenceBits) << Self.sequenceBits | sequence
  }

  static func < (left: Rank, right: Rank) -> Bool { left.word < right.word }
}

/// A child that has a slot for one key.
struct RankedChild {
  let rank: Rank
  let node: Node
}

/// The children of a node that have a slot for one key, the nearest first.
///
/// Most slots have at most one child, which needs no memory of its own. The size is one word.
enum RankedChildren {
  case none
  case one(NodeWord)
  /// Two or more, in the order of their ranks.
  case few(ContiguousArray<RankedChild>)
  /// More than `RankedBlocks.limit`.
  case many(RankedBlocks)

  /// A node, as a pointer whose type is a class reference's: its unused bits tell the cases of the enum apart. It is
  /// never used as a class reference.
  @safe
  struct NodeWord {
    private final class Never {}
    private let word: Unmanaged<Never>
    init(_ node: Node) { unsafe word = .fromOpaque(node.address) }
    var node: Node { unsafe Node(address: word.toOpaque()) }
  }

  var isEmpty: Bool {
    if case .none = self { true } else { false }
  }

  var isOne: Bool {
    if case .one = self { true } else { false }
  }

  var first: Node? {
    switch self {
    case .none: nil
    case .one(let word): word.node
    case .few(let children): children[0].node
    case .many(let blocks): blocks.first
    }
  }

  /// Calls `body` for each child, the nearest first.
  func forEach(_ body: (Node) -> Void) {
    switch self {
    case .none: break
    case .one(let word): body(word.node)
    case .few(let children): for child in children { body(child.node) }
    case .many(let blocks): blocks.forEach(body)
    }
  }

  /// Adds a child.
  ///
  /// - Parameter rankOf: Returns the present rank of the other child, if there is exactly one.
  mutating func insert(_ child: Node, at rank: Rank, rankOf: (Node) -> Rank) {
    let new = RankedChild(rank: rank, node: child)
    switch self {
    case .none:
      self = .one(NodeWord(child))
    case .one(let word):
      let other = RankedChild(rank: rankOf(word.node), node: word.node)
      self = .few(other.rank < rank ? [other, new] : [new, other])
    case .few(var children):
      // Taken out of the enum, so that the array is changed in place.
      self = .none
      if children.count == RankedBlocks.limit {
        let blocks = RankedBlocks(children)
        blocks.insert(new)
        self = .many(blocks)
        return
      }
      // The capacity grows by half instead of doubling: there is one such array for each key at each context.
      if children.count == children.capacity { children.reserveCapacity(children.count + children.count / 2 + 1) }
      children.insert(new, at: children.partition { $0.rank < rank })
      self = .few(children)
    case .many(let blocks):
      blocks.insert(new)
    }
  }

  /// Takes out the child with a rank.
  mutating func remove(at rank: Rank) {
    switch self {
    case .none: break
    case .one: self = .none
    case .few(var children):
      self = .none
      let index = children.partition { $0.rank < rank }
      children.remove(at: index)
      self = RankedChildren(children)
    case .many(let blocks):
      blocks.remove(at: rank)
      if let children = blocks.few { self = RankedChildren(children) }
    }
  }

  /// Wraps one child or more, but not more than `RankedBlocks.limit`.
  private init(_ children: ContiguousArray<RankedChild>) {
    self = children.count == 1 ? .one(NodeWord(children[0].node)) : .few(children)
  }
}

/// Many children, in sorted blocks of at most 64.
///
/// The order is reversed, both in the list of blocks and in each block. When the object that answers goes, the nearest
/// child mostly goes too. It is the last one of the last block, so nothing has to be moved to take it out.
///
/// Complexity: O(log n) to find a place. Inserting or removing there moves part of one block and of the list of blocks.
final class RankedBlocks {
  static var limit: Int { 64 }

  /// No block is empty. Unchecked, because the tree lock excludes overlapping accesses.
  @exclusivity(unchecked) private var blocks: ContiguousArray<ContiguousArray<RankedChild>>

  /// - Parameter children: The children, the nearest first.
  init(_ children: ContiguousArray<RankedChild>) { unsafe blocks = [ContiguousArray(children.reversed())] }

  var first: Node? { unsafe blocks.last?.last?.node }

  /// The children, the nearest first, if there are few enough to do without blocks: at most half a block, so that the
  /// form does not change to and fro.
  var few: ContiguousArray<RankedChild>? {
    unsafe blocks.count == 1 && blocks[0].count <= Self.limit / 2 ? ContiguousArray(blocks[0].reversed()) : nil
  }

  func forEach(_ body: (Node) -> Void) {
    for block in unsafe blocks.reversed() { for child in block.reversed() { body(child.node) } }
  }

  func insert(_ child: RankedChild) {
    // The last block whose first rank is greater than the child's, or else the first block.
    let index = unsafe max(0, blocks.partition { $0[0].rank > child.rank } - 1)
    let offset = unsafe blocks[index].partition { $0.rank > child.rank }
    unsafe blocks[index].insert(child, at: offset)
    guard unsafe blocks[index].count > Self.limit else { return }
    // At the front of the list, split off only one child: children mostly arrive in order, so they fill the new block
    // and leave the other one full.
    let middle = index == 0 ? 1 : Self.limit / 2
    let upper = unsafe ContiguousArray(blocks[index][..<middle])
    unsafe blocks[index].removeFirst(middle)
    unsafe blocks.insert(upper, at: index)
  }

  func remove(at rank: Rank) {
    let index = unsafe blocks.partition { $0[0].rank >= rank } - 1
    guard index >= 0 else { return }
    let offset = unsafe blocks[index].partition { $0.rank > rank }
    unsafe blocks[index].remove(at: offset)
    merge(at: index)
  }

  /// Removes an empty block, or joins a block that has become small with its neighbour, so that there are few blocks.
  private func merge(at index: Int) {
    if unsafe blocks[index].isEmpty {
      unsafe blocks.remove(at: index)
    } else if index > 0, unsafe blocks[index].count + blocks[index - 1].count <= Self.limit / 2 {
      let joined = unsafe blocks.remove(at: index)
      unsafe blocks[index - 1] += joined
    }
  }
}

extension ContiguousArray {
  /// The number of elements at the front for which `belongsBefore` holds; the array must be ordered by it.
  fileprivate func partition(_ belongsBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongsBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
