import Synchronization

/// All trees in the process: the lock that every change to a tree takes, and the state that all trees share.
///
/// # The concurrency model
///
/// **What each lock guards.**
///
/// - The tree lock, `Tree.lock`, guards every change to any tree: to children, bindings, providers and the instances
///   that providers keep (`Node.treeLocked` leads to all of this). It also guards what is not part of one tree: for
///   example, the places where an instance is bound, what each object has bound besides itself, and the records of who
///   makes which instance and who waits for it.
/// - A node's lock, `Node.lock`, guards the part of the node that lookups read (`Node.shared`): its slots, its parent,
///   its search, and whether lookups from it are recorded.
/// - An attachment's lock, `UDIAttachment.lock`, guards which context its object is attached to.
/// - The locks of the tables guard the interned types and the keys with names, and also the root context, the reporter
///   and the observer of the process, and what the main actor has yet to release.
///
/// A writer changes `Node.shared` while it holds the tree lock *and* the lock of that node, so holding either lock is
/// enough to *read* it. There is one exception: the tree lock alone is enough to write if no other code can reach the
/// node. This is the case while its context is being made. It is also the case when its context is going away, if the
/// context never had children from which a lookup could climb to it.
///
/// Lookups are cheap because one lock is enough to read. A lookup that goes down, or stays where it is, takes only the
/// lock of the context where it begins, even if it finds an object that is bound far below. A lookup that climbs locks
/// each parent before it unlocks the child. A lookup by an object also takes the lock of the object's attachment.
/// Writers take the tree lock. So do all verbs that find contexts, lookups of all dependencies of a type, such as
/// `linkAll`, and a lookup of one dependency that has to look again (`Node.locate`).
///
/// **Making.** Factories run while no lock is held. Work that takes its time, and that others may wait for, is an
/// `Activity`: the making of an instance, by a thread or by a task (`Creation`), an operation of the user
/// (`Operation`), the end of a context (`ClosingPart`), and a part of a making on its actor (`Factory.takeOrWait`). A
/// thread or a task that wants the result first joins the waiters of the activity, under the tree lock, unless it would
/// then wait for itself: the activities know who waits for whom, so that a circle is found before the wait begins. Then
/// a thread waits for a group, and a task is suspended, with no lock held. Continuations are resumed, and tasks started
/// and cancelled, while no lock is held. A synchronous lookup never waits for an asynchronous factory.
///
/// **Order.** tree → attachment → node → its parent's node (for lookups that climb). A writer holds one node's lock at
/// a time. The locks of the tables are leaves: nothing is locked while one of them is held. No thread takes locks in a
/// different order, so there is no deadlock.
///
/// **When a lookup takes effect.** A lookup takes effect while it holds the lock of the context where it begins. A
/// lookup that climbs sees each context as it is when the lookup gets there. It can therefore miss an instance that
/// moves down past it. For example, the instance is first bound further down, where the lookup has already looked, and
/// then withdrawn further up, before the lookup looks there.
///
/// A change works its way up from the context where it happened. Each context shows the change as soon as its own slot
/// is written. When the call that makes the change returns, all contexts show it. A move has three steps: the new
/// parent and the contexts above it learn of the moved context; then its parent changes; then the old parent and the
/// contexts above it forget the moved context. As a result, lookups from a context that sees both places see the moved
/// subtree at every moment, and a lookup upwards from inside the subtree sees either the old parent or the new one.
///
/// **Nothing is released under a lock.** Releasing an object can run its `deinit`, which might bind, link or move
/// contexts. Under a lock, this `deinit` could try to take a lock that its own thread holds, which stops the process
/// (see `Lock`). Everything that a change drops therefore goes into `Garbage`, which is emptied after the lock has been
/// released. The same goes for references that are loaded only to check whether an object is alive: when they are
/// released, they might be the last ones. References to nodes are not counted, so they need no such care (see `Node`).
///
/// **No user code runs under a lock.** The calls that a change has to make are put off until the lock has been
/// released. A report, or the reset of a user's storage, becomes a `LateCall` in the garbage. `Tree.resume` puts off
/// resuming a task.
///
/// **How a `deinit` gets in.** The `deinit` of a `UDIContext` and of a `UDIAttachment` takes the tree lock like any
/// writer. Before a context's node is freed, every `shared.parent` that points to it, in a child or in a closed
/// context, is cleared under the lock of the node that has it. If the context ever had a child, the lock of the node to
/// be freed is then taken and released once more, to wait for any lookup that has already climbed to the node. Weak
/// references to an object become nil before its attachment is released. A dead binding is withdrawn by whatever finds
/// it first: for example, the attachment's `deinit`, a lookup, or a later `bind`.
package enum Tree {
  // `lock` excludes overlapping accesses to the variables below, so frequent ones are not checked at run time. With the
  // checks, a scope takes 12 % longer ("make a scope, bind 3, link 5, end it" in `Benchmarks/compare`).

  static let lock = Lock()

  /// Where each instance is bound, in all contexts. Guarded by `lock`.
  @exclusivity(unchecked) nonisolated(unsafe) static var instances = CompactTable<InstanceChain>()

  /// How many times a provider has been added to a context. The provider gets this number as its `id`. Guarded by
  /// `lock`.
  @exclusivity(unchecked) nonisolated(unsafe) static var providerCount: UInt = 0

  /// Whether a context has ever had a provider with a closer, or an override. Until then, nobody notes who helps to
  /// make what, which saves some 20 instructions for each kept instance ("scoped" in `Benchmarks/instructions`).
  /// Guarded by `lock`.
  @exclusivity(unchecked) nonisolated(unsafe) static var hasClosers = false
  /// Whether there has ever been an override. From then on, help is noted across contexts, too (`Provider.noteHelp`).
  /// Guarded by `lock`.
  @exclusivity(unchecked) nonisolated(unsafe) static var hasOverrides = false

  /// The calls to make when the current change has ended and the lock has been released: they resume tasks. Guarded by
  /// `lock`.
  // It is nil instead of empty, because nil needs no initialisation at run time, for which each change would check.
  @exclusivity(unchecked) private nonisolated(unsafe) static var afterwards: [() -> Void]?

  /// Makes a change, or reads something: runs `body` under the tree lock, releases the lock, and then does what had to
  /// wait for that: releases the garbage and resumes tasks.
  ///
  /// Only two calls are compiled in each place, because there are more than a hundred places.
  @inline(__always)
  package static func change<Result, Failure: Error>(
    _ body: (inout Garbage) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // There is no `defer` here, because the compiler sometimes makes a separate function of what is deferred.
    begin()
    var garbage = Garbage()
    do {
      let result = try body(&garbage)
      end(consume garbage)
      return result
    } catch {
      end(consume garbage)
      throw error
    }
  }

  @inline(never)
  private static func begin() { lock.lock() }

  /// Ends a change: releases the lock, and then does what had to wait for that.
  @inline(never)
  private static func end(_ garbage: consuming Garbage) {
    let calls = unsafe afterwards.take()
    lock.unlock()
    garbage.release()
    // No lock is held, which is necessary because user code may run here, for example an executor's.
    if let calls { for call in calls { call() } }
  }

  /// Arranges that a task is resumed after the lock has been released.
  static func resume(_ task: CheckedContinuation<Void, Never>) {
    unsafe afterwards = afterwards ?? []
    unsafe afterwards?.append { task.resume() }
  }

  /// Whether anybody follows anything. Call this under the tree lock.
  static var isFollowed: Bool { unsafe followerCount > 0 }

  /// The number of those who follow something. Guarded by `lock`.
  @exclusivity(unchecked) nonisolated(unsafe) static var followerCount = 0

  /// How many looks are under way in the process. Written under the tree lock. While there are none, no thread has to
  /// check whether it performs one.
  static let looks = Atomic<Int>(0)

  /// Whether any look is under way.
  @inline(__always)
  static var areLooking: Bool { looks.load(ordering: .relaxed) != 0 }

  /// Whether this thread is performing a look (a lookup for a watcher), so that its changes to the tree come from that
  /// look.
  static var isLooking: Bool { areLooking && ThreadState.hereIfAny?.read { unsafe $0.isLooking } ?? false }
}

/// The objects that must not be released while a lock is held. They are the objects that a change has dropped, and
/// those that were loaded only to look at them. They also include calls of user code (`LateCall`), which are made by
/// releasing them.
///
/// It cannot be copied, because a copy would keep what the garbage releases.
package struct Garbage: ~Copyable {
  // Most changes drop at most one object, which needs no array.
  private var first: AnyObject?
  private var rest: [AnyObject]?
  /// Objects that have to be released on the main actor.
  private var mainActorObjects: [AnyObject]?

  package init() {}

  package mutating func add(_ object: consuming AnyObject) {
    if first == nil { return first = object }
    if rest == nil { rest = [] }
    rest?.append(object)
  }

  /// Adds an object that was loaded only to look at it. If the loaded reference has become the last one, the garbage
  /// releases the object: on the main actor if that is the object's reach.
  package mutating func add(_ object: consuming AnyObject, _ reach: UDIReach) {
    Schedule.reached(.loadedToLook)
    guard reach == .mainActor else { return add(object) }
    if mainActorObjects == nil { mainActorObjects = [] }
    mainActorObjects?.append(object)
  }

  // This method is always inlined, so that the compiler can leave it out of changes that drop nothing.
  @inline(__always)
  package mutating func release() {
    // If there is nothing first, there is no rest, but the compiler does not know that, and would release it.
    if first == nil, rest == nil, mainActorObjects == nil { return }
    first = nil
    rest = nil
    if let mainActorObjects = mainActorObjects.take() { releaseOnMainActor(consume mainActorObjects) }
  }

  /// Keeps an object alive that was loaded from a weak reference, which might by now be the last reference to it.
  ///
  /// - Returns: The object.
  mutating func held<Object: AnyObject>(_ object: Object?, _ reach: UDIReach = .anywhere) -> Object? {
    if let object { add(object, reach) }
    return object
  }
}
