/// A context's place in the tree, and what lookups read: a handle to memory that the context owns.
///
/// A node is not an object: references to it would have to be counted, and this would be most of the work of a lookup.
/// Contexts cannot serve as nodes either: a lookup would have to retain a context under a lock, and the release that
/// follows under the same lock could be the last one.
///
/// The memory is valid as long as somebody can refer to it: its context frees it only after every reference to it has
/// been cleared under the lock that guards this reference (see `Tree.swift`). So if a node is read under the lock that
/// guards the reference to it, the node exists until that lock is given back. All uses of nodes keep to this rule. The
/// compiler cannot check it, so the type is marked safe.
@safe
struct Node: Hashable, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the locks that `Shared` and `TreeLocked` name.

  /// The parts of the node lie one after the other in this memory, those that lookups read first. They are separate
  /// structs because different locks guard them, and the thread sanitizer takes a change of one field for an access to
  /// the whole struct.
  private let memory: Unmanaged<Memory>

  /// There are no objects of this class. It only lets a pointer to the memory have the type of a class reference. Such
  /// a reference has unused bits, in which an enum that contains a node, such as `RankedChildren`, stores which case it
  /// is.
  private final class Memory {}

  /// What lookups read. Each use says `shared`, which means: written under the tree lock and the node's lock, except
  /// when nobody else can reach the node (see `Tree.swift`); read under either lock.
  struct Shared: ~Copyable {
    /// The parent. A context that goes away first clears this in its children.
    var parent: Node?
    /// For each key that is bound here or anywhere below, what a lookup from here finds.
    var slots = CompactTable<Slot>()
    /// The search of lookups that name none.
    var search: UDISearch
    /// Which set-up blocks have to run before a lookup.
    var pendingSetUps: PendingSetUps = []

    fileprivate init(search: UDISearch) { self.search = search }
  }

  /// What only changes to the tree need. Each use says `treeLocked`, which means: guarded by the tree lock.
  struct TreeLocked: ~Copyable {
    // In the order in which changes need them, so that most changes touch few cache lines.

    /// This node's place among its parent's children. A child that was added later has a higher number.
    var sequence: UInt64 = 0
    /// The serial number of the next entry. Serial numbers order what is bound here.
    var nextSerial: UInt32 = 0
    /// Whether `rootContext` is set and, if not, when it has to be.
    var noting = ContextNoting.never
    /// How many keys the most recently removed child had. The next child often gets as many, because contexts that come
    /// and go, for example one for each request, are alike. Without this, the benchmark "make a scope, bind 3, link 5,
    /// end it" would take 5 % longer.
    var expectedKeys: UInt8 = 1
    /// Whether something can be added here, and whether the context is being closed or is closed.
    var state = NodeState.open
    /// Whether closing the context might take time: something that was registered here has to be closed, or has an
    /// asynchronous factory.
    var hasClosers = false
    /// Whether this is a scope, so that nothing above sees what is here and below. Set before the node has a parent.
    var isScope = false
    /// Whether the node had a parent and now has none.
    var hasLostParent = false
    /// Whether somebody wants to know when answers change here.
    var isWatched = false
    /// The bindings of the context. The slots point to the bindings in this dictionary.
    ///
    /// The dictionary does not retain its keys. A key is kept alive by the binding under it (`HeldKey`) or, during a
    /// search, by the caller. So do not use a key from the dictionary unless the tree lock is held.
    var bindings = WeakValueDictionary<Unretained<KeyIdentity>, AnyObject>()
    /// The providers of the context. The slots point at them and at the instances that they made.
    var providers = CompactTable<ProviderEntry>()
    /// The child that was added first.
    var firstChild: Node?
    /// The child that was added last.
    var lastChild: Node?
    /// The sequence number of the next child.
    var nextChildSequence: UInt64 = 0
    /// The children by their tags; empty while there are few.
    var childrenByTag = CompactTable<TaggedNode>()
    /// The node's context while it has a parent: through this, a parent holds its children.
    var heldContext: UDIContext?
    /// What only a few contexts have; nil while this one has none of it.
    private(set) var extras: NodeExtras?
    /// A weak reference to the node's context, for use while the node has no parent. (While it has one, `heldContext`
    /// holds the context.) It is set only when it is needed (`ContextNoting`), because a weak reference costs memory
    /// and makes every later retain of the context slower.
    weak var rootContext: UDIContext?

    // These come last, because changes to siblings write them.

    /// The child of the same parent that was added just before this one.
    var previousSibling: Node?
    /// The child of the same parent that was added just after this one.
    var nextSibling: Node?

    fileprivate init() {}

    /// What only a few contexts have, made if this one has none of it yet.
    mutating func ensureExtras() -> NodeExtras {
      if let extras { return extras }
      let new = NodeExtras()
      extras = new
      return new
    }
  }

  /// Allocates a node. The caller has to `free` it.
  init(tag: String, search: UDISearch) {
    let size = Self.tagOffset + MemoryLayout<String>.size
    unsafe memory = .fromOpaque(allocateMemory(byteCount: size, alignment: MemoryLayout<TreeLocked>.alignment))
    unsafe lockMemory.initialize(to: Lock())
    unsafe sharedMemory.initialize(to: Shared(search: search))
    unsafe treeLockedMemory.initialize(to: TreeLocked())
    unsafe tagMemory.initialize(to: tag)
  }

  /// Frees the memory. Do not call this under a lock: the memory might hold the last reference to an object.
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

  static func == (left: Node, right: Node) -> Bool { unsafe left.base == right.base }
  func hash(into hasher: inout Hasher) { unsafe hasher.combine(base) }
}

extension Node: CustomReflectable {
  /// An empty mirror, because the default one would take the memory for an object.
  var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - The parts

extension Node {
  var tag: String { unsafe tagMemory.pointee }

  @inline(__always)
  var lock: Lock {
    unsafeAddress { unsafe UnsafePointer(lockMemory) }
  }

  @inline(__always)
  var shared: Shared {
    unsafeAddress { unsafe UnsafePointer(sharedMemory) }
    nonmutating unsafeMutableAddress { unsafe sharedMemory }
  }

  @inline(__always)
  var treeLocked: TreeLocked {
    unsafeAddress { unsafe UnsafePointer(treeLockedMemory) }
    nonmutating unsafeMutableAddress { unsafe treeLockedMemory }
  }

  // No part needs a greater alignment than the part under the tree lock, which contains integers of 64 bits.
  private static var sharedOffset: Int { aligned(MemoryLayout<Lock>.size, for: Shared.self) }
  private static var treeLockedOffset: Int {
    aligned(sharedOffset + MemoryLayout<Shared>.size, for: TreeLocked.self)
  }
  private static var tagOffset: Int { aligned(treeLockedOffset + MemoryLayout<TreeLocked>.size, for: String.self) }

  @inline(__always)
  private static func aligned<Part: ~Copyable>(_ offset: Int, for part: Part.Type) -> Int {
    let mask = MemoryLayout<Part>.alignment - 1
    return (offset + mask) & ~mask
  }

  @inline(__always)
  private var lockMemory: UnsafeMutablePointer<Lock> { unsafe base.assumingMemoryBound(to: Lock.self) }

  @inline(__always)
  private var sharedMemory: UnsafeMutablePointer<Shared> {
    unsafe (base + Self.sharedOffset).assumingMemoryBound(to: Shared.self)
  }

  @inline(__always)
  private var treeLockedMemory: UnsafeMutablePointer<TreeLocked> {
    unsafe (base + Self.treeLockedOffset).assumingMemoryBound(to: TreeLocked.self)
  }

  private var tagMemory: UnsafeMutablePointer<String> {
    unsafe (base + Self.tagOffset).assumingMemoryBound(to: String.self)
  }
}

// MARK: - What follows from the parts. Used under the tree lock

extension Node {
  /// The parent, if it sees what is here; nil for scopes. Changes are passed on along this path.
  var parentThatSeesThis: Node? { treeLocked.isScope ? nil : shared.parent }

  /// Whether a test overrides something that the context has. Outside tests there are no overrides, so the number of
  /// all overrides is checked first.
  @inline(__always)
  var hasOverrides: Bool { unsafe Tree.overrideCount > 0 && treeLocked.extras?.overrides.isEmpty == false }

  /// The node's context, or nil if the context is going away. Use this only for nodes that have a parent or have noted
  /// their context.
  var context: UDIContext? { treeLocked.heldContext ?? treeLocked.rootContext }
}

/// What can be done with a context.
enum NodeState: UInt8 {
  /// Everything.
  case open
  /// Nothing can be bound or registered in it (`UDIContext.makeInert`).
  case inert
  /// Nothing can be added or made in it any more. What has been made is found until it has been closed.
  case closing
  /// Nothing can be added to it or found in it.
  case closed

  /// Whether the context is being closed or is closed.
  var isEnding: Bool { rawValue >= NodeState.closing.rawValue }
}

/// When a node notes its context, in `rootContext`.
enum ContextNoting: UInt8 {
  /// Not until it has children or providers.
  case never
  /// As soon as it has no parent any more: somebody holds a registration, which has to name the context.
  case withoutParent
  /// It has noted its context.
  case done
}
