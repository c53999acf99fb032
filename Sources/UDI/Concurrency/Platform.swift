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

/// Allocates memory for anything whose alignment is that of a word or two.
///
/// Straight from the C library: the standard library's `allocate` asks it for an alignment even where every block has that, and
/// so takes a path three times as slow.
func allocateMemory(byteCount: Int) -> UnsafeMutableRawPointer {
  guard let memory = unsafe malloc(byteCount) else { fatalError("out of memory: \(byteCount) bytes") }
  return unsafe memory
}

/// Frees what `allocateMemory` allocated.
func freeMemory(_ memory: UnsafeMutableRawPointer) { unsafe free(memory) }
