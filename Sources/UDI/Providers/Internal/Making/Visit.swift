/// A synchronous operation on an actor, for which a task waits. If the task is cancelled, it stops waiting at once,
/// even if the actor is not free.
final class Visit: Activity, @unchecked Sendable {
  // Unchecked: the tree lock guards `result`; `task` is set before anything else can use it.
  private var task: Task<Void, Never>?
  private var result: Result<OwnedInstance, any Error>?

  /// Runs an operation on an actor. Meanwhile, the thread remembers the actor, so that factories of that actor may run.
  ///
  /// - Throws: `CancellationError` if the current task is cancelled before the operation has ended.
  nonisolated(nonsending) static func to(
    _ actor: any Actor, _ operation: @escaping @Sendable () -> Result<OwnedInstance, any Error>
  ) async throws -> Result<OwnedInstance, any Error> {
    let visit = Visit()
    let number = Tree.change { _ in visit.add(.task(.current, through: [])) }
    visit.task = Task {
      guard !Task.isCancelled else { return }
      await visit.run(operation, on: actor)
    }
    let isOver = await visit.waitUnlessCancelled(number)
    guard isOver, let result = Tree.change({ _ in visit.result.take() }) else { throw CancellationError() }
    return result
  }

  override func abandon(_ number: UInt64) {
    task?.cancel()
    leave(number)
  }

  private func run(_ operation: () -> Result<OwnedInstance, any Error>, on actor: isolated any Actor) {
    if Task.isCancelled { return }
    let resolution = Resolution.current.object
    let outer = resolution.actor
    resolution.actor = actor
    let result = operation()
    resolution.actor = outer
    Tree.change { _ in
      self.result = result
      wake()
    }
  }
}
