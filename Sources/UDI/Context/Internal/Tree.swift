/// All the trees in the process: the lock that every change to a tree takes, and what all trees share.
///
/// # The concurrency model
///
/// **What each lock guards.**
///
/// - The tree lock, `Tree.lock`, guards every change to any tree: to children, bindings, providers and what providers
///   keep (`Node.treeLocked`), and to the lists of where each instance is bound and of what each object has bound
///   besides itself. It also guards the records of which thread makes which instance, and of which threads wait for it.
/// - A node's lock, `Node.lock`, guards what lookups read of that node (`Node.shared`): its slots, its parent, its
///   search, and which set-up blocks are pending.
/// - An attachment's lock, `UDIAttachment.lock`, guards which context its object is attached to.
/// - A watcher's lock, `Watcher.lock`, guards the change that its consumer has not seen yet, and which tasks wait for
///   the next one.
/// - The locks of the tables guard the interned types, the interned names, the process's root context, and the
///   process's reporter.
///
/// A writer changes `Node.shared` while it holds the tree lock *and* the lock of that node, so holding either lock is
/// enough to *read* it. There is one exception: the tree lock is enough to write if nobody else can reach the node.
/// This is so while its context is being made, and when its context is going away and never had children from which a
/// lookup could climb to it.
///
/// Lookups are cheap because one lock is enough to read: a lookup that goes down, or stays where it is, takes only the
/// lock of the context where it begins, even if the object is bound far below. A lookup that climbs locks each parent
/// before it unlocks the child. Writers, `linkAll` and `find` take the tree lock.
///
/// **Making.** Factories run while no lock is held. If a thread wants an instance that another thread is making, or
/// whose storage another thread is resetting, it first notes, under the tree lock, what it waits for. Then it waits at
/// a `Gate`, with no lock held. It does not begin to wait if threads would then wait for one another in a circle. What
/// a thread itself is making is known only to that thread (`Resolution`).
///
/// Asynchronous factories run in tasks. A task that wants an instance that another task is making is entered among the
/// waiters of the `AsyncCreation`, under the tree lock, together with the asynchronous call that it is part of; so a
/// circle of calls that wait for one another is found before a task begins to wait. Continuations are resumed, and
/// tasks started and cancelled, while no lock is held. A synchronous lookup never waits for an asynchronous factory.
///
/// **Order.** tree → attachment → node → its parent's node (for lookups that climb). A writer holds one node's lock at
/// a time. The locks of the tables, of watchers and of gates are leaves: nothing is locked while one of them is held.
/// No thread takes locks in another order, so there is no deadlock.
///
/// **When a lookup takes effect.** A lookup takes effect while it holds the lock of the context where it begins. A
/// lookup that climbs sees each context as it is when it gets there. So a lookup that climbs can miss an instance that
/// moves down past it: one that is first bound further down, where the lookup has looked already, and then withdrawn
/// further up, where the lookup has not looked yet.
///
/// A change works its way up from the context where it happened. Each context shows the change as soon as its own slot
/// is written; when the call that makes the change returns, all contexts show it. A move first makes a context known to
/// its new parent and the contexts above, then changes its parent, and then takes it out of the old parent and the
/// contexts above. So at every moment, what is bound in a moved subtree is found from every context that is above both
/// places, and a lookup upwards from inside sees either the old parent or the new one.
///
/// **Nothing is released under a lock.** Releasing an object can run its `deinit`, which might bind, link or move
/// contexts. Under a lock, this `deinit` would wait for ever for a lock that its own thread holds. So whatever a change
/// drops goes into `Garbage`, which is emptied after the lock has been given back. The same goes for references that
/// are loaded only to check whether something is alive: by the time they are released, they might be the last ones.
/// Nodes are not objects, so they need no such care; a context keeps its own node alive (`UDIContext.withNode`).
///
/// **How a `deinit` gets in.** The `deinit` of a `UDIContext` and of a `UDIAttachment` takes the tree lock like any
/// writer. A context's node is freed only after every child's pointer to the node has been cleared under that child's
/// lock. If the context ever had a child, the node's own lock is then taken and given back once more: this waits for
/// any lookup that had climbed to the node before. An object's weak references are dead before its attachment is. A
/// dead binding is withdrawn by whoever finds it first: a lookup or the attachment.
enum Tree {
  // `lock` excludes overlapping accesses to the variables below, so these accesses are not checked at run time. With
  // the checks, the benchmark "make a scope, bind 3, link 5, end it" would take 12 % longer.

  static let lock = Lock()

  /// Guarded by `lock`: where each instance is bound, in all contexts.
  @exclusivity(unchecked) nonisolated(unsafe) static var instances = CompactTable<InstanceChain>()

  /// Guarded by `lock`: how many providers have been made.
  @exclusivity(unchecked) nonisolated(unsafe) static var providerCount: UInt = 0

  /// Guarded by `lock`: how many instances have been made that have to be closed.
  @exclusivity(unchecked) nonisolated(unsafe) static var unclosedCount: UInt64 = 0

  /// Guarded by `lock`: the watchers to notify of the current change, and the tasks to resume, after the lock has been
  /// given back.
  @exclusivity(unchecked) private nonisolated(unsafe) static var notifications: Notifications?
  /// Guarded by `lock`: the kind of change that watchers are notified of at present. It can differ between parts of a
  /// change.
  @exclusivity(unchecked) private nonisolated(unsafe) static var changeKind = ChangeKind.answer

  /// Guarded by `lock`: how many overrides are in force.
  @exclusivity(unchecked) nonisolated(unsafe) static var overrideCount = 0

  /// Guarded by `lock`: for each thread that is dismantling contexts, the children that it will release next; see
  /// `Node.dismantle`.
  nonisolated(unsafe) static var teardowns: [UInt: [UDIContext]] = [:]

  /// Makes a change: runs `body` under the tree lock, then releases what it has dropped.
  @inline(__always)
  static func change<Result, Failure: Error>(
    _ body: (inout Garbage) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Without `defer`, because the compiler sometimes makes that a function of its own: this takes 5 % more
    // instructions to make an instance that is kept.
    var garbage = Garbage()
    lock.lock()
    do {
      let result = try body(&garbage)
      end(&garbage)
      return result
    } catch {
      end(&garbage)
      throw error
    }
  }

  /// Ends a change: gives back the lock, and then releases what was dropped.
  @inline(__always)
  private static func end(_ garbage: inout Garbage) {
    if let notifications = unsafe notifications { handOver(notifications, &garbage) }
    lock.unlock()
    garbage.release()
  }

  /// Notes that a watcher is to be notified after the lock has been given back.
  static func notify(_ watcher: Watcher) {
    var kind = unsafe changeKind
    if kind == .ignored { return }
    // If the watcher's own lookup causes the change, that lookup already gets the new answer. All that might have
    // changed since is which instance a provider keeps.
    if kind == .answer, watcher.looker == currentThread() { kind = .keptOnly }
    ensureNotifications().watchers.append((watcher, kind))
  }

  /// Resumes a task after the lock has been given back.
  static func resume(_ task: CheckedContinuation<Void, Never>) { ensureNotifications().tasks.append(task) }

  private static func ensureNotifications() -> Notifications {
    if let notifications = unsafe notifications { return notifications }
    let new = Notifications()
    unsafe notifications = new
    return new
  }

  /// Whether this thread runs a watcher's lookup. If so, the changes that it makes to the tree come from that lookup.
  static var isLooking: Bool {
    unsafe Watcher.count > 0 && PerThread.presentResolution?.read { $0.isLooking } ?? false
  }

  /// Runs `body`, which is part of a larger change, and notifies watchers of that part as a change of the given kind.
  @inline(__always)
  static func notifying(_ kind: ChangeKind, _ body: () -> Void) {
    let outer = unsafe changeKind
    // Mostly, the kind stays the same. Then it is not written, because memory that is written moves from core to core.
    // If it were always written, the benchmark "two threads, scopes of one context" would take 5 % longer.
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
