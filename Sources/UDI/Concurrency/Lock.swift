import Synchronization

/// The lock that the library uses everywhere: a `Mutex` that the thread sanitizer understands.
///
/// On Linux, `Mutex` uses a futex, and the code for a contended lock is in the standard library, where the thread
/// sanitizer does not see it. The sanitizer would therefore report races between critical sections that exclude each
/// other, in our users' programs as well. To prevent this, each critical section begins with an acquiring load of
/// `handover` and ends with a releasing store to it. On x86-64 and arm64, this takes too little time to measure.
///
/// The top of `Tree.swift` says what each lock of the library guards, and in which order locks are taken.
struct Lock: ~Copyable, Sendable {
  private let mutex = Mutex<Void>(())
  private let handover = Atomic<UInt8>(0)
  #if DEBUG
    /// The thread that holds the lock; 0 if none does.
    private let holder = Atomic<UInt>(0)
  #endif

  /// Takes the lock, and waits while another thread holds it. If a thread takes a lock that it holds already, the
  /// process stops.
  @inline(__always)
  borrowing func lock() {
    mutex._unsafeLock()
    _ = handover.load(ordering: .acquiring)
    #if DEBUG
      holder.store(currentThread(), ordering: .relaxed)
      changeHeldLocks(by: 1)
    #endif
  }

  /// Takes the lock, unless another thread holds it.
  ///
  /// - Returns: Whether the lock has been taken.
  @inline(never)
  borrowing func lockIfFree() -> Bool {
    guard mutex._unsafeTryLock() else { return false }
    _ = handover.load(ordering: .acquiring)
    #if DEBUG
      holder.store(currentThread(), ordering: .relaxed)
      changeHeldLocks(by: 1)
    #endif
    return true
  }

  /// Releases the lock. Only the thread that has taken it may do this.
  @inline(__always)
  borrowing func unlock() {
    #if DEBUG
      changeHeldLocks(by: -1)
      holder.store(0, ordering: .relaxed)
    #endif
    handover.store(0, ordering: .releasing)
    mutex._unsafeUnlock()
  }

  /// Stops a debug build if this thread does not hold the lock.
  @inline(__always)
  borrowing func assertHeld() {
    #if DEBUG
      precondition(holder.load(ordering: .relaxed) == currentThread(), "this thread does not hold the lock")
    #endif
  }

  // `withLock` calls these two, because the code that takes a lock has 150 bytes wherever it is inlined.
  @inline(never)
  private borrowing func take() { lock() }

  @inline(never)
  private borrowing func leave() { unlock() }

  /// Runs `body` while holding the lock.
  ///
  /// `body` must not run user code or release a user's object. To have an object released, it returns the object, and
  /// the caller releases it.
  @inline(__always)
  borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    take()
    defer { leave() }
    return try body()
  }

  /// Does the same as `withLock`, but is compiled into its caller as a whole. With `withLock` instead, a scope takes
  /// more instructions than its limit ("scope" in `Benchmarks/instructions`).
  @inline(__always)
  borrowing func withLockInlined<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }
}
