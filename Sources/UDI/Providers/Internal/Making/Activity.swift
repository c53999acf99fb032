/// Something that takes its time, and that threads and tasks wait for: a creation (`Creation`), a run of `close()`
/// (`Closing`), or a synchronous operation on an actor (`Visit`).
///
/// The user's code that an activity runs, such as a factory or a closer, may itself wait for other activities. All
/// activities therefore form one graph of who waits for whom. Before anything begins to wait, it looks for a circle in
/// this graph (`enter`), unless it cannot be part of one (`add`).
class Activity: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// What waits for the end of an activity.
  enum Waiter {
    /// A thread, which may be making several instances, one for the other.
    case thread(Unretained<Resolution>)
    /// A task, and the asynchronous call that it is part of, if any. The keys are those of the synchronous factories
    /// that lead from that call to the activity.
    case task(AsyncCall?, through: [KeyIdentity])
    /// Another activity: a run of `close()`, which waits for the end of a creation or of an earlier run, but does not
    /// want the instance.
    case activity(Activity)

    /// The activities that cannot go on while this waits.
    fileprivate var dependents: [Activity] {
      let all: [Activity] =
        switch self {
        case .thread(let thread): thread.read { $0.creations }
        // A call that has ended is part of no activity any more.
        case .task(let call, _): call?.activity.map { [$0] } ?? []
        case .activity(let activity): [activity]
        }
      return all.filter { !$0.hasEnded }
    }

    /// The keys that lead from one of the dependents to what is waited for.
    fileprivate func keys(from dependent: Activity) -> [KeyIdentity] {
      switch self {
      case .thread(let thread): thread.read { thread in (dependent as? Creation).map { thread.keys(from: $0) } ?? [] }
      case .task(let call, let keys): (call?.keys ?? []) + keys
      case .activity: []
      }
    }
  }

  /// What waits. It is made for the first waiter, because most creations end before anything waits for them.
  private final class Queue {
    var waiters: [UInt: Waiter] = [:]
    /// The continuations of the tasks that are suspended, by the numbers of the waiters.
    var continuations: [UInt: CheckedContinuation<Void, Never>] = [:]
    var lastNumber: UInt = 0
    /// The gate at which threads wait; made for the first of them.
    var gate: Gate?
  }

  /// Only set once, so accesses are not checked for overlaps.
  @exclusivity(unchecked) private final var queue: Queue?
  /// Whether the activity has ended. Stays false for a creation that nothing has waited for. Read this under the tree
  /// lock.
  private(set) final var hasEnded = false

  /// The key of what the activity makes; nil if it makes nothing.
  var key: KeyIdentity? { nil }

  // MARK: - Waiting. Under the tree lock, unless it says otherwise

  /// Adds a waiter, which then has to call `wait` or `block`.
  ///
  /// - Returns: The number of the waiter.
  /// - Throws: `ProviderFailure.cycle` if the waiter would wait for itself.
  final func enter(_ waiter: Waiter) throws -> UInt {
    if let circle = circle(through: waiter) { throw ProviderFailure.cycle(circle) }
    return add(waiter)
  }

  /// Adds a waiter that cannot be part of a circle.
  final func add(_ waiter: Waiter) -> UInt {
    let queue = unsafe queue ?? Queue()
    unsafe self.queue = queue
    queue.lastNumber += 1
    queue.waiters[queue.lastNumber] = waiter
    if case .thread = waiter, queue.gate == nil { queue.gate = Gate() }
    return queue.lastNumber
  }

  /// Whether anything waits, or has waited.
  final var hasBeenAwaited: Bool { unsafe queue != nil }

  /// Whether a thread or a task, and not only another activity, waits for the end.
  final var isWanted: Bool {
    waiters.contains { if case .activity = $0 { false } else { true } }
  }

  private final var waiters: some Collection<Waiter> { (unsafe queue?.waiters ?? [:]).values }

  /// Blocks this thread until the activity has ended. Do not call this under a lock.
  ///
  /// - Parameter number: The number of the waiter.
  final func block(_ number: UInt) {
    let gate = Tree.change { _ in unsafe queue?.gate }
    Schedule.reached(.waits)
    gate?.wait()
    Tree.change { _ in unsafe queue?.waiters[number] = nil }
  }

  /// Waits until the activity has ended, or until `leave` is called for this waiter, which happens if the task is
  /// cancelled. Do not call this under a lock.
  ///
  /// - Parameter number: The number of the waiter.
  /// - Returns: False if the waiter was removed by `leave`.
  @discardableResult
  final func wait(_ number: UInt) async -> Bool {
    await withCheckedContinuation { continuation in
      let mustWait = Tree.change { _ in
        if hasEnded { return false }
        guard let queue = unsafe queue, queue.waiters[number] != nil else { return false }
        queue.continuations[number] = continuation
        return true
      }
      if mustWait { Schedule.reached(.waits) } else { continuation.resume() }
    }
    // The waiter may be the last to hold its call, so it is released after the lock has been released.
    return Tree.change { _ in unsafe queue?.waiters.removeValue(forKey: number) } != nil
  }

  /// Removes a waiter and resumes its task. Do not call this under a lock.
  final func leave(_ number: UInt) {
    let (waiter, continuation) = Tree.change { _ in
      unsafe (queue?.waiters.removeValue(forKey: number), queue?.continuations.removeValue(forKey: number))
    }
    continuation?.resume()
    _ = consume waiter
  }

  /// Records that the activity has ended, and wakes everything that waits. Each waiter removes itself.
  final func wake() {
    hasEnded = true
    guard let queue = unsafe queue else { return }
    queue.gate?.open()
    for continuation in queue.continuations.values { Tree.resume(continuation) }
    queue.continuations = [:]
  }

  // MARK: - Circles

  /// Finds out whether something would wait for itself if it waited for this activity. Call this under the tree lock.
  ///
  /// - Returns: The keys along the circle, each of which is needed for the one before; nil if there is no circle.
  final func circle(through waiter: Waiter) -> [KeyIdentity]? {
    // The search starts at the activities that cannot go on while the waiter waits. It goes on to those that wait for
    // them, and so on, until it reaches this one. For each activity, it keeps the waiter on whose behalf it cannot go
    // on, and the index of the activity that this waiter waits for.
    var found = waiter.dependents.map { (activity: $0, waiter: waiter, awaited: -1) }
    var known = Set(found.map { ObjectIdentifier($0.activity) })
    var next = 0
    while next < found.count {
      let activity = found[next].activity
      if activity === self {
        let circle = sequence(first: next) { found[$0].awaited < 0 ? nil : found[$0].awaited }
        return circle.flatMap { found[$0].waiter.keys(from: found[$0].activity) } + (key.map { [$0] } ?? [])
      }
      for other in activity.waiters {
        for dependent in other.dependents where known.insert(ObjectIdentifier(dependent)).inserted {
          found.append((dependent, other, next))
        }
      }
      next += 1
    }
    return nil
  }
}
