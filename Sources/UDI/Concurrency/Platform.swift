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
  // `malloc` aligns to sixteen bytes on all platforms here.
  var memory: UnsafeMutableRawPointer?
  if alignment <= 16 {
    unsafe memory = malloc(byteCount)
  } else if unsafe posix_memalign(&memory, alignment, byteCount) != 0 {
    unsafe memory = nil
  }
  guard let memory = unsafe memory else { fatalError("out of memory: \(byteCount) bytes") }
  return unsafe memory
}

/// Frees what `allocateMemory` allocated.
func freeMemory(_ memory: UnsafeMutableRawPointer) { unsafe free(memory) }
