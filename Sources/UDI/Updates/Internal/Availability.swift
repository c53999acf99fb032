/// Runs the operation of one call of `whileAvailable`: begins it when all dependencies are there, and cancels it when
/// one of them changes.
final class Availability: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.
  typealias Body = @Sendable () async throws -> any Sendable
  /// Returns the instance that a lookup has found, if it is still alive.
  typealias Found = @Sendable () -> Instance?

  private let context: UDIContext
  private let requests: [LookupRequest]
  /// The instances that the lookups found last.
  private var found: [Found?]
  /// The number of the last change to `found`.
  private var number = 0
  /// How the call ends; nil while that is open.
  private var outcome: Result<any Sendable, any Error>?
  private let changes = Activity()
  /// Makes the body of the operation from the instances that were found. Returns nil if one of them is no longer alive.
  private let makeBody: @Sendable ([Found?]) -> Body?

  init(_ context: UDIContext, _ requests: [LookupRequest], _ makeBody: @escaping @Sendable ([Found?]) -> Body?) {
    (self.context, self.requests, self.makeBody) = (context, requests, makeBody)
    found = Array(repeating: nil, count: requests.count)
  }

  /// Notes how the call ends, unless that is known already.
  ///
  /// - Parameter number: The number of the change after which an operation began whose outcome this is. After a later
  ///   change, the operation has been cancelled, and its outcome does not matter. Nil if no operation runs any more.
  private func end(with outcome: Result<any Sendable, any Error>, after number: Int? = nil) {
    Tree.change { _ in
      guard self.outcome == nil, number == nil || number == self.number else { return }
      self.outcome = outcome
      changes.wakeForChange()
    }
  }

  /// Runs the operation whenever all dependencies are there, until the operation ends by itself.
  ///
  /// - Throws: What the operation throws when it ends by itself; `CancellationError`; or `UDILinkError`, if the context
  ///   is closed or gone.
  nonisolated(nonsending) func run() async throws -> any Sendable {
    let outcome = await withTaskGroup(of: Void.self) { group -> Result<any Sendable, any Error>? in
      for index in requests.indices { group.addTask { await self.follow(index) } }
      defer { group.cancelAll() }
      var last = -1
      while let (now, found, outcome) = await state(after: last) {
        if let outcome { return outcome }
        last = now
        // The operation, and with it what it holds, is released before the next one begins.
        if let operation = begin(with: found, after: now) { await run(operation, after: now) }
      }
      return nil
    }
    guard let outcome else { throw CancellationError() }
    do { return try outcome.get() } catch ProviderFailure.nothing {
      try AsyncCall.checkCancellation()
      // While the context is being closed, something might still be found there.
      throw context.explained(context.endingPath.map(ProviderFailure.closed) ?? .nothing, requests[0])
    }
  }

  /// Follows one of the dependencies.
  private func follow(_ index: Int) async {
    let consumer = Consumer(context, requests[index])
    while let next = await consumer.watcher.next() {
      // The old value must not be released while the lock is held, because releasing it might run user code.
      var found = next.first.map(keep)
      Tree.change { _ in
        swap(&self.found[index], &found)
        number += 1
        changes.wakeForChange()
      }
    }
    // The context is closed or gone. (Or the task is cancelled; then the outcome does not matter.)
    end(with: .failure(ProviderFailure.nothing))
  }

  /// Keeps the instance that a lookup has found. An object that something else holds is held weakly, so that waiting
  /// for the other dependencies does not keep it alive. An instance that a provider has made and no context owns might
  /// go as soon as this call releases it, and so might an instance that a look has made, if it has bound itself.
  private func keep(_ found: Watcher.Found) -> Found {
    let (instance, provider) = (found.instance, found.entry as? Provider)
    let kind = Tree.change { _ in provider?.sharing == .scope ? .owned : provider?.shown?.kind ?? found.entry.kind }
    guard !instance.isBox, kind == .owned || kind == .binding && !found.entry.comesFromLook else { return { instance } }
    return instance.weakly
  }

  /// Runs an operation until it ends, or until something changes, and then cancels it.
  nonisolated(nonsending) private func run(_ operation: Operation, after now: Int) async {
    let asker = AsyncCall.present
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        if let error = await operation.perform(askedBy: asker) { self.end(with: .failure(error), after: now) }
      }
      _ = await self.state(after: now)
      group.cancelAll()
    }
    Tree.change { _ in
      operation.leaveContext()
      operation.wake()
    }
  }

  /// Begins an operation whose end is awaited when the context is closed; nil if something is not there, or if the
  /// context is being closed.
  private func begin(with found: [Found?], after now: Int) -> Operation? {
    guard found.allSatisfy({ $0 != nil }), let body = makeBody(found) else { return nil }
    return context.change { node, _ in
      if node.treeLocked.state.isEnding { return nil }
      let operation = Operation(while: requests[0].key) { self.end(with: .success(try await body()), after: now) }
      if let asker = AsyncCall.present { _ = operation.add(.task(asker, through: [])) }
      operation.delayClosing(of: node)
      return operation
    }
  }

  /// Waits until something else has been found than with the given number, or until it is known how the call ends.
  ///
  /// - Returns: The number of the last change, the instances that have been found, and how the call ends; nil if the
  ///   task is cancelled.
  @inline(never)
  nonisolated(nonsending) private func state(
    after last: Int
  ) async -> (Int, [Found?], outcome: Result<any Sendable, any Error>?)? {
    await changes.waitForChange { number == last && outcome == nil ? nil : (number, found, outcome) }
  }
}
