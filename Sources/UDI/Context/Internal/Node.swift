/// A context's place in the tree, and what lookups read: a handle to memory that the context owns.
///
/// A node is not an object: counting references to nodes would be most of the work of a lookup, and a context must
/// never be retained under a lock, because the release under the lock could be the last one. The memory is valid as
/// long as somebody may refer to it: its context frees it only after everything that refers to it has been cleared
/// under the locks that guard it (see `Tree.swift`). So a node that is read under a lock that guards it exists until
/// that lock is given back. This rule holds for every use, and is the reason why the type is marked safe: the compiler
/// cannot check it.
@safe
struct Node: Hashable, @unchecked Sendable {
  // Unchecked: mutable state is guarded by the locks that are named at its mark.

  /// The parts lie one after the other, first those that lookups read. They are separate structs because different
  /// locks guard them: to the thread sanitizer, a change of one field is an access to the whole struct that contains
  /// it.
  private let base: UnsafeMutableRawPointer

  /// Written under the tree lock and the node's lock, except when nobody else can reach the node (see `Tree.swift`);
  /// read under either lock.
  private struct Shared: ~Copyable {
    var parent: Node?
    var slots = CompactTable<Slot>()
    var search: UDISearch
    var pendingSetUps: PendingSetUps = []

    init(search: UDISearch) { self.search = search }
  }

  /// Guarded by the tree lock.
  private struct Edges: ~Copyable {
    // In the order in which changes need them, so that most changes touch few cache lines.
    var sequence: UInt64 = 0
    var nextSerial: UInt32 = 0
    var noting = ContextNoting.never
    var expectedKeys: UInt8 = 1
    var isInert = false
    var isScope = false
    var hasLostParent = false
    var isWatched = false
    var bindings = WeakValueDictionary<BoundKey, AnyObject>()
    var providers = CompactTable<ProviderEntry>()
    var firstChild: Node?
    var lastChild: Node?
    var nextChildSequence: UInt64 = 0
    var childrenByTag = CompactTable<TaggedNode>()
    var heldContext: UDIContext?
    var extras: NodeExtras?
    weak var rootContext: UDIContext?
    // Last, because siblings write them.
    var previousSibling: Node?
    var nextSibling: Node?
  }

  /// Allocates a node. The caller has to `free` it.
  init(tag: String, search: UDISearch) {
    unsafe base = allocateMemory(
      byteCount: Self.tagOffset + MemoryLayout<String>.size, alignment: MemoryLayout<Edges>.alignment)
    unsafe lockMemory.initialize(to: Lock())
    unsafe shared.initialize(to: Shared(search: search))
    unsafe edges.initialize(to: Edges())
    unsafe tagMemory.initialize(to: tag)
  }

  /// Frees the memory. Not to be called under a lock: the memory may hold the last reference to something.
  func free() {
    unsafe lockMemory.deinitialize(count: 1)
    unsafe shared.deinitialize(count: 1)
    unsafe edges.deinitialize(count: 1)
    unsafe tagMemory.deinitialize(count: 1)
    unsafe freeMemory(base)
  }

  /// The address of the memory, which identifies the node.
  var address: UnsafeRawPointer { unsafe UnsafeRawPointer(base) }

  /// Makes the node whose memory has an `address`.
  init(address: UnsafeRawPointer) { unsafe base = UnsafeMutableRawPointer(mutating: address) }

  static func == (left: Node, right: Node) -> Bool { unsafe left.base == right.base }
  func hash(into hasher: inout Hasher) { unsafe hasher.combine(base) }
}

// MARK: - The layout of the memory

extension Node {
  // No part needs a greater alignment than the edges, which contain integers of 64 bits.
  private static var sharedOffset: Int { aligned(MemoryLayout<Lock>.size, for: Shared.self) }
  private static var edgesOffset: Int { aligned(sharedOffset + MemoryLayout<Shared>.size, for: Edges.self) }
  private static var tagOffset: Int { aligned(edgesOffset + MemoryLayout<Edges>.size, for: String.self) }

  @inline(__always)
  private static func aligned<Part: ~Copyable>(_ offset: Int, for part: Part.Type) -> Int {
    let mask = MemoryLayout<Part>.alignment - 1
    return (offset + mask) & ~mask
  }

  @inline(__always)
  private var lockMemory: UnsafeMutablePointer<Lock> { unsafe base.assumingMemoryBound(to: Lock.self) }

  @inline(__always)
  private var shared: UnsafeMutablePointer<Shared> {
    unsafe (base + Self.sharedOffset).assumingMemoryBound(to: Shared.self)
  }

  @inline(__always)
  private var edges: UnsafeMutablePointer<Edges> {
    unsafe (base + Self.edgesOffset).assumingMemoryBound(to: Edges.self)
  }

  private var tagMemory: UnsafeMutablePointer<String> {
    unsafe (base + Self.tagOffset).assumingMemoryBound(to: String.self)
  }
}

// MARK: - Constant

extension Node {
  var tag: String { unsafe tagMemory.pointee }

  @inline(__always)
  var lock: Lock {
    _read { yield unsafe lockMemory.pointee }
  }
}

// MARK: - Written under the tree lock and, mostly, the node's lock; read under either

extension Node {
  /// The parent. A context that goes away first clears this in its children.
  @inline(__always)
  var parent: Node? {
    get { unsafe shared.pointee.parent }
    nonmutating set { unsafe shared.pointee.parent = newValue }
  }

  /// For each key that is bound here or anywhere below, what a lookup from here finds.
  @inline(__always)
  var slots: CompactTable<Slot> {
    _read { yield unsafe shared.pointee.slots }
    nonmutating _modify { yield unsafe &shared.pointee.slots }
  }

  /// Which set-up blocks have to run before a lookup.
  @inline(__always)
  var pendingSetUps: PendingSetUps {
    get { unsafe shared.pointee.pendingSetUps }
    nonmutating set { unsafe shared.pointee.pendingSetUps = newValue }
  }

  /// The search of lookups that name none.
  @inline(__always)
  var search: UDISearch {
    get { unsafe shared.pointee.search }
    nonmutating set { unsafe shared.pointee.search = newValue }
  }
}

// MARK: - Guarded by the tree lock

extension Node {
  /// The bindings of the context. `slots` points at the entries in it.
  var bindings: WeakValueDictionary<BoundKey, AnyObject> {
    _read { yield unsafe edges.pointee.bindings }
    nonmutating _modify { yield unsafe &edges.pointee.bindings }
  }

  /// The providers of the context. `slots` points at them and at the instances that they made.
  var providers: CompactTable<ProviderEntry> {
    _read { yield unsafe edges.pointee.providers }
    nonmutating _modify { yield unsafe &edges.pointee.providers }
  }

  var hasExtras: Bool { unsafe edges.pointee.extras != nil }

  /// What only few contexts have. Made when it is first needed.
  private var extras: NodeExtras {
    if let present = unsafe edges.pointee.extras { return present }
    let new = NodeExtras()
    unsafe edges.pointee.extras = new
    return new
  }

  /// The lifetime of what is registered without one; nil for `.unique`. While a thread installs a module, it has a
  /// default of its own.
  var defaultLifetime: DefaultLifetime? {
    get { unsafe edges.pointee.extras?.defaultLifetime }
    nonmutating set {
      if newValue != nil || hasExtras { extras.defaultLifetime = newValue }
    }
  }

  /// The modules that are being installed. The innermost one of each thread comes last among the thread's.
  var installations: [Installation] {
    _read { yield extras.installations }
    nonmutating _modify { yield &extras.installations }
  }

  /// The modules that are installed.
  var modules: [InstalledModule] {
    _read { yield extras.modules }
    nonmutating _modify { yield &extras.modules }
  }

  /// The context's set-up blocks, until they have run.
  var setUp: SetUp? {
    get { unsafe edges.pointee.extras?.setUp }
    nonmutating set { if newValue != nil || hasExtras { extras.setUp = newValue } }
  }

  /// The context's rules, if there are any.
  var rules: RuleBook? {
    get { unsafe edges.pointee.extras?.rules }
    nonmutating set { if newValue != nil || hasExtras { extras.rules = newValue } }
  }

  /// Whether a test overrides something that the context has. Only tests do, so the count of all overrides is checked
  /// first.
  @inline(__always)
  var hasOverrides: Bool { unsafe Tree.overrideCount > 0 && hasExtras && !overrides.isEmpty }

  /// What tests have put in the place of what the context has. For each key, the one that was added last is in force.
  var overrides: [Substitute] {
    _read { yield extras.overrides }
    nonmutating _modify { yield &extras.overrides }
  }

  /// The number under which `RemovedBindingLog` knows the node, once a binding that was here is recorded; 0 before.
  /// Unlike addresses, numbers are never reused.
  var logNumber: UInt {
    get { unsafe edges.pointee.extras?.logNumber ?? 0 }
    nonmutating set { extras.logNumber = newValue }
  }

  /// Whether nothing can be bound or registered here.
  var isInert: Bool {
    get { unsafe edges.pointee.isInert }
    nonmutating set { unsafe edges.pointee.isInert = newValue }
  }

  /// Whether nothing above sees what is here and below. Set before the node has a parent.
  var isScope: Bool {
    get { unsafe edges.pointee.isScope }
    nonmutating set { unsafe edges.pointee.isScope = newValue }
  }

  /// Whether it had a parent and now has none.
  var hasLostParent: Bool {
    get { unsafe edges.pointee.hasLostParent }
    nonmutating set { unsafe edges.pointee.hasLostParent = newValue }
  }

  /// The parent, if it sees what is here; nil for scopes. Changes are passed on along this path.
  var parentThatSeesThis: Node? { isScope ? nil : parent }

  /// Whether somebody wants to know when answers change here.
  var isWatched: Bool {
    get { unsafe edges.pointee.isWatched }
    nonmutating set { unsafe edges.pointee.isWatched = newValue }
  }

  /// The watchers whose lookups begin here.
  var watchers: Watchers {
    _read { yield extras.watchers }
    nonmutating _modify { yield &extras.watchers }
  }

  /// The watchers whose lookups begin further down and may climb to here. They are separate, so that changes below do
  /// not go through them.
  var climbers: Watchers {
    _read { yield extras.climbers }
    nonmutating _modify { yield &extras.climbers }
  }

  /// The serial number of the next entry, which orders what is bound here.
  var nextSerial: UInt32 {
    get { unsafe edges.pointee.nextSerial }
    nonmutating set { unsafe edges.pointee.nextSerial = newValue }
  }

  /// This node's place among its parent's children. A child that was added later has a higher number.
  var sequence: UInt64 {
    get { unsafe edges.pointee.sequence }
    nonmutating set { unsafe edges.pointee.sequence = newValue }
  }

  /// The child of the same parent that was added just before this one.
  var previousSibling: Node? {
    get { unsafe edges.pointee.previousSibling }
    nonmutating set { unsafe edges.pointee.previousSibling = newValue }
  }

  /// The child of the same parent that was added just after this one.
  var nextSibling: Node? {
    get { unsafe edges.pointee.nextSibling }
    nonmutating set { unsafe edges.pointee.nextSibling = newValue }
  }

  /// The child that was added first.
  var firstChild: Node? {
    get { unsafe edges.pointee.firstChild }
    nonmutating set { unsafe edges.pointee.firstChild = newValue }
  }

  /// The child that was added last.
  var lastChild: Node? {
    get { unsafe edges.pointee.lastChild }
    nonmutating set { unsafe edges.pointee.lastChild = newValue }
  }

  /// The sequence number of the next child.
  var nextChildSequence: UInt64 {
    get { unsafe edges.pointee.nextChildSequence }
    nonmutating set { unsafe edges.pointee.nextChildSequence = newValue }
  }

  /// How many keys the child that was last removed had. The next child often gets as many: contexts that come and go,
  /// for example one for each request, are alike.
  var expectedKeys: UInt8 {
    get { unsafe edges.pointee.expectedKeys }
    nonmutating set { unsafe edges.pointee.expectedKeys = newValue }
  }

  /// The children by their tags; empty while there are few.
  var childrenByTag: CompactTable<TaggedNode> {
    _read { yield unsafe edges.pointee.childrenByTag }
    nonmutating _modify { yield unsafe &edges.pointee.childrenByTag }
  }

  /// The node's context while it has a parent: through this, a parent holds its children.
  var heldContext: UDIContext? {
    _read { yield unsafe edges.pointee.heldContext }
    nonmutating _modify { yield unsafe &edges.pointee.heldContext }
  }

  /// The node's context, held weakly, for a node without a parent that would hold it. It is not set before there are
  /// children: a weak reference costs memory, and makes every later retain of the object slower.
  var rootContext: UDIContext? {
    get { unsafe edges.pointee.rootContext }
    nonmutating set { unsafe edges.pointee.rootContext = newValue }
  }

  /// Whether `rootContext` was set, or has to be set.
  var noting: ContextNoting {
    get { unsafe edges.pointee.noting }
    nonmutating set { unsafe edges.pointee.noting = newValue }
  }

  /// The node's context, or nil if that is going away. To be used only for nodes that have a parent or have noted their
  /// context.
  var context: UDIContext? { heldContext ?? rootContext }
}

/// When a node notes its context, in `rootContext`.
enum ContextNoting: UInt8 {
  /// Not until it has children or providers.
  case never
  /// As soon as it has no parent any more: somebody has a registration, which has to name the context.
  case withoutParent
  /// It has noted its context.
  case done
}

/// What only few contexts have: behind a reference, so that all other nodes are small. Guarded by the tree lock.
private final class NodeExtras {
  private var ownDefaultLifetime: DefaultLifetime?
  var installations: [Installation] = []
  var modules: [InstalledModule] = []
  var setUp: SetUp?
  var rules: RuleBook?
  var watchers = Watchers()
  var climbers = Watchers()
  var logNumber: UInt = 0
  var overrides: [Substitute] = []

  var defaultLifetime: DefaultLifetime? {
    get { installation.map { installations[$0].lifetime } ?? ownDefaultLifetime }
    set {
      if let index = installation { installations[index].lifetime = newValue } else { ownDefaultLifetime = newValue }
    }
  }

  /// The index of the module that this thread is installing.
  private var installation: Int? {
    if installations.isEmpty { return nil }
    let thread = PerThread.resolution.object
    return installations.lastIndex { $0.thread === thread }
  }
}

/// An entry in the table of a parent's children by tag.
struct TaggedNode: CompactTableElement {
  let node: Node
  var key: String { node.tag }
  static func hash(_ key: String) -> UInt { scrambled(UInt(bitPattern: key.hashValue)) }
}
