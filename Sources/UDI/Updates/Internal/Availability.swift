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
final class Availability: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.
  typealias Operation = @Sendable () async throws -> any Sendable

  /// What the lookups found last.
  private var found: [FoundDependency?]
  /// The number of the last change to `found`.
  private var number = 0
  private var hasEnded = false
  /// The outcome of the operation that began after the last change, if the operation has ended by itself.
  private var outcome: Result<any Sendable, any Error>?
  private let changes = Activity()
  /// Makes the operation from what was found. Returns nil if something is no longer alive.
  private let makeOperation: @Sendable ([FoundDependency?]) -> Operation?

  init(_ count: Int, _ makeOperation: @escaping @Sendable ([FoundDependency?]) -> Operation?) {
    found = Array(repeating: nil, count: count)
    self.makeOperation = makeOperation
  }

  /// Notes what a lookup has found.
  func set(_ index: Int, to dependency: FoundDependency?) {
    // The old value must not be released while the lock is held, because releasing it might run user code.
    var dependency = dependency
    Tree.change { _ in
      swap(&found[index], &dependency)
      number += 1
      changes.wakeForChange()
    }
  }

  /// Notes that nothing will change any more, because the context is closed or gone, or the task is cancelled.
  func end() {
    Tree.change { _ in
      hasEnded = true
      changes.wakeForChange()
    }
  }

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
    while await waitForChange(from: last) {
      let (now, found) = Tree.change { _ in (number, self.found) }
      last = now
      // The operation, and with it what it holds, is released before the next one begins.
      guard found.allSatisfy({ $0 != nil }), let operation = makeOperation(found) else { continue }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await self.finish(now, operation) }
        _ = await self.waitForChange(from: now)
        group.cancelAll()
      }
      if let outcome = Tree.change({ _ in outcome.take() }), !Task.isCancelled { return outcome }
    }
    return nil
  }

  /// Waits until something else has been found than with the given number, or until the operation that began then has
  /// ended.
  ///
  /// - Returns: False if the context is closed or gone, or the task is cancelled.
  nonisolated(nonsending) private func waitForChange(from last: Int) async -> Bool {
    while !Task.isCancelled {
      Schedule.reached(.awaitsChange)
      let waiter = Tree.change { _ in
        hasEnded || number != last || outcome != nil ? nil : changes.add(.task(nil, through: []))
      }
      guard let waiter else { return Tree.change { _ in !hasEnded } }
      await changes.waitUnlessCancelled(waiter)
    }
    return false
  }

  /// Runs an operation, and notes its outcome. After a change, the operation has been cancelled, and its outcome does
  /// not matter.
  private func finish(_ number: Int, _ operation: Operation) async {
    let outcome: Result<any Sendable, any Error>
    do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
    Tree.change { _ in
      guard number == self.number, !hasEnded else { return }
      self.outcome = outcome
      changes.wakeForChange()
    }
  }
}
