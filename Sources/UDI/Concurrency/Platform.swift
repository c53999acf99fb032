#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tells this thread from all others that run now.
func currentThread() -> UInt {
  #if canImport(Glibc)
    UInt(pthread_self())
  #else
    unsafe UInt(bitPattern: pthread_self())
  #endif
}

/// Whether this is the thread that the process began with.
var isFirstThread: Bool {
  #if canImport(Darwin)
    pthread_main_np() != 0
  #else
    gettid() == getpid()
  #endif
}

/// The addresses of the calling thread's stack; empty where nobody knows. It may take long: ask once.
func currentStack() -> Range<UInt> {
  let unknown: Range<UInt> = 0..<0
  #if canImport(Darwin)
    let (high, size) = unsafe (pthread_get_stackaddr_np(pthread_self()), pthread_get_stacksize_np(pthread_self()))
    let end = unsafe UInt(bitPattern: high)
    return UInt(size) < end ? end - UInt(size)..<end : unknown
  #else
    #if canImport(Musl)
      // Of the first thread musl knows only how much stack is in use so far.
      if isFirstThread { return unknown }
    #endif
    var attributes = pthread_attr_t()
    guard unsafe pthread_getattr_np(pthread_self(), &attributes) == 0 else { return unknown }
    defer { unsafe _ = pthread_attr_destroy(&attributes) }
    var low: UnsafeMutableRawPointer?
    var size = 0
    guard unsafe pthread_attr_getstack(&attributes, &low, &size) == 0 else { return unknown }
    let start = UInt(bitPattern: low)
    return start..<start + UInt(size)
  #endif
}

/// Writes a line to standard error.
func writeToStandardError(_ line: String) {
  var bytes = Array((line + "\n").utf8)[...]
  while !bytes.isEmpty {
    let written = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
    // Nobody can be told that standard error is closed.
    guard written > 0 else { return }
    bytes = bytes.dropFirst(written)
  }
}

/// Allocates memory straight from the C library.
///
/// The standard library's `allocate` asks that for an alignment also where every block has it, and so takes a path three
/// times as slow.
///
/// - Parameters:
///   - byteCount: How many bytes.
///   - alignment: Of what will be stored in it, in bytes: a power of two.
@inline(__always)
func allocateMemory(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer {
  // `malloc` aligns to two words at least on all platforms here.
  var memory: UnsafeMutableRawPointer?
  if alignment <= 2 * MemoryLayout<UInt>.size {
    unsafe memory = malloc(byteCount)
  } else if unsafe posix_memalign(&memory, alignment, byteCount) != 0 {
    unsafe memory = nil
  }
  guard let memory = unsafe memory else { fatalError("out of memory: \(byteCount) bytes") }
  return unsafe memory
}

/// Frees what `allocateMemory` allocated.
func freeMemory(_ memory: UnsafeMutableRawPointer) { unsafe free(memory) }
