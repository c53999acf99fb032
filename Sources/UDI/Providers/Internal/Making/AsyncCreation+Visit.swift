/// A visit: a synchronous operation on an actor, for which a task waits as it does for an instance. If the task is
/// cancelled, it stops waiting at once, even if the actor is not free.
extension AsyncCreation {
  /// Runs an operation on an actor. Meanwhile, the thread remembers the actor, so that factories of that actor may run.
  ///
  /// - Throws: What the operation throws; `CancellationError` if the current task is cancelled before it has ended.
  nonisolated(nonsending) static func visit(
    _ actor: any Actor, _ operation: @escaping @Sendable () throws -> OwnedInstance
  ) async throws -> OwnedInstance {
    let visit = AsyncCreation(on: nil)
    let number = Tree.change { _ in visit.add(.task(.current, through: [])) }
    visit.start { await run(operation, on: actor) }
    switch try await visit.outcome(number) {
    case .made(let instance): return instance
    case .failed(let error): throw error
    case .undecided: throw CancellationError()
    }
  }

  private static func run(_ operation: () throws -> OwnedInstance, on actor: isolated any Actor) -> Outcome {
    if Task.isCancelled { return .undecided }
    let resolution = Resolution.current.object
    let outer = resolution.actor
    resolution.actor = actor
    defer { resolution.actor = outer }
    do { return .made(try operation()) } catch { return .failed(error) }
  }
}
