/// What a lookup of `whileAvailable` has found. An object is held weakly if anything else holds it, so that waiting for
/// the other dependencies does not keep it alive.
struct FoundDependency: @unchecked Sendable {
  // Unchecked: `whileAvailable` looks up only what is `Sendable`.
  private let entry: WeakEntry?
  private let value: Any?

  /// - Parameter holdsStrongly: Whether this struct has to hold the object, because nothing else does.
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
final class Availability<Output: Sendable>: @unchecked Sendable {
  // Unchecked: `lock` guards what is mutable.

  typealias Operation = @Sendable () async throws -> Output

  private let lock = Lock()
  /// What the lookups found last.
  private var found: [FoundDependency?]
  /// The number of the last change to `found`.
  private var number = 0
  private var hasEnded = false
  private var isCancelled = false
  /// The outcome of the operation that began after the last change, if the operation has ended by itself.
  private var outcome: Result<Output, any Error>?
  /// The continuation of `run`, while it waits.
  private var continuation: CheckedContinuation<Void, Never>?
  /// Makes the operation from what was found. Returns nil if something is no longer alive.
  private let makeOperation: @Sendable ([FoundDependency?]) -> Operation?

  init(_ count: Int, _ makeOperation: @escaping @Sendable ([FoundDependency?]) -> Operation?) {
    found = Array(repeating: nil, count: count)
    self.makeOperation = makeOperation
  }

  // MARK: - What happens. Any task may call these

  /// Notes what a lookup has found.
  func set(_ index: Int, to dependency: FoundDependency?) {
    // The old value must not be released while the lock is held, because releasing it might run user code.
    var dependency = dependency
    change {
      swap(&found[index], &dependency)
      number += 1
    }
  }

  /// Notes that the context is closed or gone.
  func end() { change { hasEnded = true } }

  private func cancel() { change { isCancelled = true } }

  private func end(of number: Int, with outcome: Result<Output, any Error>) {
    // After a change, the operation has been cancelled, and its outcome does not matter.
    change { if self.number == number, !hasEnded { self.outcome = outcome } }
  }

  private func change(_ body: () -> Void) {
    let continuation = lock.withLock {
      body()
      return self.continuation.take()
    }
    continuation?.resume()
  }

  // MARK: - The loop

  /// Runs the operation whenever all dependencies are there, until the operation ends by itself.
  ///
  /// - Parameters:
  ///   - followers: Each follows one of the dependencies, and calls `set` and `end`.
  ///   - makeError: Makes the error to throw if the context is closed or gone.
  nonisolated(nonsending) func run(
    _ followers: [@Sendable (Availability, Int) async -> Void], endingWith makeError: () -> any Error
  ) async throws -> Output {
    let outcome = await withTaskCancellationHandler {
      await withTaskGroup(of: Void.self) { group in
        for (index, follow) in followers.enumerated() { group.addTask { await follow(self, index) } }
        let outcome = await runAgainAndAgain()
        group.cancelAll()
        return outcome
      }
    } onCancel: {
      cancel()
    }
    if let outcome { return try outcome.get() }
    try Task.checkCancellation()
    throw makeError()
  }

  /// - Returns: The outcome of an operation that has ended by itself; nil if the task was cancelled, or if the context
  ///   is closed or gone.
  nonisolated(nonsending) private func runAgainAndAgain() async -> Result<Output, any Error>? {
    var last = -1
    while true {
      await wait(after: last)
      let (number, found, isOver) = lock.withLock { (self.number, self.found, self.hasEnded || self.isCancelled) }
      if isOver { return nil }
      last = number
      // The operation, and with it what it holds, is released before the next one begins.
      guard found.allSatisfy({ $0 != nil }), let operation = makeOperation(found) else { continue }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          let outcome: Result<Output, any Error>
          do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
          self.end(of: number, with: outcome)
        }
        await self.wait(after: number)
        group.cancelAll()
      }
      let (outcome, isCancelled) = lock.withLock { (self.outcome.take(), self.isCancelled) }
      if isCancelled { return nil }
      if let outcome { return outcome }
    }
  }

  /// Waits until there is a change after the one with the given number, the operation has an outcome, the task is
  /// cancelled, or the context is closed or gone.
  nonisolated(nonsending) private func wait(after number: Int) async {
    while lock.withLock({ mustWait(after: number) }) {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let isWaiting = lock.withLock {
          guard mustWait(after: number) else { return false }
          self.continuation = continuation
          return true
        }
        if !isWaiting { continuation.resume() }
      }
    }
  }

  /// Call this under the lock.
  private func mustWait(after number: Int) -> Bool {
    self.number == number && outcome == nil && !hasEnded && !isCancelled
  }
}
