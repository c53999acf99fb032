/// All trees of the process: the lock that changes to any of them take, and what is known across them.
///
/// # The concurrency model
///
/// **What each lock guards.**
///
/// | lock | guards |
/// |---|---|
/// | the tree lock, `Tree.lock` | every change to any tree: children, bindings, providers and what they keep, the lists of where instances are bound, helpers; who makes what, and which thread waits for it |
/// | a node's lock, `Node.lock` | that node's `slots`, `parent` and `search` |
/// | an attachment's lock, `UDIAttachment.lock` | which context its object is attached to |
/// | a watcher's lock, `Watcher.lock` | who waits for the next change, and how many there have been |
/// | the tables' locks | interned types, interned names, the process's root context, the process's reporter |
///
/// Slots, parents and searches are *written* under the tree lock and the node's lock together, so that holding either is enough to
/// *read* them; but for a node to which nobody else can come, because its context is just being made, or is going and never had
/// children to come up from: there the tree lock is enough. That is what makes lookups cheap: a lookup that goes down, or stays
/// where it is, takes the lock of the context it begins at and no other, also for an object bound far below; one that climbs
/// locks each parent before it leaves the child. Writers, `linkAll` and `find` take the tree lock.
///
/// **Making.** A factory runs under no lock. A thread that wants what another one is making, or an instance whose storage another one
/// resets, waits at a `Gate`, with no lock held, after it has noted under the tree lock what it waits for; and it does not begin to
/// wait where that would close a circle of threads that wait for one another. What a thread itself is in the middle of is known to
/// the thread alone (`Resolution`).
///
/// **Order.** tree → attachment → node → its parent's node (lookups that climb). A writer holds one node's lock
/// at a time. The tables' locks, a watcher's and a gate's are leaves: nothing is locked under them. No path leads back, so there is no deadlock.
///
/// **When a lookup takes effect.** At the moment it holds the lock of the context it begins at. One that climbs looks at each
/// context in turn, as it is when it comes there: an instance that is bound anew further down, behind it, and withdrawn
/// further up, before it, is missed.
///
/// A change works its way up from the context where it happened, and each context shows it from the moment its own slot is
/// written; when the changing call returns all do. Moving a context first makes it known above its new parent, then points
/// it there, then takes it out above the old one: what is bound in a moved subtree is found at every moment from every
/// context above both places, and a lookup upwards from inside sees the old parent or the new one.
///
/// **Nothing is released under a lock.** Releasing an object can run its `deinit`, which may bind, link or move contexts, and
/// would wait for ever for a lock that its own thread holds. So whatever a change drops is put into `Garbage`, and
/// that is emptied when the lock has been given back. That goes for references loaded only to look whether something is alive,
/// too: they may be the last by the time they are let go of. Nodes are no objects, and so need no such care; a context keeps its
/// own alive (`UDIContext.withNode`).
///
/// **How a `deinit` gets in.** The `deinit` of a `UDIContext` and of a `UDIAttachment` takes the tree lock like any writer. A
/// context's node is freed only after every child's pointer to it was cleared under that child's lock, and, if it ever had one,
/// its own lock was taken and given back once more, which waits for a lookup that came up before. An object's weak
/// references are dead before its attachment is; whoever finds a dead binding first, a lookup or the attachment, withdraws it.
enum Tree {
  static let lock = Lock()

  /// Guarded by `lock`, which excludes overlapping accesses: where each instance is bound, whichever context it is in.
  @exclusivity(unchecked) nonisolated(unsafe) static var instances = CompactTable<InstanceChain>()

  /// Guarded by `lock`: how many providers there have been.
  @exclusivity(unchecked) nonisolated(unsafe) static var providerCount: UInt = 0

  /// Guarded by `lock`: who is to be notified of the change that is under way, when the lock was given back.
  @exclusivity(unchecked) private nonisolated(unsafe) static var notifications: Notifications?
  /// Guarded by `lock`: which kind of change what happens now counts as for watchers.
  @exclusivity(unchecked) private nonisolated(unsafe) static var changeKind = ChangeKind.answer

  /// Guarded by `lock`: how many overrides are in force.
  @exclusivity(unchecked) nonisolated(unsafe) static var overrideCount = 0

  /// Guarded by `lock`: the teardowns that are under way, see `Node.dismantle`.
  @exclusivity(unchecked) nonisolated(unsafe) static var teardowns: [Teardown] = []

  /// Makes a change: runs `body` under the tree lock, then releases what it dropped.
  @inline(__always)
  static func change<Result, Failure: Error>(
    _ body: (inout Garbage) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var garbage = Garbage()
    // Results and errors leave with the call; the garbage goes here, after the lock was given back.
    defer { garbage.release() }
    lock.lock()
    defer {
      if let notifications = unsafe notifications { handOver(notifications, &garbage) }
      lock.unlock()
    }
    return try body(&garbage)
  }

  /// Notes that a watcher is to be notified when the lock was given back.
  static func notify(_ watcher: Watcher) {
    var kind = unsafe changeKind
    if kind == .ignored { return }
    // Whoever causes a change by looking has the new answer; only what is there may have become something else since.
    if kind == .answer, watcher.looker == currentThread() { kind = .keptOnly }
    let new = (watcher, kind)
    if let notifications = unsafe notifications {
      notifications.watchers.append(new)
    } else {
      unsafe notifications = Notifications(new)
    }
  }

  /// Whether this thread looks for a watcher, so that what it does to the tree comes from that.
  static var isLooking: Bool {
    unsafe Watcher.count > 0 && PerThread.presentResolution?.read { $0.isLooking } ?? false
  }

  /// Makes a part of a change, which watchers are notified of as one of this kind.
  @inline(__always)
  static func notifying(_ kind: ChangeKind, _ body: () -> Void) {
    let outer = unsafe changeKind
    // Mostly it is the same, and is not written: memory that is written moves from core to core. This serves the row "two threads, scopes of
    // one context", by 5 %.
    if outer == kind { return body() }
    unsafe changeKind = kind
    body()
    unsafe changeKind = outer
  }

  @inline(never)
  private static func handOver(_ present: Notifications, _ garbage: inout Garbage) {
    garbage.add(present)
    unsafe notifications = nil
  }
}

/// What a change dropped and nobody may release before the lock is given back.
struct Garbage {
  // Most changes drop one thing or none: those need no array.
  private var first: AnyObject?
  private var rest: [AnyObject]?
  /// What is to be released on the main actor.
  private var parcel: Parcel?

  mutating func add(_ object: consuming AnyObject) {
    if first == nil {
      first = object
    } else {
      rest == nil ? rest = [object] : rest?.append(object)
    }
  }

  /// Adds an object that was loaded from an entry, only to look at it. If nobody else holds it any more this is where it dies; so one that is not
  /// `Sendable` is given back to the main actor.
  mutating func add(_ object: consuming AnyObject, of entry: Entry) { add(object, entry.reach) }

  /// The same for an object of a reach.
  mutating func add(_ object: consuming AnyObject, _ reach: Reach) {
    guard reach == .mainActor else { return add(object) }
    let parcel = parcel ?? Parcel()
    parcel.add(object)
    self.parcel = parcel
  }

  mutating func release() {
    first = nil
    rest = nil
    parcel.take()?.send()
  }
}
