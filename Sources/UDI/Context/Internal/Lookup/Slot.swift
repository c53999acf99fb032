/// A node's knowledge of one key. A node has a slot for a key if the node itself, or a node below it, has an entry for
/// the key.
///
/// The slots of all nodes together are the index, which answers lookups without a traversal. The following invariants
/// hold while no change is under way. Here, "below" stops at scopes: a scope's node and everything under it do not
/// count as below the nodes above the scope.
///
/// 1. A node has a slot for a key if and only if the node, or a node below it, has an entry for the key.
/// 2. If the node itself has an entry, `state.best` is this entry, and `state.depth` is 0. Otherwise `state.best` is
///    that of the first of `children`, and `state.depth` is one more than that child's.
/// 3. An entry is released only when no slot refers to it any longer.
/// 4. `children` are exactly those children of the node that have a slot for the key, in the order of their current
///    ranks.
/// 5. `state.isSingle` is true if and only if exactly one of this node and the nodes below has an entry for the key.
///    That entry is `state.best`.
///
/// For example, two contexts, two levels below the root, have a binding under the key 7:
///
/// ```
/// root     slot 7: found ─────────────┐  depth 2, children [a], not single
///   ├─ a   slot 7: found ─────────────┤  depth 1, children [a1, a2], not single
///   │  ├─ a1  slot 7: found ──────────┴─► Binding, depth 0, no children, single
///   │  └─ a2  slot 7: found ────────────► Binding, depth 0, no children, single
///   └─ b      no slot 7
/// ```
///
/// `Tests/TreeModel/Invariants.swift` checks the invariants.
///
/// A lookup downwards takes the nearest level first and, within a level, the branch that was added first. This is also
/// the order of ranks, which consist of depth and sequence number. Therefore, the first child always leads to the
/// answer.
struct Slot: CompactTableElement {
  let key: UInt64
  var children: RankedChildren
  var state: State

  /// The answer to a lookup downwards from the node, or `absent` if the node has no slot. If any part of it changes,
  /// the slots above are updated. It would not be enough to update them only when the depth changes: a slot above could
  /// then keep a `best` that has been freed.
  struct State: Equatable {
    /// The entry that a lookup downwards from here finds, dead or alive; nil if there is no slot.
    let found: Unretained<Entry>?
    /// How many levels below this node the entry is.
    let depth: UInt32
    /// Whether, of this node and the nodes below, only one has an entry for the key.
    let isSingle: Bool

    static var absent: State { State(found: nil, depth: 0, isSingle: false) }

    /// `found`, if there is a slot. Use this only under a lock that guards the slot, so that the entry exists for as
    /// long as the lock is held.
    @inline(__always)
    var best: Unretained<Entry> { unsafe found.unsafelyUnwrapped }

    /// The rank of a child whose slot has this state and whose sequence number is given; nil if the child has no slot.
    func rank(_ sequence: UInt64) -> Rank? { found == nil ? nil : Rank(depth: depth, sequence: sequence) }
  }

  static func hash(_ key: UInt64) -> UInt { scrambledID(key) }
}

/// How a slot has changed.
typealias SlotChange = (before: Slot.State, after: Slot.State)
