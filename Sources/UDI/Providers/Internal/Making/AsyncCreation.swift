/// The creation of an instance by an asynchronous factory; or a preparation, in which the parameters of an initialiser
/// are obtained, or a visit.
///
/// It runs in a separate task, with the task-local values and the priority of the first task that asked; tasks that ask
/// later can raise the priority. The tasks that want the instance wait without blocking a thread. A cancelled task
/// stops waiting at once. If no task wants the instance any longer, and it is not yet about to be kept, the creation is
/// abandoned: its task is cancelled. Whoever asks while an abandoned creation comes to its end waits for that, and then
/// begins another one.
final class AsyncCreation: Creation, @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  private var priority = TaskPriority.background
  /// Whether all tasks that wanted the instance were cancelled before it was about to be kept.
  private var isAbandoned = false
  /// Whether the new instance is about to be kept, so that the creation can no longer be abandoned.
  private var isKeeping = false

  /// Starts the task that makes the instance. Do not call this under a lock.
  ///
  /// - Parameter make: Makes the instance, and keeps it as the lifetime says. It calls `beginFactory` first.
  func start(_ make: @escaping @Sendable () async -> Outcome) {
    let priority = Task.currentPriority
    let task = Task(priority: priority) { end(with: await make()) }
    // In the meantime, the creation might have been cancelled, or a task with a higher priority might wait.
    let (isCancelled, urgent) = Tree.change { _ in
      self.task = task
      self.priority = max(self.priority, priority)
      return (isAbandoned || closedPath != nil, self.priority > priority ? self.priority : nil)
    }
    Schedule.reached(.storesTask)
    if isCancelled { task.cancel() }
    // The runtime raises a task's priority to that of any task that awaits its value.
    if let urgent { Task.detached(priority: urgent) { await task.value } }
  }

  private func end(with outcome: Outcome) {
    Tree.change { _ in
      // If the creation fails while its context is being closed, the error says that.
      if case .failure = outcome, let closedPath { return end(.failure(ProviderFailure.closed(closedPath))) }
      end(outcome)
    }
  }

  // Those that wait do not get the instance of an abandoned creation. It stays with the creation, which releases it
  // where it belongs.
  override var outcomeForWaiters: Outcome { isAbandoned ? .success(nil) : super.outcomeForWaiters }

  /// Checks, just before the factory runs, whether the creation has been cancelled.
  ///
  /// - Throws: `CancellationError` if it has.
  func beginFactory() throws {
    if Task.isCancelled || Tree.change({ _ in isAbandoned || closedPath != nil }) { throw CancellationError() }
  }

  /// Records that the new instance is about to be kept.
  ///
  /// - Returns: False if the creation has been abandoned.
  func beginKeeping() -> Bool {
    Tree.change { _ in isKeeping = !isAbandoned }
    // Only this task writes it, so it may read it without the lock.
    return isKeeping
  }

  /// Removes a waiter whose task has been cancelled. If no other task wants the instance, abandons the creation.
  override func abandon(_ number: UInt64) {
    leave(number)
    Tree.change { _ -> Task<Void, Never>? in
      if isWanted || hasEnded || isKeeping { return nil }
      isAbandoned = true
      return task
    }?.cancel()
  }

  override func raisePriority() {
    let current = Task.currentPriority
    let task = Tree.change { _ -> Task<Void, Never>? in
      guard current > priority else { return nil }
      priority = current
      return self.task
    }
    if let task { Task.detached(priority: current) { await task.value } }
  }
}
