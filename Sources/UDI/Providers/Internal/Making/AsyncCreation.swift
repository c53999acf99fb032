/// An instance that an asynchronous factory is making, for all tasks that want it.
///
/// The factory runs in a task of its own, which has the task-local values and the priority of the task that asked
/// first. The others wait without blocking a thread. A task that is cancelled stops waiting at once. If no task is left
/// that waits, the making is cancelled.
final class AsyncCreation: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.

  /// A task that waits.
  private struct Waiter {
    /// The call that the task is part of, if it is part of one.
    let call: AsyncCall?
    /// The keys that lead from the call to what is being made: those of synchronous factories.
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
  /// Whether nobody waits any more, so that the making has been cancelled. Whoever asks from now on begins anew.
  private(set) var isAbandoned = false
  /// The path of the context that ends the making, because it is being closed.
  private var closedPath: [String]?
  /// Whether an instance has been made and is about to be kept, so that it is too late to abandon the making.
  private var isKeeping = false
  /// The creation that waits for this one to end, because this one was abandoned. Cleared when this one has ended.
  private var successor: AsyncCreation?

  init(_ provider: AsyncFactory) { self.provider = provider }

  deinit {
    guard provider.reach == .mainActor, outcome != nil else { return }
    releaseOnMainActor(outcome.take() as Any)
  }

  /// The instance, once it has been made. Under the tree lock.
  var instance: Instance? { try? outcome?.get() }
  /// Whether nothing will come of it. Under the tree lock.
  var hasFailed: Bool { if case .failure? = outcome { true } else { isAbandoned } }

  // MARK: - Making

  /// Starts the task that makes the instance.
  ///
  /// - Parameters:
  ///   - predecessor: A creation that was abandoned. Its task ends first, so that the factory does not run twice at the
  ///     same time.
  ///   - make: Makes the instance, and keeps it as the lifetime says.
  func start(after predecessor: AsyncCreation?, _ make: @escaping @Sendable () async throws -> Instance) {
    let priority = Task.currentPriority
    let task = Task(priority: priority) {
      await predecessor?.waitForTask()
      do { end(.success(try await make())) } catch { end(.failure(error)) }
    }
    // Meanwhile, somebody more urgent might have come, or the context might have begun to close.
    let (urgent, isAbandoned) = Tree.change { _ -> (TaskPriority?, Bool) in
      self.task = task
      if self.priority > priority { return (self.priority, self.isAbandoned) }
      self.priority = priority
      return (nil, self.isAbandoned)
    }
    if let urgent { raise(task, to: urgent) }
    if isAbandoned { task.cancel() }
  }

  /// Waits until the task has ended. Without a task, there is nothing to wait for.
  func waitForTask() async { await Tree.change({ _ in task })?.value }

  /// Cancels the making, because its context is being closed, and waits until its task has ended.
  ///
  /// - Parameter path: The path of the context.
  func cancel(closing path: [String]) async {
    let task = Tree.change { _ in
      closedPath = path
      // If the task has not been noted yet, it finds this before it calls the factory, or is cancelled when it is
      // noted.
      if self.task == nil { isAbandoned = true }
      return self.task
    }
    task?.cancel()
    await task?.value
  }

  /// Notes that an instance has been made and is about to be kept. Under the tree lock.
  ///
  /// - Returns: Whether the making has not been abandoned.
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
      let waiting = self.waiters.filter { $0.value.continuation != nil }
      for number in waiting.keys { self.waiters[number] = nil }
      return waiting.values
    }
    for waiter in waiters { waiter.continuation?.resume(with: outcome) }
  }

  // MARK: - Waiting

  /// Enters the current task among those that wait. Under the tree lock.
  ///
  /// - Parameters:
  ///   - call: The call that the task is part of, if it is part of one.
  ///   - path: The keys of the synchronous factories that lead from the call to what is being made.
  /// - Returns: The number of the waiter.
  /// - Throws: `ProviderFailure.cycle` if the call would wait for itself.
  func enterNext(_ call: AsyncCall?, _ path: [KeyIdentity]) throws -> UInt {
    if let cycle = cycle(through: call, path) { throw ProviderFailure.cycle(cycle) }
    return enter(call, path)
  }

  /// Enters the task that begins the creation. Under the tree lock.
  ///
  /// - Parameter predecessor: A creation that was abandoned, and that ends before this one begins.
  /// - Throws: `ProviderFailure.cycle` if the predecessor would wait for this creation.
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
  /// - Throws: `CancellationError` if the current task is cancelled, or what the making throws.
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

  /// Raises the priority of the making to that of the current task, if that is higher.
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
    // A task has at least the priority of every task that awaits its value.
    Task.detached(priority: priority) { await task.value }
  }

  // MARK: - Cycles

  /// The keys of the cycle that there would be if a call waited for this creation: from this creation to the call, and
  /// back. Nil if there would be none. Under the tree lock.
  func cycle(through call: AsyncCall?, _ path: [KeyIdentity]) -> [KeyIdentity]? {
    guard let call, let last = call.content?.creation else { return nil }
    // Goes from the call's own creation to those that wait for it, and on, in search of this one. For each creation,
    // the keys of what it makes while it waits, and the index of the creation that it waits for.
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
