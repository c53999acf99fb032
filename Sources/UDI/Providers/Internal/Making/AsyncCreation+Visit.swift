/// A visit: work on an actor, for which a task waits as it does for an instance. If the task is cancelled, it stops
/// waiting at once, even if the actor is not free.
extension AsyncCreation {
  /// Runs an operation that moves to an actor.
  ///
  /// - Throws: What the operation throws; `CancellationError` if the current task is cancelled before it has ended.
  nonisolated(nonsending) static func visit(
    _ operation: @escaping @Sendable () async throws -> OwnedInstance?
  ) async throws -> OwnedInstance? {
    let visit = AsyncCreation(on: nil)
    let number = Tree.change { _ in visit.add(.task(.current, through: [])) }
    visit.start {
      do { return try await operation().map { .made($0) } ?? .undecided } catch { return .failed(error) }
    }
    return try await visit.outcome(number).instance
  }
}
