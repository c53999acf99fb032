/// A context's place in the tree, and what lookups read. Its context owns it.
///
/// It is a class of its own because a context must never be retained, and so perhaps be released for the last time, under
/// a lock: nodes own nothing that belongs to the user, and their `deinit` takes no lock.
///
/// The comment in `Tree.swift` says which lock guards what.
final class Node: @unchecked Sendable {
  // Unchecked: every stored property is constant or guarded by the locks named at its mark.

  let tag: String
  let lock = Lock()

  // MARK: Written under the tree lock and `lock`; read under either

  /// The parent, which is alive for as long as this refers to it: a node that goes clears it first.
  var parent: Unretained<Node>? {
    @inline(__always) get { unsafe uncheckedParent }
    set { unsafe uncheckedParent = newValue }
  }

  /// For each key that is bound here or anywhere below, what a lookup from here finds.
  var slots: CompactTable<Slot> {
    @inline(__always) _read { yield unsafe uncheckedSlots }
    @inline(__always) _modify { yield unsafe &uncheckedSlots }
  }

  // MARK: Under `lock`

  /// The search of lookups that name none.
  private(set) var search: UDISearch {
    @inline(__always) get { unsafe uncheckedSearch }
    set { unsafe uncheckedSearch = newValue }
  }

  // Unchecked: the locks exclude overlapping accesses already, and the run-time check would be a quarter of a lookup.
  @exclusivity(unchecked) private var uncheckedParent: Unretained<Node>?
  @exclusivity(unchecked) private var uncheckedSlots = CompactTable<Slot>()
  @exclusivity(unchecked) private var uncheckedSearch: UDISearch

  // MARK: Under the tree lock

  /// The bindings of the context. `slots` points at its entries.
  var bindings = WeakValueDictionary<KeyIdentity, AnyObject>()
  /// The serial number of the next binding, which orders what is bound here.
  var nextSerial: UInt32 = 0

  /// This node's place among its parent's children: it rises from each to the next.
  var sequence: UInt64 = 0
  var previousSibling: Unretained<Node>?
  var nextSibling: Unretained<Node>?

  var firstChild: Unretained<Node>?
  var lastChild: Unretained<Node>?
  var nextChildSequence: UInt64 = 0
  var childrenByTag = CompactTable<TaggedNode>()

  /// The node's context while it has a parent: this is how a parent holds its children.
  var heldContext: UDIContext?
  /// The node's context while it has children and no parent. Not set before it is needed: a weak reference costs memory and makes
  /// every later retain of the object slower.
  weak var rootContext: UDIContext?

  init(tag: String, search: UDISearch) {
    self.tag = tag
    unsafe uncheckedSearch = search
  }

  /// The search of lookups that name none. Not under `lock`.
  var defaultSearch: UDISearch {
    get { lock.withLock { search } }
    set { lock.withLock { search = newValue } }
  }

  /// The node's context, or nil if that is going away. Under the tree lock; for nodes that have a parent or children.
  var context: UDIContext? { heldContext ?? rootContext }
}

/// An entry in the table of a parent's children by tag.
struct TaggedNode: CompactTableElement {
  let node: Unretained<Node>
  var key: String { node.object.tag }
  static func hash(_ key: String) -> UInt { scrambled(UInt(bitPattern: key.hashValue)) }
}
