import Dispatch
import Synchronization

/// Something that takes its time, and that threads and tasks wait for: a creation (`Creation`), an operation of the
/// user (`Operation`), or the end of a context (`ClosingPart`). Code that waits for changes of something that lasts,
/// such as a watcher, uses an activity, too.
///
/// The user's code that an activity runs, such as a factory or a closer, may itself wait for other activities. All
/// activities therefore form one graph of who waits for whom. Before anything begins to wait, it looks for a circle in
/// this graph (`enter`), unless it cannot be part of one (`add`).
class Activity: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock. Accesses under it cannot overlap, so frequent ones
  // are not checked for that ("request-close" in `Benchmarks/instructions`).

  /// A thread, a task or another activity that waits for the end of an activity.
  enum Waiter {
    /// A thread, which may be making several instances, one for the other.
    case thread(Unretained<Resolution>)
    /// A task, and the asynchronous call that it is part of, if any. The keys are those of the synchronous factories
    /// that lead from that call to the activity.
    case task(AsyncCall?, through: [KeyIdentity])
    /// Another activity: the end of a context, which waits for that of a creation, of an operation or of a context
    /// below, but does not want the instance.
    case activity(Activity)

    /// The activities that cannot go on while this waits.
    fileprivate var dependents: [Activity] {
      let all: [Activity] =
        switch self {
        case .thread(let thread): thread.read { $0.creations }
        case .task(let call, _): call?.blockedActivity.map { [$0] } ?? []
        case .activity(let activity): [activity]
        }
      return all.filter { !$0.hasEnded }
    }

    /// Whether a thread or a call waits on behalf of an optional parameter.
    fileprivate var isForOptional: Bool {
      switch self {
      case .thread(let thread): thread.read { unsafe $0.optionalLookups > 0 }
      case .task(let call, _): call?.waitsForOptional.load(ordering: .relaxed) == true
      case .activity: false
      }
    }

    /// The keys that lead from one of the dependents to the activity that this waits for.
    fileprivate func keys(from dependent: Activity) -> [KeyIdentity] {
      switch self {
      case .thread(let thread): thread.read { thread in (dependent as? Creation).map { thread.keys(from: $0) } ?? [] }
      case .task(let call, let keys): (call?.keys ?? []) + keys
      case .activity: []
      }
    }
  }

  /// A waiter and, while it is suspended, the continuation of its task.
  private final class Waiting {
    let waiter: Waiter
    @safe @exclusivity(unchecked) var continuation: CheckedContinuation<Void, Never>?

    init(_ waiter: Waiter) { self.waiter = waiter }

    var isActivity: Bool { if case .activity = waiter { true } else { false } }
    /// Whether the waiter has to look again instead of waiting: see `circle`.
    var looksAgain = false
  }

  /// The waiters, by their numbers.
  @exclusivity(unchecked) private final var waiting = ObjectTable<Waiting>()
  /// The number of the last waiter; 0 if nothing has waited. Most creations end before anything waits for them.
  @exclusivity(unchecked) private final var lastNumber: UInt64 = 0
  /// How many threads and tasks wait.
  private final var wantedBy = 0
  /// The group that threads wait for; made and entered for the first of them, and left at the end.
  @safe @exclusivity(unchecked) private final var gate: DispatchGroup?
  /// Whether the activity has ended. Stays false for a creation that nothing has waited for. Read this under the tree
  /// lock.
  private(set) final var hasEnded = false

  /// The extras of the context that `delayClosing` was called for.
  private final var delayed: NodeExtras?

  /// The key of the instance that the activity makes or runs; nil if there is none.
  var key: KeyIdentity? { nil }

  /// Whether the activity is an operation that its context's closing has ended.
  var isEndedByClosing: Bool { false }

  /// The activity that cannot go on before this one has ended, although it is no waiter. Called under the tree lock.
  var following: Activity? { nil }

  /// Raises the priority of the activity's task, if it has one, to that of the current task.
  func raisePriority() {}

  /// The activity's task, if it has one.
  final var task: Task<Void, Never>?
  /// Not nil if the activity has been cancelled: the path of the context that is being closed; empty if there is none,
  /// because an operation was dropped or took too long.
  private(set) final var closedPath: [String]?

  /// Cancels the activity's task, if it has one. Do not call this under a lock.
  ///
  /// - Parameter path: The path of the outermost context that is being closed; empty if none is.
  final func cancel(closing path: [String]) {
    Tree.change { _ in
      closedPath = path
      return task
    }?.cancel()
  }

  /// Lets the closing of a context wait for the activity, until `leaveContext` is called. Call this under the tree
  /// lock.
  final func delayClosing(of node: Node) {
    delayed = node.treeLocked.ensureExtras()
    delayed?.making.activities.append(self)
  }

  /// Ends the delay that `delayClosing` has begun. The caller must hold the activity, so that it is not released under
  /// the lock. Call this under the tree lock.
  @inline(__always)
  final func leaveContext() { if delayed != nil { endDelay() } }

  @inline(never)
  private final func endDelay() { delayed.take()?.making.activities.removeAll { $0 === self } }

  // MARK: - Waiting. Under the tree lock, unless it says otherwise

  /// Adds a waiter, which then has to call `wait` or `block`.
  ///
  /// - Returns: The number of the waiter.
  /// - Throws: `ProviderFailure.cycle` if the waiter would wait for itself.
  final func enter(_ waiter: Waiter) throws -> UInt64 {
    if let circle = circle(through: waiter) { throw ProviderFailure.cycle(circle) }
    return add(waiter)
  }

  /// Adds a waiter that cannot be part of a circle.
  final func add(_ waiter: Waiter) -> UInt64 {
    unsafe lastNumber += 1
    let new = Waiting(waiter)
    unsafe waiting[lastNumber] = new
    if !new.isActivity { wantedBy += 1 }
    if case .thread = waiter, gate == nil {
      gate = DispatchGroup()
      gate?.enter()
    }
    return unsafe lastNumber
  }

  /// Whether anything waits, or has waited.
  final var hasBeenAwaited: Bool { unsafe lastNumber > 0 }

  /// Whether a thread or a task, and not only another activity, waits for the end.
  final var isWanted: Bool { wantedBy > 0 }

  /// Blocks this thread until the activity has ended. Do not call this under a lock.
  ///
  /// - Parameter number: The number of the waiter.
  final func block(_ number: UInt64) {
    let gate = Tree.change { _ in unsafe waiting[number]?.looksAgain == true ? nil : self.gate }
    Schedule.reached(.waits)
    gate?.wait()
    _ = remove(number)
  }

  /// Waits until the activity has ended, or until `leave` is called for this waiter, which happens if the task is
  /// cancelled. Do not call this under a lock.
  ///
  /// - Parameter number: The number of the waiter.
  /// - Returns: False if the waiter was removed by `leave`.
  // Not inlined, nor is the next method: code that waits would be compiled into all that can come before and after it.
  @discardableResult @inline(never)
  nonisolated(nonsending) final func wait(_ number: UInt64) async -> Bool {
    if Tree.change({ _ in hasEnded }) { return remove(number) != nil }
    await withCheckedContinuation { continuation in
      let mustWait = Tree.change { _ in
        guard !hasEnded, let own = unsafe waiting[number], !own.looksAgain else { return false }
        own.continuation = continuation
        return true
      }
      if mustWait { Schedule.reached(.waits) } else { continuation.resume() }
    }
    return remove(number) != nil
  }

  /// Does the same as `wait`, but calls `abandon` if the task is cancelled.
  @discardableResult @inline(never)
  nonisolated(nonsending) final func waitUnlessCancelled(_ number: UInt64) async -> Bool {
    await withTaskCancellationHandler(operation: { await wait(number) }, onCancel: { abandon(number) })
  }

  /// Removes a waiter whose task has been cancelled.
  func abandon(_ number: UInt64) { leave(number) }

  /// Removes a waiter. The waiter may hold the last reference to its call, so it is released after the lock has been
  /// released.
  private final func remove(_ number: UInt64) -> Waiting? {
    Tree.change { _ in
      let removed = unsafe exchange(&waiting[number], with: nil)
      if removed?.isActivity == false { wantedBy -= 1 }
      return removed
    }
  }

  /// Removes a waiter and resumes its task. Do not call this under a lock.
  final func leave(_ number: UInt64) { remove(number)?.continuation.take()?.resume() }

  /// Records that the activity has ended, and wakes everything that waits. Each waiter removes itself.
  @inline(never) final func wake() {
    hasEnded = true
    gate.take()?.leave()
    unsafe waiting.forEach { if let continuation = $0.continuation.take() { Tree.resume(continuation) } }
  }

  /// Resumes all tasks that wait, although the activity goes on: they wait for a change, not for the end. For them,
  /// `wait` returns false.
  @inline(never) final func wakeForChange() {
    unsafe waiting.forEach { if let continuation = $0.continuation.take() { Tree.resume(continuation) } }
    unsafe waiting = ObjectTable()
    wantedBy = 0
  }

  /// Waits for changes until there is a result. Do not call this under a lock.
  ///
  /// - Parameter result: Called under the tree lock, at once and after each change; nil to go on waiting.
  /// - Returns: The result; nil if the task is cancelled.
  nonisolated(nonsending) final func waitForChange<Result>(_ result: () -> Result?) async -> Result? {
    while !Task.isCancelled {
      Schedule.reached(.awaitsChange)
      let (found, number) = Tree.change { _ -> (Result?, UInt64) in
        let found = result()
        return (found, found == nil ? add(.task(nil, through: [])) : 0)
      }
      if let found { return found }
      await waitUnlessCancelled(number)
    }
    return nil
  }

  // MARK: - Circles

  /// Finds out whether something would wait for itself if it waited for this activity. Call this under the tree lock.
  ///
  /// If the circle goes through a wait on behalf of an optional parameter, that waiter looks again, finds the circle
  /// itself, and does without the dependency. Then there is no circle for anybody else.
  ///
  /// - Returns: The keys along the circle, each of which is needed for the one before; nil if there is no circle.
  final func circle(through waiter: Waiter) -> [KeyIdentity]? {
    // The search starts at the activities that cannot go on while the waiter waits. It goes on to those that wait for
    // them, and so on, until it reaches this one. For each activity, it keeps the waiter on whose behalf it cannot go
    // on, and the index of the activity that this waiter waits for.
    var found: [(activity: Activity, waiter: Waiter, waiting: Waiting?, awaited: Int)] = []
    var known = ObjectSet()
    func add(_ waiter: Waiter, _ waiting: Waiting? = nil, awaiting index: Int) {
      for activity in waiter.dependents where known.find(Unretained(activity)) == nil {
        known.insert(Unretained(activity))
        found.append((activity, waiter, waiting, index))
      }
    }
    add(waiter, awaiting: -1)
    var next = 0
    while next < found.count {
      let activity = found[next].activity
      if activity === self {
        var circle: [KeyIdentity] = []
        while next >= 0 {
          if let waiting = found[next].waiting, waiting.waiter.isForOptional, !waiter.isForOptional {
            waiting.looksAgain = true
            // All threads that wait there look again.
            found[found[next].awaited].activity.gate.take()?.leave()
            if let continuation = waiting.continuation.take() { Tree.resume(continuation) }
            return self.circle(through: waiter)
          }
          circle += found[next].waiter.keys(from: found[next].activity)
          next = found[next].awaited
        }
        return circle + (key.map { [$0] } ?? [])
      }
      unsafe activity.waiting.forEach { if !$0.looksAgain { add($0.waiter, $0, awaiting: next) } }
      if let following = activity.following { add(.activity(following), awaiting: next) }
      next += 1
    }
    return nil
  }
}
