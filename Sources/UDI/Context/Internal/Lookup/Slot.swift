/// What a node knows about one key. A node has slots for the keys for which the node itself, or anything below it, has
/// an entry.
///
/// The slots of all nodes together are the index that answers lookups without a traversal. These invariants hold
/// between calls:
///
/// 1. A node has a slot for a key exactly if there is an entry for the key at the node or below it. Here and in what
///    follows, what is in a scope is "below" the nodes up to the scope's own, but not below the nodes above the scope.
/// 2. `state.depth` is 0 if the node itself has an entry. Otherwise it is one more than the depth of the first of
///    `children`, and `state.best` is that child's.
/// 3. An entry is released only after no slot refers to it.
/// 4. `children` are exactly the children of the node that have a slot for the key, at their present rank.
/// 5. `state.isSingle` is true exactly if only one node, this one or one below it, has an entry for the key; that entry
///    is `state.best`.
///
/// Breadth-first order takes the nearest level first, and within a level the branch that was added first. That is the
/// order of ranks, (depth, sequence), so the first child always leads to the answer.
struct Slot: CompactTableElement {
  let key: UInt64
  var children: RankedChildren
  var state: State

  /// The answer to a lookup from the node, or `absent` if the node has no slot. Whenever any part of this changes, the
  /// slots above are updated. It would not be enough to compare the depths: a slot above could keep a `best` that has
  /// been freed.
  struct State: Equatable {
    // Two words and no optionals, so that a change is passed in registers. Otherwise, the benchmark "bind a fresh key
    // at depth 4" would take 4 % longer.
    private let address: UInt
    private let depthAndIsSingle: UInt64

    static var absent: State { State(address: 0, depthAndIsSingle: 0) }

    private init(address: UInt, depthAndIsSingle: UInt64) {
      self.address = address
      self.depthAndIsSingle = depthAndIsSingle
    }

    init(best: Unretained<Entry>, depth: UInt32, isSingle: Bool) {
      self.init(address: best.address, depthAndIsSingle: UInt64(depth) | (isSingle ? 1 << 32 : 0))
    }

    var isAbsent: Bool { address == 0 }

    /// The entry that a lookup from here finds, dead or alive. Use this only if there is a slot, and only under a lock
    /// that guards the slot: as long as the lock is held, the entry exists.
    @inline(__always)
    var best: Unretained<Entry> { unsafe Unretained(address: address) }

    /// How many levels below the node `best` is.
    @inline(__always)
    var depth: UInt32 { UInt32(truncatingIfNeeded: depthAndIsSingle) }

    /// Whether only one node, this one or one below it, has an entry for the key.
    var isSingle: Bool { depthAndIsSingle >> 32 == 1 }

    /// Whether both have the same `best`, or both have none.
    func hasSameBest(as other: State) -> Bool { address == other.address }

    /// The rank of a child whose slot has this state, for the child's sequence number; nil if there is no slot.
    func rank(_ sequence: UInt64) -> Rank? { isAbsent ? nil : Rank(depth: depth, sequence: sequence) }
  }

  static func hash(_ key: UInt64) -> UInt { scrambledID(key) }
}

/// How a slot has changed.
typealias SlotChange = (before: Slot.State, after: Slot.State)
