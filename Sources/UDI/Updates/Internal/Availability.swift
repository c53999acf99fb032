/// Runs the operation of one call of `whileAvailable`: begins it when all dependencies are there, and cancels it when
/// one of them changes.
final class Availability: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.
  typealias Operation = @Sendable () async throws -> any Sendable
  /// Returns what a lookup has found, if it is still alive. An object that something else holds is held weakly, so that
  /// waiting for the other dependencies does not keep it alive.
  typealias Found = @Sendable () -> (any Sendable)?

  /// What the lookups found last.
  private var found: [Found?]
  /// The number of the last change to `found`.
  private var number = 0
  /// How the call ends; nil while that is open.
  private var outcome: Result<any Sendable, any Error>?
  private let changes = Activity()
  /// Makes the operation from what was found. Returns nil if something is no longer alive.
  private let makeOperation: @Sendable ([Found?]) -> Operation?

  init(_ count: Int, _ makeOperation: @escaping @Sendable ([Found?]) -> Operation?) {
    found = Array(repeating: nil, count: count)
    self.makeOperation = makeOperation
  }

  /// Notes what a lookup has found.
  func set(_ index: Int, to dependency: Found?) {
    // The old value must not be released while the lock is held, because releasing it might run user code.
    var dependency = dependency
    Tree.change { _ in
      swap(&found[index], &dependency)
      number += 1
      changes.wakeForChange()
    }
  }

  /// Notes how the call ends, unless that is known already.
  ///
  /// - Parameter number: The number of the change after which an operation began whose outcome this is. After a later
  ///   change, the operation has been cancelled, and its outcome does not matter. Nil if no operation runs any more.
  func end(with outcome: Result<any Sendable, any Error>, after number: Int? = nil) {
    Tree.change { _ in
      guard self.outcome == nil, number == nil || number == self.number else { return }
      self.outcome = outcome
      changes.wakeForChange()
    }
  }

  /// Runs the operation whenever all dependencies are there, until the operation ends by itself.
  ///
  /// - Parameter followers: Each follows one of the dependencies, and calls `set` and `end`.
  nonisolated(nonsending) func run(
    _ followers: [@Sendable (Availability, Int) async -> Void]
  ) async throws -> any Sendable {
    let outcome = await withTaskGroup(of: Void.self) { group in
      for (index, follow) in followers.enumerated() { group.addTask { await follow(self, index) } }
      let outcome = await runAgainAndAgain()
      group.cancelAll()
      return outcome
    }
    guard let outcome else { throw CancellationError() }
    return try outcome.get()
  }

  /// - Returns: How the call ends; nil if the task was cancelled.
  nonisolated(nonsending) private func runAgainAndAgain() async -> Result<any Sendable, any Error>? {
    var last = -1
    while await waitForChange(from: last) {
      let (now, found, outcome) = Tree.change { _ in (number, self.found, self.outcome) }
      if let outcome { return outcome }
      last = now
      // The operation, and with it what it holds, is released before the next one begins.
      guard found.allSatisfy({ $0 != nil }), let operation = makeOperation(found) else { continue }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          do { self.end(with: .success(try await operation()), after: now) } catch {
            self.end(with: .failure(error), after: now)
          }
        }
        _ = await self.waitForChange(from: now)
        group.cancelAll()
      }
    }
    return nil
  }

  /// Waits until something else has been found than with the given number, or until it is known how the call ends.
  ///
  /// - Returns: False if the task is cancelled.
  nonisolated(nonsending) private func waitForChange(from last: Int) async -> Bool {
    while !Task.isCancelled {
      Schedule.reached(.awaitsChange)
      let waiter = Tree.change { _ in
        number != last || outcome != nil ? nil : changes.add(.task(nil, through: []))
      }
      guard let waiter else { return true }
      await changes.waitUnlessCancelled(waiter)
    }
    return false
  }
}
