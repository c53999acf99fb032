/// A context's place in the tree, and what lookups read: a handle to memory that the context owns.
///
/// Not an object: counting references to nodes would be most of the work of a lookup, and a context must never be retained,
/// and so perhaps be released for the last time, under a lock. The memory is valid as long as somebody may refer to it: its
/// context frees it only after everything that refers to it was cleared under the locks that guard it (see `Tree.swift`). So a
/// node that is read under a lock that guards it is there until that lock is given back. That is the rule for every use, and
/// why the type is marked safe: the compiler cannot check it.
@safe
struct Node: Hashable, @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the locks named at its mark.

  /// The parts lie behind one another, those that lookups read first. They are parts because each is guarded by other locks: to
  /// the thread sanitizer a change of one field is an access to the whole struct that it is in.
  private let base: UnsafeMutableRawPointer

  /// Written under the tree lock and the node's, but where nobody else can come to the node (see `Tree.swift`); read under either.
  private struct Shared: ~Copyable {
    var parent: Node?
    var slots = CompactTable<Slot>()
    var search: UDISearch
    var pendingSetUps: PendingSetUps = []

    init(search: UDISearch) { self.search = search }
  }

  /// Under the tree lock.
  private struct Edges: ~Copyable {
    // In the order in which changes need them, so that most touch few cache lines.
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

  /// Allocates a node; whoever does must `free` it.
  init(tag: String, search: UDISearch) {
    unsafe base = allocateMemory(
      byteCount: Self.tagOffset + MemoryLayout<String>.size, alignment: MemoryLayout<Edges>.alignment)
    unsafe lockMemory.initialize(to: Lock())
    unsafe shared.initialize(to: Shared(search: search))
    unsafe edges.initialize(to: Edges())
    unsafe tagMemory.initialize(to: tag)
  }

  /// Frees the memory. Not under a lock: it may hold the last reference to something.
  func free() {
    unsafe lockMemory.deinitialize(count: 1)
    unsafe shared.deinitialize(count: 1)
    unsafe edges.deinitialize(count: 1)
    unsafe tagMemory.deinitialize(count: 1)
    unsafe freeMemory(base)
  }

  /// The address of the memory, which tells nodes apart.
  var address: UnsafeRawPointer { unsafe UnsafeRawPointer(base) }

  /// Remakes a node from its `address`.
  init(address: UnsafeRawPointer) { unsafe base = UnsafeMutableRawPointer(mutating: address) }

  static func == (left: Node, right: Node) -> Bool { unsafe left.base == right.base }
  func hash(into hasher: inout Hasher) { unsafe hasher.combine(base) }
}

// MARK: - Where the parts are

extension Node {
  // No part wants more alignment than the edges, which have integers of 64 bits.
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

// MARK: - Written under the tree lock and mostly the node's; read under either

extension Node {
  /// The parent; a context that goes clears this in its children first.
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

  /// Whether set-up blocks have to run before some lookup.
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

// MARK: - Under the tree lock

extension Node {
  /// The bindings of the context. `slots` points at its entries.
  var bindings: WeakValueDictionary<BoundKey, AnyObject> {
    _read { yield unsafe edges.pointee.bindings }
    nonmutating _modify { yield unsafe &edges.pointee.bindings }
  }

  /// The providers of the context. `slots` points at them and at what they made.
  var providers: CompactTable<ProviderEntry> {
    _read { yield unsafe edges.pointee.providers }
    nonmutating _modify { yield unsafe &edges.pointee.providers }
  }

  var hasExtras: Bool { unsafe edges.pointee.extras != nil }

  /// What few contexts have, made when one gets it.
  private var extras: NodeExtras {
    if let present = unsafe edges.pointee.extras { return present }
    let new = NodeExtras()
    unsafe edges.pointee.extras = new
    return new
  }

  /// The lifetime of what is registered without one; nil for `.unique`. A thread that installs modules has one of its own.
  var defaultLifetime: DefaultLifetime? {
    get { unsafe edges.pointee.extras?.defaultLifetime }
    nonmutating set {
      if newValue != nil || hasExtras { extras.defaultLifetime = newValue }
    }
  }

  /// The modules that are being installed: of each thread the innermost one last.
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

  /// The context's rules, if it has some.
  var rules: RuleBook? {
    get { unsafe edges.pointee.extras?.rules }
    nonmutating set { if newValue != nil || hasExtras { extras.rules = newValue } }
  }

  /// Whether a test has put something in front of what the context has. Tests alone do, so all are asked first.
  @inline(__always)
  var hasOverrides: Bool { unsafe Tree.overrideCount > 0 && hasExtras && !overrides.isEmpty }

  /// What tests have put in the place of what the context has, the last one of a key first in force.
  var overrides: [Substitute] {
    _read { yield extras.overrides }
    nonmutating _modify { yield &extras.overrides }
  }

  /// What `RemovedBindingLog` knows the node by, once there is a record of something that was bound here; 0 before. Numbers are not given
  /// twice, as addresses are.
  var logNumber: UInt {
    get { unsafe edges.pointee.extras?.logNumber ?? 0 }
    nonmutating set { extras.logNumber = newValue }
  }

  /// Whether nothing can be bound or registered here.
  var isInert: Bool {
    get { unsafe edges.pointee.isInert }
    nonmutating set { unsafe edges.pointee.isInert = newValue }
  }

  /// Whether nothing above sees what is here and below. Settled before the node has a parent.
  var isScope: Bool {
    get { unsafe edges.pointee.isScope }
    nonmutating set { unsafe edges.pointee.isScope = newValue }
  }

  /// Whether it had a parent, and has none now.
  var hasLostParent: Bool {
    get { unsafe edges.pointee.hasLostParent }
    nonmutating set { unsafe edges.pointee.hasLostParent = newValue }
  }

  /// The parent, if that sees what is here: the way on which changes are told. Scopes end it.
  var parentThatSeesThis: Node? { isScope ? nil : parent }

  /// Whether somebody wants to know when answers change here.
  var isWatched: Bool {
    get { unsafe edges.pointee.isWatched }
    nonmutating set { unsafe edges.pointee.isWatched = newValue }
  }

  /// Those whose lookups begin here.
  var watchers: Watchers {
    _read { yield extras.watchers }
    nonmutating _modify { yield &extras.watchers }
  }

  /// Those whose lookups begin further down and may climb to here. Apart, so that what happens below does not go through them.
  var climbers: Watchers {
    _read { yield extras.climbers }
    nonmutating _modify { yield &extras.climbers }
  }

  /// The serial number of the next entry, which orders what is bound here.
  var nextSerial: UInt32 {
    get { unsafe edges.pointee.nextSerial }
    nonmutating set { unsafe edges.pointee.nextSerial = newValue }
  }

  /// This node's place among its parent's children: it rises from each to the next.
  var sequence: UInt64 {
    get { unsafe edges.pointee.sequence }
    nonmutating set { unsafe edges.pointee.sequence = newValue }
  }

  /// The child of the same parent that was added before.
  var previousSibling: Node? {
    get { unsafe edges.pointee.previousSibling }
    nonmutating set { unsafe edges.pointee.previousSibling = newValue }
  }

  /// The child of the same parent that was added next.
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

  /// How many keys the child had that was taken out last. The next one often gets as many: contexts that come and go, one a
  /// request for example, are alike.
  var expectedKeys: UInt8 {
    get { unsafe edges.pointee.expectedKeys }
    nonmutating set { unsafe edges.pointee.expectedKeys = newValue }
  }

  /// The children, to be found by their tags; empty while they are few.
  var childrenByTag: CompactTable<TaggedNode> {
    _read { yield unsafe edges.pointee.childrenByTag }
    nonmutating _modify { yield unsafe &edges.pointee.childrenByTag }
  }

  /// The node's context while it has a parent: this is how a parent holds its children.
  var heldContext: UDIContext? {
    _read { yield unsafe edges.pointee.heldContext }
    nonmutating _modify { yield unsafe &edges.pointee.heldContext }
  }

  /// The node's context, weakly, for one that has no parent to hold it. Not set before there are children: a weak reference costs
  /// memory, and makes every later retain of the object slower.
  var rootContext: UDIContext? {
    get { unsafe edges.pointee.rootContext }
    nonmutating set { unsafe edges.pointee.rootContext = newValue }
  }

  /// Whether `rootContext` was set, or is to be set.
  var noting: ContextNoting {
    get { unsafe edges.pointee.noting }
    nonmutating set { unsafe edges.pointee.noting = newValue }
  }

  /// The node's context, or nil if that is going away; for nodes that have a parent, and those that have noted their context.
  var context: UDIContext? { heldContext ?? rootContext }
}

/// When a node notes its context, in `rootContext`.
enum ContextNoting: UInt8 {
  /// Not before it has children or providers.
  case never
  /// When it comes to have no parent: somebody has a registration that is to tell the context.
  case withoutParent
  /// It has.
  case done
}

/// What few contexts have: behind a reference, so that all others are small. Under the tree lock.
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

  /// The place of the module that this thread installs.
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
