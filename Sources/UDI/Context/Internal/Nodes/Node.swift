/// A context's place in the tree, including everything that lookups read. A node is a handle to memory that its context
/// owns.
///
/// ```
/// UDIContext ── node ──► ┌─────────────────────────────────────────────┐
///   ▲                    │ lock                                        │
///   │                    │ shared      parent, slots, search           │  read by lookups
///   │                    │ treeLocked  state, bindings, providers,     │  read by changes
///   │                    │             firstChild … lastChild,         │
///   │                    │             siblings, extras                │
///   └────────────────────┼──────────── heldContext, while it has a     │
///                        │             parent                          │
///                        │ tag                                         │
///                        └─────────────────────────────────────────────┘
/// ```
///
/// A node is not an object, because counting references to it would be most of the work of a lookup. Nor can contexts
/// themselves serve as nodes: a lookup would have to retain and release a context under a lock, and that release could
/// be the last one.
///
/// A node's memory is valid as long as any code can refer to the node. The context frees the memory only after every
/// reference to the node has been cleared, under the lock that guards the reference (see `Tree.swift`). A thread that
/// holds the lock that guards a reference to a node can therefore use the node until it releases the lock. All code
/// follows this rule, which the compiler cannot check, so the type is marked safe.
@safe
package struct Node: Hashable, CustomReflectable, @unchecked Sendable {
  // Unchecked: the comments of `Shared` and `TreeLocked` name the locks that guard the mutable state.

  /// The node's parts, one after another, starting with those that lookups read. They are separate structs because
  /// different locks guard them, and because the thread sanitizer treats a change of one field as an access to the
  /// whole struct.
  // The address has the type of a reference, although no object is there. Such a type leaves some bits unused, in which
  // an enum that contains a node, such as `RankedChildren`, stores its case.
  private let memory: Unmanaged<AnyObject>

  /// The part that lookups read. Write it under both the tree lock and the node's lock, unless no other code can reach
  /// the node (see `Tree.swift`). Read it under either lock.
  struct Shared: ~Copyable {
    /// The node where lookups go on upwards: the parent; nil if there is none. A context that has been closed has no
    /// parent any more; for it, this is the nearest context that was above and is not closed. Before a context goes
    /// away, this is set to nil in all nodes whose lookups go on at that context.
    var parent: Node?
    /// For each key that has an entry here or below, what a lookup downwards from here finds.
    var slots = CompactTable<Slot>()
    /// The direction of lookups that do not name one.
    var search: UDISearch
    /// Whether `attempt` leaves lookups that begin here to `locate`: because they are recorded, or because the context
    /// is closed or being closed, and keys that it had are not looked up above.
    var needsTreeLock = false
  }

  /// The part that changes to the tree need, but `attempt` does not. Each access names `treeLocked`, which means:
  /// guarded by the tree lock.
  struct TreeLocked: ~Copyable {
    // The properties are in the order in which changes need them, so that most changes touch few cache lines.

    /// This node's place among its parent's children. A child that was added later has a higher number.
    var sequence: UInt64 = 0
    /// The serial number of the next entry. Serial numbers give the order of registration in this context.
    var nextSerial: UInt32 = 0
    /// How many factories are running whose lookups from this context are recorded: see `Creation.noteFactory`.
    var makings: UInt32 = 0
    /// Whether `rootContext` has been set.
    var remembersContext = false
    /// Whether anything can be added to the context, and whether it is being closed or is closed.
    var state = NodeState.open
    /// Whether the order of closing might matter in the context, because it has had a provider with a closer or with an
    /// asynchronous factory.
    var hasClosers = false
    /// Whether the context is a scope, so that lookups from above see nothing in it. Set before the node gets a parent.
    var isScope = false
    /// Whether the node has lost its parent. Also true for a scope that was begun too late, which never had one. If
    /// true, `shared.parent` is nil, unless the context is closed or is being closed.
    var hasLostParent = false
    /// Whether a set-up block of the context is running.
    var isBeingSetUp = false
    /// Whether the context was made in a look. Nothing in it is news, so no need begins there.
    var comesFromLook = false
    /// Whether there are watchers here, to be notified when answers change.
    var isWatched = false
    /// The bindings of the context, by their keys.
    ///
    /// The dictionary does not retain its keys. A binding keeps its key alive, and a caller keeps alive the key that it
    /// looks for. Use a key from the dictionary only while the tree lock is held.
    var bindings = WeakValueDictionary<Unretained<KeyIdentity>, AnyObject>()
    /// The providers of the context, by the ids of their keys.
    var providers = CompactTable<Source>()
    /// The child that was added first.
    var firstChild: Node?
    /// The child that was added last.
    var lastChild: Node?
    /// The sequence number of the next child.
    var nextChildSequence: UInt64 = 0
    /// The children by their tags; empty until there are more than `fewChildren`.
    var childrenByTag = CompactTable<Node>()
    /// A strong reference to the node's own context, set while the node has a parent. It keeps the context alive on the
    /// parent's behalf.
    var heldContext: UDIContext?
    /// The properties that only a few contexts need; nil as long as this context has needed none.
    private(set) var extras: NodeExtras?
    /// The slots that the context itself filled when it began to end. Lookups from here do not look for their keys
    /// further up. Nothing else in them counts: the entries that they refer to may be gone.
    var formerSlots = CompactTable<Slot>()
    /// A weak reference to the node's context, for use while the node has no parent. (While it has one, `heldContext`
    /// holds the context.) This is set only when it is needed (`remember`), because a weak reference costs memory and
    /// makes every later retain of the context slower.
    weak var rootContext: UDIContext?

    // These properties come last, because changes to siblings write them.

    /// The child of the same parent that was added just before this one. For a closed context, this and `nextSibling`
    /// are its neighbours in the list that ends with `NodeExtras.lastClosed` of the node where its lookups go on.
    var previousSibling: Node?
    /// The child of the same parent that was added just after this one.
    var nextSibling: Node?

    /// Returns `extras`, after making it if it is nil.
    mutating func ensureExtras() -> NodeExtras {
      if let extras { return extras }
      let new = NodeExtras()
      extras = new
      return new
    }
  }

  /// Allocates a node. The caller has to call `free` in the end.
  init(tag: String, search: UDISearch) {
    unsafe memory = .fromOpaque(allocateMemory(byteCount: Self.tagOffset + MemoryLayout<String>.size))
    unsafe lockMemory.initialize(to: Lock())
    unsafe sharedMemory.initialize(to: Shared(search: search))
    unsafe treeLockedMemory.initialize(to: TreeLocked())
    if Tree.isLooking { unsafe treeLockedMemory.pointee.comesFromLook = true }
    unsafe tagMemory.initialize(to: tag)
  }

  /// Frees the memory. Do not call this under a lock: this might release the last reference to an object.
  func free() {
    unsafe lockMemory.deinitialize(count: 1)
    unsafe sharedMemory.deinitialize(count: 1)
    unsafe treeLockedMemory.deinitialize(count: 1)
    unsafe tagMemory.deinitialize(count: 1)
    unsafe freeMemory(base)
  }

  /// The address of the memory, which identifies the node.
  var address: UnsafeRawPointer { unsafe UnsafeRawPointer(base) }

  @inline(__always)
  private var base: UnsafeMutableRawPointer { unsafe memory.toOpaque() }

  package static func == (left: Node, right: Node) -> Bool { unsafe left.base == right.base }
  package func hash(into hasher: inout Hasher) { unsafe hasher.combine(base) }

  /// An empty mirror, because the default one would treat the memory as an object.
  package var customMirror: Mirror { Mirror(self, children: []) }

  // MARK: - The parts

  package var tag: String { unsafe tagMemory.pointee }

  @inline(__always)
  var lock: Lock { unsafeAddress { unsafe UnsafePointer(lockMemory) } }

  @inline(__always)
  var shared: Shared {
    unsafeAddress { unsafe UnsafePointer(sharedMemory) }
    nonmutating unsafeMutableAddress { unsafe sharedMemory }
  }

  @inline(__always)
  var treeLocked: TreeLocked {
    unsafeAddress {
      Tree.lock.assertHeld()
      return unsafe UnsafePointer(treeLockedMemory)
    }
    nonmutating unsafeMutableAddress {
      Tree.lock.assertHeld()
      return unsafe treeLockedMemory
    }
  }

  // No part needs a greater alignment than that of an integer with 64 bits.
  private static var sharedOffset: Int { aligned(MemoryLayout<Lock>.size) }
  private static var treeLockedOffset: Int { aligned(sharedOffset + MemoryLayout<Shared>.size) }
  private static var tagOffset: Int { aligned(treeLockedOffset + MemoryLayout<TreeLocked>.size) }

  @inline(__always)
  private static func aligned(_ offset: Int) -> Int { (offset + 7) & ~7 }

  @inline(__always)
  private func part<Part: ~Copyable>(at offset: Int) -> UnsafeMutablePointer<Part> {
    unsafe (base + offset).assumingMemoryBound(to: Part.self)
  }

  private var lockMemory: UnsafeMutablePointer<Lock> { unsafe part(at: 0) }
  private var sharedMemory: UnsafeMutablePointer<Shared> { unsafe part(at: Self.sharedOffset) }
  private var treeLockedMemory: UnsafeMutablePointer<TreeLocked> { unsafe part(at: Self.treeLockedOffset) }
  private var tagMemory: UnsafeMutablePointer<String> { unsafe part(at: Self.tagOffset) }

  // MARK: - What follows from the parts. Used under the tree lock

  /// The parent in the tree.
  package var parent: Node? { treeLocked.hasLostParent ? nil : shared.parent }

  /// The parent, if lookups from there see this node; nil for scopes. Changes are passed up along this path.
  var parentThatSeesThis: Node? { treeLocked.isScope || treeLocked.hasLostParent ? nil : shared.parent }

  /// Whether the context is closed or being closed.
  package var isEnding: Bool { treeLocked.state.isEnding }

  /// The kind of a scope; nil if this is none.
  package var scopeKind: String? { treeLocked.isScope ? treeLocked.extras?.scopeKind ?? tag : nil }

  /// The direction of lookups that do not name one.
  package var search: UDISearch { shared.search }

  /// The node's context, or nil if the context is going away. Use this only for nodes that have a parent or that
  /// remember it.
  package var context: UDIContext? { treeLocked.heldContext ?? treeLocked.rootContext }
}

/// The state of a context.
enum NodeState: UInt8 {
  /// The context can be used without restrictions.
  case open
  /// Nothing can be bound or registered in the context (`UDIContext.makeInert`).
  case inert
  /// Nothing can be added to the context, and no instances are made in it. Lookups still find its bindings, and each
  /// instance that it keeps until that has been closed.
  case closing
  /// Nothing can be added to the context, and lookups find nothing in it.
  case closed

  /// Whether the context is being closed or is closed.
  var isEnding: Bool { rawValue >= NodeState.closing.rawValue }
}
