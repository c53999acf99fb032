/// What a lookup of `whileAvailable` has found. An object that something else holds is held weakly, so that waiting for
/// the other dependencies does not keep it alive.
struct FoundDependency: @unchecked Sendable {
  // Unchecked: `whileAvailable` looks up only what is `Sendable`.
  private let entry: WeakEntry?
  private let value: Any?

  /// - Parameter holdsStrongly: Whether this struct has to hold the object, because nothing else might.
  init<Dependency: Sendable>(_ dependency: Dependency, holdsStrongly: Bool) {
    entry = holdsStrongly ? nil : StoredForm.of(dependency, as: Dependency.self).map { WeakEntry($0) }
    value = entry == nil ? dependency : nil
    withExtendedLifetime(dependency) {}
  }

  func load<Dependency>(as type: Dependency.Type) -> Dependency? {
    entry.map { $0.load(as: type) } ?? value as? Dependency
  }
}

/// Runs the operation of one call of `whileAvailable`: begins it when all dependencies are there, and cancels it when
/// one of them changes.
final class Availability: Sendable {
  typealias Operation = @Sendable () async throws -> any Sendable

  private struct State {
    /// What the lookups found last.
    var found: [FoundDependency?]
    /// The number of the last change to `found`.
    var number = 0
    var hasEnded = false
    /// The outcome of the operation that began after the last change, if the operation has ended by itself.
    var outcome: Result<any Sendable, any Error>?
  }

  private let state: AwaitedState<State>
  /// Makes the operation from what was found. Returns nil if something is no longer alive.
  private let makeOperation: @Sendable ([FoundDependency?]) -> Operation?

  init(_ count: Int, _ makeOperation: @escaping @Sendable ([FoundDependency?]) -> Operation?) {
    state = AwaitedState(State(found: Array(repeating: nil, count: count)))
    self.makeOperation = makeOperation
  }

  /// Notes what a lookup has found.
  func set(_ index: Int, to dependency: FoundDependency?) {
    // The old value must not be released while the lock is held, because releasing it might run user code.
    var dependency = dependency
    state.change {
      swap(&$0.found[index], &dependency)
      $0.number += 1
    }
  }

  /// Notes that nothing will change any more, because the context is closed or gone, or the task is cancelled.
  func end() { state.change { $0.hasEnded = true } }

  /// Runs the operation whenever all dependencies are there, until the operation ends by itself.
  ///
  /// - Parameters:
  ///   - followers: Each follows one of the dependencies, and calls `set` and `end`.
  ///   - makeError: Makes the error to throw if the context is closed or gone.
  nonisolated(nonsending) func run(
    _ followers: [@Sendable (Availability, Int) async -> Void], endingWith makeError: () -> any Error
  ) async throws -> any Sendable {
    let outcome = await withTaskGroup(of: Void.self) { group in
      for (index, follow) in followers.enumerated() { group.addTask { await follow(self, index) } }
      let outcome = await runAgainAndAgain()
      group.cancelAll()
      return outcome
    }
    if let outcome { return try outcome.get() }
    try Task.checkCancellation()
    throw makeError()
  }

  /// - Returns: The outcome of an operation that has ended by itself; nil if the task was cancelled, or if the context
  ///   is closed or gone.
  nonisolated(nonsending) private func runAgainAndAgain() async -> Result<any Sendable, any Error>? {
    var last = -1
    while let now = await state.first({ $0.hasEnded || $0.number != last ? $0 : nil }), !now.hasEnded {
      last = now.number
      // The operation, and with it what it holds, is released before the next one begins.
      guard now.found.allSatisfy({ $0 != nil }), let operation = makeOperation(now.found) else { continue }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await self.finish(now.number, operation) }
        _ = await self.state.first { $0.hasEnded || $0.number != now.number || $0.outcome != nil ? () : nil }
        group.cancelAll()
      }
      if let outcome = await state.first({ .some($0.outcome.take()) }) ?? nil { return outcome }
    }
    return nil
  }

  /// Runs an operation, and notes its outcome. After a change, the operation has been cancelled, and its outcome does
  /// not matter.
  private func finish(_ number: Int, _ operation: Operation) async {
    let outcome: Result<any Sendable, any Error>
    do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
    state.change { if $0.number == number, !$0.hasEnded { $0.outcome = outcome } }
  }
}
