import Synchronization

/// The one kind of lock in the library: a `Mutex` that the thread sanitizer understands.
///
/// On Linux, `Mutex` is a futex, and its contended path is in the standard library, where the thread sanitizer does not
/// see it. So the sanitizer would report races between critical sections that exclude each other, in our users'
/// programs as well. To prevent this, each section begins with an acquiring load of `handover` and ends with a
/// releasing store to it. On x86-64 and arm64 the cost is too small to measure.
///
/// The top of `Tree.swift` says what each lock of the library guards, and in which order locks are taken.
struct Lock: ~Copyable, Sendable {
  private let mutex = Mutex<Void>(())
  private let handover = Atomic<UInt8>(0)

  /// Takes the lock. Waits while another thread holds it. If a thread takes it twice, the process stops.
  @inline(__always)
  borrowing func lock() {
    mutex._unsafeLock()
    _ = handover.load(ordering: .acquiring)
    #if DEBUG
      HeldLocks.change(by: 1)
    #endif
  }

  /// Gives the lock back. Only the thread that took the lock may do this.
  @inline(__always)
  borrowing func unlock() {
    #if DEBUG
      HeldLocks.change(by: -1)
    #endif
    handover.store(0, ordering: .releasing)
    mutex._unsafeUnlock()
  }

  /// Runs `body` while holding the lock.
  ///
  /// `body` must not run user code or release a user's object. It returns such an object as its result instead, so that
  /// the caller can release it.
  @inline(__always)
  borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }
}
