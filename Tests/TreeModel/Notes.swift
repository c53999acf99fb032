import Foundation

/// What the users' closures have noted since this was last taken.
///
/// A lock of Foundation's, because the thread sanitizer understands it.
final class Notes<Element: Sendable>: Sendable {
  private let lock = NSLock()
  // Guarded by the lock.
  private nonisolated(unsafe) var all: [Element] = []
  func note(_ element: Element) { lock.withLock { unsafe all.append(element) } }
  var last: Element? { lock.withLock { unsafe all.last } }
  func removeLast() { lock.withLock { unsafe _ = all.removeLast() } }
  func take() -> [Element] {
    lock.withLock {
      defer { unsafe all = [] }
      return unsafe all
    }
  }
}
