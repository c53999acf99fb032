/// The creation of an instance by an asynchronous factory, shared by all tasks that want the instance.
///
/// The factory runs in a separate task, with the task-local values and the priority of the first task that asked. The
/// tasks that want the instance wait without blocking a thread. A cancelled task stops waiting at once. When no task
/// waits any longer, the creation is abandoned: its task is cancelled, unless the factory has not begun yet.
final class AsyncCreation: Activity, @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  private let provider: AsyncFactory
  private var outcome: Result<Instance, any Error>?
  private var task: Task<Void, Never>?
  private var priority = TaskPriority.background
  /// Whether the factory has begun. It does not begin before the creation that this one replaces has ended.
  private var hasBegun = false
  /// Whether no task waits any longer, or the context began to close before the factory began.
  private var isAbandoned = false
  /// If the creation was cancelled because the context is being closed, the context's path.
  private var closedPath: [String]?
  /// The number of the new instance in the order in which instances are closed.
  private(set) var sequence: UInt64?
  /// Whether the new instance is about to be kept, so that the creation can no longer be abandoned.
  private var isKeeping = false
  /// The list that the creation is in, if its provider has dropped it.
  var dropped: DroppedCreations?

  init(_ provider: AsyncFactory) { self.provider = provider }

  deinit {
    guard provider.reach == .mainActor, outcome != nil else { return }
    releaseOnMainActor(outcome.take() as Any)
  }

  override var key: KeyIdentity? { provider.key }

  /// The instance, once it has been made. Read this under the tree lock.
  var instance: Instance? { try? outcome?.get() }

  // MARK: - Making

  /// Starts the task that makes the instance.
  ///
  /// - Parameters:
  ///   - predecessor: The abandoned creation that this one replaces, and the number of this creation among its waiters.
  ///     The new task waits until the predecessor's task has ended, so that the factory does not run twice at the same
  ///     time.
  ///   - make: Makes the instance, and keeps it as the lifetime says. It calls `begin` first.
  func start(after predecessor: Predecessor?, _ make: @escaping @Sendable () async throws -> Instance) {
    let priority = Task.currentPriority
    let task = Task(priority: priority) {
      if let predecessor { await predecessor.creation.waitForEnd(predecessor.number) }
      do { end(.success(try await make())) } catch { end(.failure(error)) }
    }
    // In the meantime, a task with a higher priority might have begun to wait.
    let urgent = Tree.change { _ -> TaskPriority? in
      self.task = task
      if self.priority > priority { return self.priority }
      self.priority = priority
      return nil
    }
    Schedule.reached(.storesTask)
    if let urgent { raise(task, to: urgent) }
  }

  /// An abandoned creation that is replaced by another one, and the number of that one among its waiters.
  typealias Predecessor = (creation: AsyncCreation, number: UInt)

  /// Records that the factory is about to run.
  ///
  /// - Throws: `CancellationError` if the creation has been abandoned.
  func begin() throws {
    let isAbandoned = Tree.change { _ in
      hasBegun = true
      return self.isAbandoned
    }
    if isAbandoned { throw CancellationError() }
    try Task.checkCancellation()
  }

  /// Waits until the factory has returned, and the instance is kept or dropped.
  ///
  /// - Parameter number: What `enter` returned.
  func waitForEnd(_ number: UInt) async {
    raisePriority()
    await wait(number)
  }

  /// Cancels the creation, because its context is being closed.
  ///
  /// - Parameter path: The path of the context.
  func cancel(closing path: [String]) {
    let task = Tree.change { _ in
      closedPath = path
      if !hasBegun { isAbandoned = true }
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
    Tree.change { _ in
      if case .failure = outcome, let closedPath { outcome = .failure(ProviderFailure.closed(closedPath)) }
      self.outcome = outcome
      dropped.take()?.remove(self)
      end()
    }
  }

  // MARK: - Waiting

  /// Adds the current task to those that want the instance. If the creation has been abandoned but its factory has not
  /// begun, it goes on. Call this under the tree lock.
  ///
  /// - Parameters:
  ///   - call: The call that the task is part of, if any.
  ///   - path: The keys of the synchronous factories that lead from the call to the instance.
  /// - Returns: The number of the waiter; nil if the creation can give no instance, so that another one has to begin.
  /// - Throws: `ProviderFailure.cycle` if the call would wait for itself.
  func join(_ call: AsyncCall?, _ path: [KeyIdentity]) throws -> UInt? {
    if case .failure? = outcome { return nil }
    if isAbandoned, hasBegun || closedPath != nil { return nil }
    if let circle = circle(through: call, path) { throw ProviderFailure.cycle(circle) }
    isAbandoned = false
    return enter(call, path)
  }

  /// Adds the current task, which begins this creation, to those that want the instance. Call this under the tree lock.
  ///
  /// - Parameter present: The abandoned or failed creation that this one replaces, if there is one.
  /// - Returns: The number of the waiter; and the creation that this one replaces, if that one has not ended yet.
  /// - Throws: `ProviderFailure.cycle` if `present` would have to wait for this creation.
  func enterFirst(
    _ call: AsyncCall?, _ path: [KeyIdentity], after present: AsyncCreation?
  ) throws -> (UInt, Predecessor?) {
    guard let present, !present.hasEnded else { return (enter(call, path), nil) }
    if let circle = present.circle(through: call, path) { throw ProviderFailure.cycle(circle) }
    return (enter(call, path), (present, present.enter(self)))
  }

  /// Waits for the instance.
  ///
  /// - Parameter number: What `join` or `enterFirst` returned.
  /// - Throws: `CancellationError` if the current task is cancelled, or the error with which the creation failed.
  func instance(_ number: UInt) async throws -> Instance {
    raisePriority()
    let isThere = await withTaskCancellationHandler {
      await wait(number)
    } onCancel: {
      abandon(number)
    }
    guard isThere, let outcome = Tree.change({ _ in self.outcome }) else { throw CancellationError() }
    return try outcome.get()
  }

  /// Removes a waiter whose task has been cancelled. If no other task wants the instance, abandons the creation.
  private func abandon(_ number: UInt) {
    var cancelled: Task<Void, Never>?
    leave(number) {
      if isWanted || hasEnded || isKeeping { return }
      isAbandoned = true
      // A task that waits for its predecessor is not cancelled: the next task that asks lets it go on.
      if hasBegun { cancelled = task }
    }
    cancelled?.cancel()
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
}
