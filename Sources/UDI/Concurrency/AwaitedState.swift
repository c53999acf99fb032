/// A state whose changes tasks wait for. It does for tasks what a condition variable does for threads.
final class AwaitedState<State>: @unchecked Sendable {
  // Unchecked: `lock` guards what is mutable.

  private let lock = Lock()
  private var state: State
  /// The continuations of the waiting tasks, by their tickets.
  private var waiting: [UInt: CheckedContinuation<Void, Never>] = [:]
  /// The ticket that was given out last.
  private var lastTicket: UInt = 0

  init(_ state: State) { self.state = state }

  /// Whether any task is waiting.
  var isAwaited: Bool { lock.withLock { !waiting.isEmpty } }

  /// Changes the state, and lets the waiting tasks look at it. Do not call this while holding a lock.
  ///
  /// - Parameter body: Changes the state. Called under the lock, so it must not release a user's object.
  func change(_ body: (inout State) -> Void) {
    let continuations = lock.withLock {
      body(&state)
      defer { waiting = [:] }
      return waiting.values
    }
    for continuation in continuations { continuation.resume() }
  }

  /// Waits until there is a result.
  ///
  /// - Parameter body: Takes the result from the state; returns nil if there is none yet. Called under the lock.
  /// - Returns: The result; nil if the task is cancelled.
  nonisolated(nonsending) func first<Result>(_ body: (inout State) -> Result?) async -> Result? {
    let ticket = lock.withLock {
      lastTicket += 1
      return lastTicket
    }
    while !Task.isCancelled {
      var result: Result?
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          Schedule.reached(.awaitsChange)
          let mustWait = lock.withLock {
            // A task is marked as cancelled before its cancellation handlers are called. If this check does not see the
            // mark yet, the handler has therefore not taken the lock yet, and will find the ticket.
            if Task.isCancelled { return false }
            result = body(&state)
            if result != nil { return false }
            waiting[ticket] = continuation
            return true
          }
          if !mustWait { continuation.resume() }
        }
      } onCancel: {
        lock.withLock { waiting.removeValue(forKey: ticket) }?.resume()
      }
      if let result { return result }
    }
    return nil
  }
}
