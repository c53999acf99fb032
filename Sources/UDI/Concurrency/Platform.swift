#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A number that distinguishes this thread from all other threads that are running now.
func currentThread() -> UInt {
  #if canImport(Glibc)
    UInt(pthread_self())
  #else
    unsafe UInt(bitPattern: pthread_self())
  #endif
}

/// Whether the library was built for debugging.
var isDebugBuild: Bool {
  #if DEBUG
    true
  #else
    false
  #endif
}

/// Whether this is the process's first thread.
var isFirstThread: Bool {
  #if canImport(Darwin)
    pthread_main_np() != 0
  #else
    gettid() == getpid()
  #endif
}

/// The addresses of the calling thread's stack; empty if they are unknown. Finding them can be slow, so call this
/// function only once in each thread.
func currentStack() -> Range<UInt> {
  let unknown: Range<UInt> = 0..<0
  #if canImport(Darwin)
    let (high, size) = unsafe (pthread_get_stackaddr_np(pthread_self()), pthread_get_stacksize_np(pthread_self()))
    let end = UInt(bitPattern: high)
    return UInt(size) < end ? end - UInt(size)..<end : unknown
  #else
    #if canImport(Musl)
      // For the first thread, musl knows only the part of the stack that has been used so far.
      if isFirstThread { return unknown }
    #endif
    // The type's initialiser is not used: under Linux, it belongs to the module Dispatch if that was imported first.
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    defer { unsafe attributes.deallocate() }
    guard unsafe pthread_getattr_np(pthread_self(), attributes) == 0 else { return unknown }
    defer { unsafe _ = pthread_attr_destroy(attributes) }
    var low: UnsafeMutableRawPointer?
    var size = 0
    guard unsafe pthread_attr_getstack(attributes, &low, &size) == 0 else { return unknown }
    let start = UInt(bitPattern: low)
    return start..<start + UInt(size)
  #endif
}

/// Writes a line to standard error.
func writeToStandardError(_ line: String) {
  var bytes = Array((line + "\n").utf8)[...]
  while !bytes.isEmpty {
    let written = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
    // If writing fails, for example because standard error is closed, the rest of the line is dropped.
    guard written > 0 else { return }
    bytes = bytes.dropFirst(written)
  }
}

/// Allocates memory for types whose alignment is at most two words. On Linux, the standard library's `allocate` takes
/// several times as many instructions as `malloc`, and a scope allocates three tables and a node.
func allocateMemory(byteCount: Int) -> UnsafeMutableRawPointer {
  guard let memory = unsafe malloc(byteCount) else { fatalError("out of memory: \(byteCount) bytes") }
  return unsafe memory
}

/// Frees memory that `allocateMemory` has allocated.
func freeMemory(_ memory: UnsafeMutableRawPointer) { unsafe free(memory) }

#if DEBUG
  // The `Lock`s that each thread holds are counted, for tests that check that no user code runs and no user's object is
  // released while a lock is held. This exists only in debug builds.

  // The key for thread-specific values is made once and never deleted. The values are numbers, stored as pointers that
  // are never used as addresses.
  private let heldLocksKey: pthread_key_t = {
    var key: pthread_key_t = 0
    let status = unsafe pthread_key_create(&key, nil)
    guard status == 0 else { fatalError("no key for thread-specific values is left: \(status)") }
    return key
  }()

  /// How many locks the calling thread holds.
  package var heldLocks: Int { unsafe Int(bitPattern: pthread_getspecific(heldLocksKey)) }

  /// Records that the calling thread has taken or released a lock.
  func changeHeldLocks(by difference: Int) {
    unsafe _ = pthread_setspecific(heldLocksKey, UnsafeRawPointer(bitPattern: heldLocks + difference))
  }
#endif

// MARK: - Each thread's state

extension ThreadState {
  /// The key for thread-specific values, which is made on first access and never deleted.
  private static let key: pthread_key_t = {
    var key: pthread_key_t = 0
    let status = unsafe pthread_key_create(&key) { value in
      // The system calls this closure when a thread ends, and passes the value that the thread stored. On Darwin, the
      // parameter's type says that the value is never nil.
      let pointer: UnsafeMutableRawPointer? = unsafe value
      if let pointer = unsafe pointer { unsafe Unmanaged<ThreadState>.fromOpaque(pointer).release() }
    }
    guard status == 0 else { fatalError("no key for thread-specific values is left: \(status)") }
    return key
  }()

  /// The calling thread's state, which lives as long as the thread.
  @inline(__always)
  static var here: Unretained<ThreadState> {
    guard let stored = unsafe pthread_getspecific(key) else { return begin() }
    return unsafe Unretained(address: UInt(bitPattern: stored))
  }

  /// The calling thread's state, or nil if the thread has none yet.
  static var hereIfAny: Unretained<ThreadState>? {
    unsafe pthread_getspecific(key).map { unsafe Unretained(address: UInt(bitPattern: $0)) }
  }

  private static func begin() -> Unretained<ThreadState> {
    let state = make()
    unsafe pthread_setspecific(key, Unmanaged.passRetained(state).toOpaque())
    return Unretained(state)
  }
}
