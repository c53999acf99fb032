/// Tasks wait here until the gate is opened, or until they are cancelled.
actor Gate {
  private var isOpen = false
  private var arrivals = 0
  private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  private var observers: [(arrivals: Int, continuation: CheckedContinuation<Void, Never>)] = []

  func pass() async throws {
    arrivals += 1
    let ticket = arrivals
    for observer in observers where observer.arrivals <= arrivals { observer.continuation.resume() }
    observers.removeAll { $0.arrivals <= arrivals }
    if isOpen { return }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        // A cancellation before this is seen here; one after it finds the continuation.
        if Task.isCancelled {
          continuation.resume(throwing: CancellationError())
        } else {
          waiting[ticket] = continuation
        }
      }
    } onCancel: {
      Task { await self.turnAway(ticket) }
    }
  }

  /// Waits until a number of tasks have come, including those that have left again.
  func waitForArrivals(_ count: Int) async {
    if arrivals >= count { return }
    await withCheckedContinuation { observers.append((count, $0)) }
  }

  func open() {
    isOpen = true
    for continuation in waiting.values { continuation.resume() }
    waiting = [:]
  }

  private func turnAway(_ ticket: Int) {
    waiting.removeValue(forKey: ticket)?.resume(throwing: CancellationError())
  }
}
