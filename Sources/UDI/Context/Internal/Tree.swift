/// All trees of the process: the lock that every change to a tree takes, and what all trees share.
///
/// # The concurrency model
///
/// **What each lock guards.**
///
/// - The tree lock, `Tree.lock`, guards every change to any tree: children, bindings, providers and what they keep
///   (`Node.treeLocked`), the lists of where instances are bound and of what objects have bound besides themselves. It
///   also guards who makes what, and which thread waits for it.
/// - A node's lock, `Node.lock`, guards what lookups read of that node (`Node.shared`): its slots, its parent, its
///   search, and which set-up blocks are pending.
/// - An attachment's lock, `UDIAttachment.lock`, guards which context its object is attached to.
/// - A watcher's lock, `Watcher.lock`, guards the change that its consumer has not seen yet, and who waits for one.
/// - The locks of the tables guard the interned types, the interned names, the process's root context, and the
///   process's reporter.
///
/// A writer changes what is shared while it holds the tree lock *and* the node's lock, so holding either lock is enough
/// to *read* it. There is one exception: if nobody else can reach the node, because its context is just being made, or
/// is going away and never had children from which a lookup could climb to it, then the tree lock is enough to write.
/// Lookups are cheap because one lock is enough to read: a lookup that goes down, or stays where it is, takes only the
/// lock of the context where it begins, even if the object is bound far below. A lookup that climbs locks each parent
/// before it unlocks the child. Writers, `linkAll` and `find` take the tree lock.
///
/// **Making.** Factories run while no lock is held. A thread may want an instance that another thread is making, or
/// whose storage another thread is resetting. Under the tree lock, it notes what it waits for; then it waits at a
/// `Gate`, with no lock held. It does not begin to wait if threads would then wait for one another in a circle. What a
/// thread itself is making is known only to that thread (`Resolution`).
///
/// **Order.** tree → attachment → node → its parent's node (for lookups that climb). A writer holds one node's lock at
/// a time. The locks of the tables, of watchers and of gates are leaves: nothing is locked while one of them is held.
/// No thread takes locks in another order, so there is no deadlock.
///
/// **When a lookup takes effect.** A lookup takes effect while it holds the lock of the context where it begins. A
/// lookup that climbs sees each context as it is when it gets there. So it misses an instance that is first bound
/// further down, where it has looked already, and then withdrawn further up, where it has not looked yet.
///
/// A change works its way up from the context where it happened. Each context shows the change as soon as its own slot
/// is written; when the call that makes the change returns, all of them do. Moving a context first makes it known above
/// its new parent, then changes its parent, then takes it out above the old one. So at every moment, what is bound in a
/// moved subtree is found from every context that is above both places, and a lookup upwards from inside sees either
/// the old parent or the new one.
///
/// **Nothing is released under a lock.** Releasing an object can run its `deinit`, which may bind, link or move
/// contexts; it would wait for ever for a lock that its own thread holds. So whatever a change drops goes into
/// `Garbage`, which is emptied after the lock has been given back. The same goes for references that are loaded only to
/// check whether something is alive: by the time they are released, they may be the last ones. Nodes are not objects,
/// so they need no such care; a context keeps its own node alive (`UDIContext.withNode`).
///
/// **How a `deinit` gets in.** The `deinit` of a `UDIContext` and of a `UDIAttachment` takes the tree lock like any
/// writer. A context's node is freed only after every child's pointer to it has been cleared under that child's lock
/// and, if the context ever had a child, after the node's own lock has been taken and given back once more, which waits
/// for a lookup that had climbed to it before. An object's weak references are dead before its attachment is; whoever
/// finds a dead binding first, a lookup or the attachment, withdraws it.
enum Tree {
  // The lock excludes overlapping accesses, so they are not checked. This serves the row "make a scope, bind 3, link 5,
  // end it", by 12 %.

  static let lock = Lock()

  /// Guarded by `lock`, which excludes overlapping accesses: where each instance is bound, in any context.
  @exclusivity(unchecked) nonisolated(unsafe) static var instances = CompactTable<InstanceChain>()

  /// Guarded by `lock`: how many providers have been made.
  @exclusivity(unchecked) nonisolated(unsafe) static var providerCount: UInt = 0

  /// Guarded by `lock`: the watchers to notify of the current change, after the lock has been given back.
  @exclusivity(unchecked) private nonisolated(unsafe) static var notifications: Notifications?
  /// Guarded by `lock`: the kind of change that watchers are notified of while this part of a change is made.
  @exclusivity(unchecked) private nonisolated(unsafe) static var changeKind = ChangeKind.answer

  /// Guarded by `lock`: how many overrides are in force.
  @exclusivity(unchecked) nonisolated(unsafe) static var overrideCount = 0

  /// Guarded by `lock`: the threads that are dismantling contexts, with the children that they release next, see
  /// `Node.dismantle`.
  nonisolated(unsafe) static var teardowns: [UInt: [UDIContext]] = [:]

  /// Makes a change: runs `body` under the tree lock, then releases what it has dropped.
  @inline(__always)
  static func change<Result, Failure: Error>(
    _ body: (inout Garbage) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var garbage = Garbage()
    // Results and errors go to the caller; the garbage is released here, after the lock has been given back.
    defer { garbage.release() }
    lock.lock()
    defer {
      if let notifications = unsafe notifications { handOver(notifications, &garbage) }
      lock.unlock()
    }
    return try body(&garbage)
  }

  /// Notes that a watcher is to be notified after the lock has been given back.
  static func notify(_ watcher: Watcher) {
    var kind = unsafe changeKind
    if kind == .ignored { return }
    // If the watcher's own look causes the change, that look gets the new answer. Only what is kept may have changed
    // since.
    if kind == .answer, watcher.looker == currentThread() { kind = .keptOnly }
    let new = (watcher, kind)
    if let notifications = unsafe notifications {
      notifications.watchers.append(new)
    } else {
      unsafe notifications = Notifications(new)
    }
  }

  /// Whether this thread is looking for a watcher, so that its changes to the tree come from that look.
  static var isLooking: Bool {
    unsafe Watcher.count > 0 && PerThread.presentResolution?.read { $0.isLooking } ?? false
  }

  /// Makes a part of a change; watchers are notified of it as a change of this kind.
  @inline(__always)
  static func notifying(_ kind: ChangeKind, _ body: () -> Void) {
    let outer = unsafe changeKind
    // The kind is mostly the same, and is then not written: memory that is written moves from core to core. This serves
    // the row "two threads, scopes of one context", by 5 %.
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
