import Dispatch
import Foundation

/// Runs several bodies, each on a thread of its own, and waits for all of them.
///
/// Not tasks: there are only as many threads for tasks as there are cores, and bodies that wait for one another need
/// one thread each.
func onThreads(_ bodies: [@Sendable () -> Void]) {
  let group = DispatchGroup()
  for body in bodies {
    group.enter()
    Thread.detachNewThread {
      body()
      group.leave()
    }
  }
  group.wait()
}

/// Runs a body on a thread with a stack large enough for deep recursion, or of another size.
func onDeepThread(stackSize: Int = 64 << 20, _ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    body()
    done.signal()
  }
  thread.stackSize = stackSize
  thread.start()
  done.wait()
}

/// Runs one body on several threads at once, and passes it the thread's number.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  onThreads((0..<count).map { index in { body(index) } })
}

/// A value that threads change one after the other.
///
/// A lock of Foundation's, because the thread sanitizer understands it.
final class Locked<Value: Sendable>: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var value: Value

  init(_ value: Value) { unsafe self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { unsafe body(&value) }
  }
}

/// Notes what happens, in order.
final class Journal: Sendable {
  private let entries = Locked<[String]>([])
  var all: [String] { entries.withLock { $0 } }
  func add(_ entry: String) { entries.withLock { $0.append(entry) } }
}

/// A barrier: threads wait until a number of them have come. Later threads go on at once.
final class Meeting: Sendable {
  private let condition = NSCondition()
  private nonisolated(unsafe) var missing: Int

  init(_ count: Int) { unsafe missing = count }

  func arrive() {
    condition.lock()
    unsafe missing -= 1
    if unsafe missing <= 0 { condition.broadcast() }
    while unsafe missing > 0 { condition.wait() }
    condition.unlock()
  }
}

/// A task waits until somebody sends this.
final class Signal: Sendable {
  private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
  func send() { continuation.finish() }
  func wait() async { for await _ in stream {} }
}

/// Runs a body off the main actor, in the caller's task. A detached task would report misuse to the process's reporter.
@concurrent func elsewhere<Result: Sendable>(_ body: @Sendable () throws -> Result) async rethrows -> Result {
  try body()
}
