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
  /// Counts the `Lock`s that each thread holds. Tests use it to check that no user code runs and no user's object is
  /// released while a lock is held. It exists only in debug builds.
  package enum HeldLocks {
    // The key for thread-specific values is made once and never deleted. The values are numbers, stored as pointers
    // that are never used as addresses.

    private static let key: pthread_key_t = {
      var key: pthread_key_t = 0
      let status = unsafe pthread_key_create(&key, nil)
      guard status == 0 else { fatalError("no key for thread-specific values is left: \(status)") }
      return key
    }()

    /// How many locks the calling thread holds.
    package static var count: Int { unsafe Int(bitPattern: pthread_getspecific(key)) }

    /// Records that the calling thread has taken or released a lock.
    static func change(by difference: Int) {
      unsafe _ = pthread_setspecific(key, UnsafeRawPointer(bitPattern: count + difference))
    }
  }
#endif
