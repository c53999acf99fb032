/// A context's place in the tree, and what lookups read: a handle to memory that the context owns.
///
/// Not an object: counting references to nodes would be most of the work of a lookup, and a context must never be retained,
/// and so perhaps be released for the last time, under a lock. The memory is valid as long as somebody may refer to it: its
/// context frees it only after everything that refers to it was cleared under the locks that guard it (see `Tree.swift`). So a
/// node that is read under a lock that guards it is there until that lock is given back. That is the rule for every use, and
/// why the type is marked safe: the compiler cannot check it.
@safe
struct Node: Equatable, @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the locks named at its mark.

  private let storage: UnsafeMutablePointer<Storage>

  private struct Storage: ~Copyable {
    // What lookups read comes first, in one cache line.
    let lock = Lock()
    var parent: Node?
    var slots = CompactTable<Slot>()
    var sequence: UInt64 = 0
    var search: UDISearch
    var nextSerial: UInt32 = 0
    let tag: String
    var bindings = WeakValueDictionary<KeyIdentity, AnyObject>()
    var previousSibling: Node?
    var nextSibling: Node?
    var firstChild: Node?
    var lastChild: Node?
    var nextChildSequence: UInt64 = 0
    var childrenByTag = CompactTable<TaggedNode>()
    var heldContext: UDIContext?
    weak var rootContext: UDIContext?
    var remembersContext = false

    init(tag: String, search: UDISearch) {
      self.tag = tag
      self.search = search
    }
  }

  /// Allocates a node; whoever does must `free` it.
  init(tag: String, search: UDISearch) {
    unsafe storage = allocateMemory(
      byteCount: MemoryLayout<Storage>.size, alignment: MemoryLayout<Storage>.alignment
    ).bindMemory(to: Storage.self, capacity: 1)
    unsafe storage.initialize(to: Storage(tag: tag, search: search))
  }

  /// Frees the memory. Not under a lock: it may hold the last reference to something.
  func free() {
    unsafe storage.deinitialize(count: 1)
    unsafe freeMemory(storage)
  }

  /// The address of the memory, which tells nodes apart.
  var address: UnsafeRawPointer { unsafe UnsafeRawPointer(storage) }

  /// Remakes a node from its `address`.
  init(address: UnsafeRawPointer) {
    unsafe storage = UnsafeMutablePointer(mutating: address.assumingMemoryBound(to: Storage.self))
  }

  static func == (left: Node, right: Node) -> Bool { unsafe left.storage == right.storage }
}

// MARK: - Constant

extension Node {
  var tag: String { unsafe storage.pointee.tag }

  @inline(__always)
  var lock: Lock {
    _read { yield unsafe storage.pointee.lock }
  }
}

// MARK: - Written under the tree lock and the node's; read under either

extension Node {
  /// The parent; a context that goes clears this in its children first.
  @inline(__always)
  var parent: Node? {
    _read { yield unsafe storage.pointee.parent }
    nonmutating _modify { yield unsafe &storage.pointee.parent }
  }

  /// For each key that is bound here or anywhere below, what a lookup from here finds.
  @inline(__always)
  var slots: CompactTable<Slot> {
    _read { yield unsafe storage.pointee.slots }
    nonmutating _modify { yield unsafe &storage.pointee.slots }
  }
}

// MARK: - Under the node's lock

extension Node {
  /// The search of lookups that name none.
  @inline(__always)
  var search: UDISearch { unsafe storage.pointee.search }

  /// The same, for those who do not hold the lock.
  var defaultSearch: UDISearch {
    get { lock.withLock { search } }
    nonmutating set { lock.withLock { unsafe storage.pointee.search = newValue } }
  }
}

// MARK: - Under the tree lock

extension Node {
  /// The bindings of the context. `slots` points at its entries.
  var bindings: WeakValueDictionary<KeyIdentity, AnyObject> {
    _read { yield unsafe storage.pointee.bindings }
    nonmutating _modify { yield unsafe &storage.pointee.bindings }
  }

  /// The serial number of the next binding, which orders what is bound here.
  var nextSerial: UInt32 {
    _read { yield unsafe storage.pointee.nextSerial }
    nonmutating _modify { yield unsafe &storage.pointee.nextSerial }
  }

  /// This node's place among its parent's children: it rises from each to the next.
  var sequence: UInt64 {
    _read { yield unsafe storage.pointee.sequence }
    nonmutating _modify { yield unsafe &storage.pointee.sequence }
  }

  /// The child of the same parent that was added before.
  var previousSibling: Node? {
    _read { yield unsafe storage.pointee.previousSibling }
    nonmutating _modify { yield unsafe &storage.pointee.previousSibling }
  }

  /// The child of the same parent that was added next.
  var nextSibling: Node? {
    _read { yield unsafe storage.pointee.nextSibling }
    nonmutating _modify { yield unsafe &storage.pointee.nextSibling }
  }

  /// The child that was added first.
  var firstChild: Node? {
    _read { yield unsafe storage.pointee.firstChild }
    nonmutating _modify { yield unsafe &storage.pointee.firstChild }
  }

  /// The child that was added last.
  var lastChild: Node? {
    _read { yield unsafe storage.pointee.lastChild }
    nonmutating _modify { yield unsafe &storage.pointee.lastChild }
  }

  /// The sequence number of the next child.
  var nextChildSequence: UInt64 {
    _read { yield unsafe storage.pointee.nextChildSequence }
    nonmutating _modify { yield unsafe &storage.pointee.nextChildSequence }
  }

  /// The children, to be found by their tags.
  var childrenByTag: CompactTable<TaggedNode> {
    _read { yield unsafe storage.pointee.childrenByTag }
    nonmutating _modify { yield unsafe &storage.pointee.childrenByTag }
  }

  /// The node's context while it has a parent: this is how a parent holds its children.
  var heldContext: UDIContext? {
    _read { yield unsafe storage.pointee.heldContext }
    nonmutating _modify { yield unsafe &storage.pointee.heldContext }
  }

  /// The node's context, weakly, for one that has no parent to hold it. Not set before there are children: a weak reference costs
  /// memory, and makes every later retain of the object slower.
  var rootContext: UDIContext? {
    get { unsafe storage.pointee.rootContext }
    nonmutating set { unsafe storage.pointee.rootContext = newValue }
  }

  /// Whether `rootContext` was set.
  var remembersContext: Bool {
    get { unsafe storage.pointee.remembersContext }
    nonmutating set { unsafe storage.pointee.remembersContext = newValue }
  }

  /// The node's context, or nil if that is going away; for nodes that have a parent or children.
  var context: UDIContext? { heldContext ?? rootContext }
}

/// An entry in the table of a parent's children by tag.
struct TaggedNode: CompactTableElement {
  let node: Node
  var key: String { node.tag }
  static func hash(_ key: String) -> UInt { scrambled(UInt(bitPattern: key.hashValue)) }
}
