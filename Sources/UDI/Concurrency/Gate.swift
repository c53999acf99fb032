import Dispatch

/// A gate at which threads wait until another thread opens it. It is opened once and stays open.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  /// Waits until the gate is open.
  func wait() {
    semaphore.wait()
    // The gate is open, so the next thread may pass, too.
    semaphore.signal()
  }

  func open() { semaphore.signal() }
}
