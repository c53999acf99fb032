/// The creation of an instance by an asynchronous factory, shared by all tasks that want the instance.
///
/// The factory runs in a separate task, with the task-local values and the priority of the first task that asked. The
/// tasks that want the instance wait without blocking a thread. A cancelled task stops waiting at once. When no task
/// waits any longer, the creation is cancelled.
final class AsyncCreation: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// A task that waits for the instance.
  private struct Waiter {
    /// The call that the task is part of, if any.
    let call: AsyncCall?
    /// The keys of the synchronous factories that lead from that call to the instance.
    let path: [KeyIdentity]
    /// Nil until the task is suspended.
    var continuation: CheckedContinuation<Instance, any Error>?
  }

  private let provider: AsyncFactory
  private var waiters: [UInt: Waiter] = [:]
  private var lastNumber: UInt = 0
  private var outcome: Result<Instance, any Error>?
  private var task: Task<Void, Never>?
  private var priority = TaskPriority.background
  /// Whether the creation has been cancelled because no task waits any longer. Also true if the context began to close
  /// before `start` stored the task. A task that asks from now on begins a new creation, unless the context is closing.
  private(set) var isAbandoned = false
  /// If the creation was cancelled because the context is being closed, the context's path.
  private var closedPath: [String]?
  /// The number of the new instance in the order in which instances are closed.
  private(set) var sequence: UInt64?
  /// Whether the new instance is about to be kept, so that the creation can no longer be abandoned.
  private var isKeeping = false
  /// The creation that has replaced this one, if this one was abandoned. The successor waits until this creation has
  /// ended; after that, the property is nil again.
  private var successor: AsyncCreation?
  /// The list that the creation is in, if its provider has dropped it.
  var dropped: DroppedCreations?
  /// The tasks that wait until the creation has ended, but do not want the instance.
  private var tasks: [CheckedContinuation<Void, Never>] = []

  init(_ provider: AsyncFactory) { self.provider = provider }

  deinit {
    guard provider.reach == .mainActor, outcome != nil else { return }
    releaseOnMainActor(outcome.take() as Any)
  }

  /// The instance, once it has been made. Read this under the tree lock.
  var instance: Instance? { try? outcome?.get() }
  /// Whether the creation has failed or was abandoned. Read this under the tree lock.
  var hasFailed: Bool { if case .failure? = outcome { true } else { isAbandoned } }

  // MARK: - Making

  /// Starts the task that makes the instance.
  ///
  /// - Parameters:
  ///   - predecessor: The abandoned creation that this one replaces. The new task waits until the predecessor's task
  ///     has ended, so that the factory does not run twice at the same time.
  ///   - make: Makes the instance, and keeps it as the lifetime says.
  func start(after predecessor: AsyncCreation?, _ make: @escaping @Sendable () async throws -> Instance) {
    let priority = Task.currentPriority
    let task = Task(priority: priority) {
      await predecessor?.waitForEnd()
      do { end(.success(try await make())) } catch { end(.failure(error)) }
    }
    // In the meantime, a task with a higher priority might have begun to wait, or the context might have begun to
    // close.
    let (urgent, isAbandoned) = Tree.change { _ -> (TaskPriority?, Bool) in
      self.task = task
      if self.priority > priority { return (self.priority, self.isAbandoned) }
      self.priority = priority
      return (nil, self.isAbandoned)
    }
    if let urgent { raise(task, to: urgent) }
    if isAbandoned { task.cancel() }
  }

  /// Waits until the factory has returned, and the instance is kept or dropped.
  func waitForEnd() async {
    raisePriority()
    await withCheckedContinuation { continuation in
      let isOver = Tree.change { _ in
        if outcome == nil { tasks.append(continuation) }
        return outcome != nil
      }
      if isOver { continuation.resume() }
    }
  }

  /// Cancels the creation, because its context is being closed.
  ///
  /// - Parameter path: The path of the context.
  func cancel(closing path: [String]) {
    let task = Tree.change { _ in
      closedPath = path
      // If `start` has not stored its task yet, it cancels the task when it does, because of `isAbandoned`.
      if self.task == nil { isAbandoned = true }
      return self.task
    }
    task?.cancel()
  }

  /// Gives the new instance its number in the order in which instances are closed. Call this under the tree lock.
  func numberInstance() { sequence = Tree.nextUnclosed() }

  /// Records that the new instance is about to be kept. Call this under the tree lock.
  ///
  /// - Returns: False if the creation has been abandoned.
  func beginKeeping() -> Bool {
    isKeeping = !isAbandoned
    return isKeeping
  }

  private func end(_ outcome: Result<Instance, any Error>) {
    var outcome = outcome
    let waiters = Tree.change { garbage in
      if case .failure = outcome, let closedPath { outcome = .failure(ProviderFailure.closed(closedPath)) }
      self.outcome = outcome
      if let successor { garbage.add(successor) }
      successor = nil
      for task in tasks { Tree.resume(task) }
      tasks = []
      dropped.take()?.remove(self)
      let waiting = self.waiters.filter { $0.value.continuation != nil }
      for number in waiting.keys { self.waiters[number] = nil }
      return waiting.values
    }
    for waiter in waiters { waiter.continuation?.resume(with: outcome) }
  }

  // MARK: - Waiting

  /// Adds the current task to the waiters. Call this under the tree lock.
  ///
  /// - Parameters:
  ///   - call: The call that the task is part of, if any.
  ///   - path: The keys of the synchronous factories that lead from the call to the instance.
  /// - Returns: The number of the waiter.
  /// - Throws: `ProviderFailure.cycle` if the call would wait for itself.
  func enterNext(_ call: AsyncCall?, _ path: [KeyIdentity]) throws -> UInt {
    if let cycle = cycle(through: call, path) { throw ProviderFailure.cycle(cycle) }
    return enter(call, path)
  }

  /// Adds a waiter for the task that begins this creation. Call this under the tree lock.
  ///
  /// - Parameter predecessor: The abandoned creation that this one replaces. The factory does not run before the
  ///   predecessor has ended.
  /// - Throws: `ProviderFailure.cycle` if the predecessor would have to wait for this creation.
  func enterFirst(_ call: AsyncCall?, _ path: [KeyIdentity], after predecessor: AsyncCreation?) throws -> UInt {
    if let predecessor, predecessor.outcome == nil {
      if let cycle = predecessor.cycle(through: call, path) { throw ProviderFailure.cycle(cycle) }
      predecessor.successor = self
    }
    return enter(call, path)
  }

  private func enter(_ call: AsyncCall?, _ path: [KeyIdentity]) -> UInt {
    lastNumber += 1
    waiters[lastNumber] = Waiter(call: call, path: path)
    return lastNumber
  }

  /// Waits for the instance.
  ///
  /// - Parameter number: What `enterFirst` or `enterNext` returned.
  /// - Throws: `CancellationError` if the current task is cancelled, or the error with which the creation failed.
  func wait(_ number: UInt) async throws -> Instance {
    raisePriority()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = Tree.change { _ -> Result<Instance, any Error>? in
          guard waiters[number] != nil else { return .failure(CancellationError()) }
          if outcome == nil { waiters[number]?.continuation = continuation } else { waiters[number] = nil }
          return outcome
        }
        if let result { continuation.resume(with: result) } else { Schedule.reached(.waits) }
      }
    } onCancel: {
      leave(number)
    }
  }

  private func leave(_ number: UInt) {
    let (waiter, task) = Tree.change { _ -> (Waiter?, Task<Void, Never>?) in
      guard let waiter = waiters.removeValue(forKey: number) else { return (nil, nil) }
      guard waiters.isEmpty, outcome == nil, !isKeeping else { return (waiter, nil) }
      isAbandoned = true
      return (waiter, self.task)
    }
    waiter?.continuation?.resume(throwing: CancellationError())
    task?.cancel()
  }

  /// Raises the priority of the task that makes the instance to that of the current task, if that is higher.
  private func raisePriority() {
    let current = Task.currentPriority
    let task = Tree.change { _ -> Task<Void, Never>? in
      guard current > priority else { return nil }
      priority = current
      return self.task
    }
    if let task { raise(task, to: current) }
  }

  private func raise(_ task: Task<Void, Never>, to priority: TaskPriority) {
    // The runtime raises a task's priority to that of any task that awaits its value.
    Task.detached(priority: priority) { await task.value }
  }

  // MARK: - Cycles

  /// Finds out whether a call would wait for itself if it waited for this creation. If so, returns the keys of the
  /// cycle, which begins and ends with this creation; otherwise returns nil. Call this under the tree lock.
  func cycle(through call: AsyncCall?, _ path: [KeyIdentity]) -> [KeyIdentity]? {
    guard let call, let last = call.content?.creation else { return nil }
    // The search starts at the creation that the call is part of. It goes on to the creations that wait for that
    // creation, and so on, until it reaches this object. For each creation, it keeps the keys that lead from that
    // creation to the one it waits for, and the index of the latter.
    var found = [(creation: last, keys: call.path + path, awaited: -1)]
    var known: Set = [ObjectIdentifier(last)]
    var next = 0
    while next < found.count {
      let creation = found[next].creation
      if creation === self {
        var keys: [KeyIdentity] = []
        var index = next
        while index >= 0 {
          keys += found[index].keys
          index = found[index].awaited
        }
        return keys + [provider.key]
      }
      for waiter in creation.waiters.values {
        guard let call = waiter.call, let other = call.content?.creation else { continue }
        if known.insert(ObjectIdentifier(other)).inserted { found.append((other, call.path + waiter.path, next)) }
      }
      if let other = creation.successor, known.insert(ObjectIdentifier(other)).inserted {
        found.append((other, [], next))
      }
      next += 1
    }
    return nil
  }
}
