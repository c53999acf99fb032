#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Each thread's resolution, which lives until the thread ends.
enum PerThread {
  /// The thread key. Written once, by `prepare`. If this were a lazy constant, each link would check whether it has
  /// been initialised.
  @exclusivity(unchecked) private nonisolated(unsafe) static var key: pthread_key_t = 0

  /// Makes the thread key on first access. 0 if that succeeded, otherwise the system's error code.
  private static let keyStatus: Int32 = unsafe pthread_key_create(&key) { value in
    // The system calls this closure when a thread ends, and passes the value that the thread stored. On Darwin, the
    // parameter's type says that the value is never nil.
    let pointer: UnsafeMutableRawPointer? = unsafe value
    if let pointer = unsafe pointer { unsafe Unmanaged<Resolution>.fromOpaque(pointer).release() }
  }

  /// Makes the thread key. Everything that creates a provider calls this first.
  @inline(__always)
  static func prepare() {
    // The check is not a `precondition`, because under `-Ounchecked` the condition of a `precondition` is not
    // evaluated, and the thread key would never be made.
    guard keyStatus == 0 else { fatalError("no key for thread-specific values is left: \(keyStatus)") }
  }

  /// The calling thread's resolution, which lives as long as the thread. Use this only if a provider exists:
  /// the thread key is made before the first one. The caller must have found the provider while holding a lock, so that
  /// it certainly sees the thread key.
  static var resolution: Unretained<Resolution> {
    @inline(__always)
    get {
      guard let stored = unsafe pthread_getspecific(key) else { return make() }
      return unsafe Unretained(address: UInt(bitPattern: stored))
    }
  }

  /// The calling thread's resolution, or nil if the thread has none yet. Use this only after `prepare`.
  static var presentResolution: Unretained<Resolution>? {
    unsafe pthread_getspecific(key).map { unsafe Unretained(address: UInt(bitPattern: $0)) }
  }

  @inline(never)
  private static func make() -> Unretained<Resolution> {
    let resolution = Resolution()
    unsafe pthread_setspecific(key, Unmanaged.passRetained(resolution).toOpaque())
    return Unretained(resolution)
  }
}
