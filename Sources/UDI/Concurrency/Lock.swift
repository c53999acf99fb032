import Synchronization

/// The one kind of lock in the library: a `Mutex` that the thread sanitizer understands.
///
/// `Mutex` is a futex on Linux whose contended path lives in the standard library, where the thread sanitizer does not
/// see it: it would report races between critical sections that exclude each other, in our users' programs as well.
/// So each section begins with an acquiring load and ends with a releasing store of `handover`. On x86-64 and arm64 that costs
/// nothing measurable.
///
/// What each lock of the library guards, and the order they are taken in, stands at the top of `Tree.swift`.
struct Lock: ~Copyable, Sendable {
  private let mutex = Mutex<Void>(())
  private let handover = Atomic<UInt8>(0)

  /// Takes the lock; waits while another thread has it. Taking it twice on one thread stops the process.
  @inline(__always)
  borrowing func lock() {
    mutex._unsafeLock()
    _ = handover.load(ordering: .acquiring)
    #if DEBUG
      HeldLocks.change(by: 1)
    #endif
  }

  /// Gives the lock back. Only the thread that took it may.
  @inline(__always)
  borrowing func unlock() {
    #if DEBUG
      HeldLocks.change(by: -1)
    #endif
    handover.store(0, ordering: .releasing)
    mutex._unsafeUnlock()
  }

  /// Runs `body` with the lock taken.
  ///
  /// Nothing that `body` does may run user code or release a user's object: hand those out as its result.
  @inline(__always)
  borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }
}
