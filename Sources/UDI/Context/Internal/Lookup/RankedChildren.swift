/// The children of a node that have a slot for one key, the nearest first.
///
/// Most slots have at most one child, and then need no memory besides this enum. The enum takes one word: the cases are
/// distinguished by bits that a node's pointer leaves unused.
enum RankedChildren {
  case none
  case one(Node)
  /// Two or more children.
  case several(RankedBlocks)

  var isEmpty: Bool { first == nil }

  var isOne: Bool { if case .one = self { true } else { false } }

  var first: Node? {
    switch self {
    case .none: nil
    case .one(let child): child
    case .several(let blocks): blocks.first
    }
  }

  /// Calls `body` for each child, the nearest first.
  func forEach(_ body: (Node) -> Void) {
    switch self {
    case .none: break
    case .one(let child): body(child)
    case .several(let blocks): blocks.forEach(body)
    }
  }

  /// Adds a child.
  ///
  /// - Parameter rankOf: Returns a child's current rank. Called only if there is exactly one other child.
  mutating func insert(_ child: Node, at rank: Rank, rankOf: (Node) -> Rank) {
    switch self {
    case .none: self = .one(child)
    case .one(let other):
      var blocks = RankedBlocks((rankOf(other), other))
      blocks.insert((rank, child))
      self = .several(blocks)
    case .several(var blocks):
      // The blocks are taken out of the enum first, so that they are changed in place and not copied.
      self = .none
      blocks.insert((rank, child))
      self = .several(blocks)
    }
  }

  /// Removes the child that has the given rank.
  mutating func remove(at rank: Rank) {
    switch self {
    case .none: break
    case .one: self = .none
    case .several(var blocks):
      self = .none
      blocks.remove(at: rank)
      self = blocks.only.map { .one($0) } ?? .several(blocks)
    }
  }
}

/// Children in sorted blocks of at most 64. There is at least one child.
///
/// The order is reversed, both in the list of blocks and in each block, so that the nearest child comes last. Usually
/// this is the child that is removed next: lookups find the object that it leads to, and when that object is released,
/// the child often leads to no other. Removing the last child moves no others.
///
/// Complexity: O(log n) to find a position. Inserting or removing a child there moves part of one block, and sometimes
/// part of the list of blocks.
struct RankedBlocks {
  private static var limit: Int { 64 }

  /// No block is empty.
  private var blocks: ContiguousArray<ContiguousArray<RankedChild>>

  init(_ child: RankedChild) { blocks = [[child]] }

  var first: Node? { blocks.last?.last?.node }

  /// The child, if there is only one.
  var only: Node? { blocks.count == 1 && blocks[0].count == 1 ? blocks[0][0].node : nil }

  func forEach(_ body: (Node) -> Void) {
    for block in blocks.reversed() { for child in block.reversed() { body(child.node) } }
  }

  mutating func insert(_ child: RankedChild) {
    // The child belongs in the last block whose first child has a greater rank. If there is no such block, it belongs
    // in the first one.
    let index = max(0, blocks.partition { $0[0].rank > child.rank } - 1)
    let offset = blocks[index].partition { $0.rank > child.rank }
    blocks[index].insert(child, at: offset)
    guard blocks[index].count > Self.limit else { return }
    // If the first block is full, only one child is split off. Children mostly arrive in order, so the next ones fill
    // the new block, while the old one stays full.
    let middle = index == 0 ? 1 : Self.limit / 2
    let upper = ContiguousArray(blocks[index][..<middle])
    blocks[index].removeFirst(middle)
    blocks.insert(upper, at: index)
  }

  mutating func remove(at rank: Rank) {
    let index = blocks.partition { $0[0].rank >= rank } - 1
    guard index >= 0 else { return }
    let offset = blocks[index].partition { $0.rank > rank }
    blocks[index].remove(at: offset)
    // The number of blocks is kept low.
    if blocks[index].isEmpty {
      blocks.remove(at: index)
    } else if index > 0, blocks[index].count + blocks[index - 1].count <= Self.limit / 2 {
      let joined = blocks.remove(at: index)
      blocks[index - 1] += joined
    }
  }
}

extension ContiguousArray {
  /// The number of elements for which `belongsBefore` is true. All of these must be at the front of the array.
  fileprivate func partition(_ belongsBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongsBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// A child that has a slot for one key.
typealias RankedChild = (rank: Rank, node: Node)

/// The rank of a child among those children of a node that have a slot for one key. Ranks are ordered by the depth of
/// the child's slot, then by the child's `sequence`. A rank takes one word, because every change compares and moves
/// ranks.
///
/// The depth has 20 bits, so children that lead to entries more than a million levels down count as equally far. The
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
