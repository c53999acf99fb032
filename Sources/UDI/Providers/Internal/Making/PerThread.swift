#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What each thread has for itself until it ends.
enum PerThread {
  /// Written once, by `prepare`. Not a lazy constant, because each link would then check whether the constant has been
  /// initialised.
  @exclusivity(unchecked) private nonisolated(unsafe) static var key: pthread_key_t = 0

  /// Makes the key on first access, and tells whether that succeeded: 0 if so.
  private static let keyStatus: Int32 = unsafe pthread_key_create(&key) { value in
    // The system calls this when a thread ends, and passes what the thread stored. On Darwin the parameter's type says
    // that this is never nil.
    let pointer: UnsafeMutableRawPointer? = unsafe value
    if let pointer = unsafe pointer { unsafe Unmanaged<Resolution>.fromOpaque(pointer).release() }
  }

  /// Call this before there is anything to make: whoever creates a provider or a set-up block calls it.
  static func prepare() {
    // This is not a precondition: `-Ounchecked` removes a precondition's condition, and the key would never be made.
    guard keyStatus == 0 else { fatalError("no key for thread-specific values is left: \(keyStatus)") }
  }

  /// What the calling thread is making. It lives as long as the thread. Use this only if there is a provider or a
  /// set-up block, which the caller has found while holding a lock.
  static var resolution: Unretained<Resolution> {
    @inline(__always)
    get {
      guard let stored = unsafe pthread_getspecific(key) else { return make() }
      return unsafe Unretained(address: UInt(bitPattern: stored))
    }
  }

  /// The same as `resolution`, or nil if the thread has made nothing yet. Use this only after `prepare`.
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
