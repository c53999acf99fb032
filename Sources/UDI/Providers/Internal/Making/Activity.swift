/// Something that takes its time, and that tasks wait for: a creation (`AsyncCreation`) or a run of `close()`
/// (`Closing`).
///
/// The user's code that an activity runs, a factory or a closer, may itself wait for other activities. All activities
/// therefore form one graph of who waits for whom. Before a task begins to wait, it looks for a circle in this graph,
/// whoever has begun the activities that are part of it.
class Activity: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// A task that waits for the end of the activity.
  private struct Waiter {
    /// The call that the task is part of, if any.
    let call: AsyncCall?
    /// The keys of the synchronous factories that lead from that call to this activity.
    let path: [KeyIdentity]
    /// The activity that cannot go on before this one has ended, if the task is not part of a call.
    let dependent: Activity?
    /// Nil until the task is suspended.
    var continuation: CheckedContinuation<Void, Never>?

    /// The activity that the waiting task is part of; nil if there is none, or if the call has ended.
    var activity: Activity? { dependent ?? call?.activity }
  }

  private var waiters: [UInt: Waiter] = [:]
  private var lastNumber: UInt = 0
  /// Whether the activity has ended. Read this under the tree lock.
  private(set) final var hasEnded = false

  /// The key of what the activity makes; nil if it makes nothing.
  var key: KeyIdentity? { nil }

  // MARK: - Waiting. Under the tree lock, unless it says otherwise

  /// Adds the current task, which wants the activity's result, to the waiters.
  ///
  /// - Parameters:
  ///   - call: The call that the task is part of, if any. `circle` must have found no circle through this call.
  ///   - path: The keys of the synchronous factories that lead from that call to this activity.
  /// - Returns: The number of the waiter.
  final func enter(_ call: AsyncCall?, _ path: [KeyIdentity]) -> UInt {
    add(Waiter(call: call, path: path, dependent: nil))
  }

  /// Adds an activity that cannot go on before this one has ended, but does not want its result.
  ///
  /// - Returns: The number of the waiter.
  final func enter(_ dependent: Activity) -> UInt { add(Waiter(call: nil, path: [], dependent: dependent)) }

  private func add(_ waiter: Waiter) -> UInt {
    lastNumber += 1
    waiters[lastNumber] = waiter
    return lastNumber
  }

  /// Whether a task wants the activity's result.
  final var isWanted: Bool { waiters.values.contains { $0.dependent == nil } }

  /// Waits until the activity has ended, or until another task has called `leave` for this waiter. Do not call this
  /// under a lock.
  ///
  /// - Parameter number: What `enter` returned.
  /// - Returns: False if the waiter was removed by `leave`.
  @discardableResult
  final func wait(_ number: UInt) async -> Bool {
    await withCheckedContinuation { continuation in
      let mustWait = Tree.change { _ in
        if hasEnded || waiters[number] == nil { return false }
        waiters[number]?.continuation = continuation
        return true
      }
      if mustWait { Schedule.reached(.waits) } else { continuation.resume() }
    }
    return Tree.change { _ in waiters.removeValue(forKey: number) } != nil
  }

  /// Removes a waiter and resumes its task. Do not call this under a lock.
  ///
  /// - Parameter body: Called under the tree lock if the waiter was still there.
  final func leave(_ number: UInt, _ body: () -> Void) {
    let waiter = Tree.change { _ in
      let waiter = waiters.removeValue(forKey: number)
      if waiter != nil { body() }
      return waiter
    }
    waiter?.continuation?.resume()
  }

  /// Records that the activity has ended, and resumes the tasks that wait. Each of them removes its waiter itself.
  final func end() {
    hasEnded = true
    for number in waiters.keys { waiters[number]?.continuation.take().map(Tree.resume) }
  }

  // MARK: - Circles

  /// Finds out whether a call would wait for itself if it waited for this activity. Call this under the tree lock.
  ///
  /// - Parameters:
  ///   - call: The call, if any.
  ///   - path: The keys of the synchronous factories that lead from the call to this activity.
  /// - Returns: The keys along the circle, each of which is needed for the one before; nil if there is no circle.
  final func circle(through call: AsyncCall?, _ path: [KeyIdentity]) -> [KeyIdentity]? {
    guard let call, let last = call.activity else { return nil }
    // The search starts at the activity that the call is part of. It goes on to the activities that wait for that one,
    // and so on, until it reaches this one. For each activity, it keeps the keys that lead from that activity to the
    // one it waits for, and the index of the latter.
    var found = [(activity: last, keys: call.path + path, awaited: -1)]
    var known: Set = [ObjectIdentifier(last)]
    var next = 0
    while next < found.count {
      let activity = found[next].activity
      if activity === self {
        return sequence(first: next) { found[$0].awaited < 0 ? nil : found[$0].awaited }.flatMap { found[$0].keys }
          + (key.map { [$0] } ?? [])
      }
      for waiter in activity.waiters.values {
        guard let other = waiter.activity, !other.hasEnded, known.insert(ObjectIdentifier(other)).inserted else {
          continue
        }
        found.append((other, (waiter.call?.path ?? []) + waiter.path, next))
      }
      next += 1
    }
    return nil
  }
}
