#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What each thread has of its own, until it ends.
enum PerThread {
  /// Written once, by `prepare`. Not a lazy constant, which would be asked at each link whether it is there.
  @exclusivity(unchecked) private nonisolated(unsafe) static var key: pthread_key_t = 0

  /// Makes the key when it is first asked for, and says whether that succeeded: 0 if so.
  private static let keyStatus: Int32 = unsafe pthread_key_create(&key) { value in
    // Called when a thread ends, with what it stored; on Darwin the type says that this is never nil.
    let pointer: UnsafeMutableRawPointer? = unsafe value
    if let pointer = unsafe pointer { unsafe Unmanaged<Resolution>.fromOpaque(pointer).release() }
  }

  /// To be called before there is anything to make: whoever makes a provider or a set-up block does.
  static func prepare() {
    // Not a precondition: `-Ounchecked` leaves its condition out, and the key would never be made.
    guard keyStatus == 0 else { fatalError("no key for thread-specific values is left: \(keyStatus)") }
  }

  /// What the calling thread is making. Only where there is a provider or a set-up block, which the caller found under a lock.
  static var resolution: Unretained<Resolution> {
    @inline(__always)
    get {
      guard let stored = unsafe pthread_getspecific(key) else { return make() }
      return Unretained(address: UInt(bitPattern: stored))
    }
  }

  /// The same, but nil where the thread has made nothing yet. Only after `prepare`.
  static var presentResolution: Unretained<Resolution>? {
    unsafe pthread_getspecific(key).map { Unretained(address: UInt(bitPattern: $0)) }
  }

  @inline(never)
  private static func make() -> Unretained<Resolution> {
    let resolution = Resolution()
    unsafe pthread_setspecific(key, Unmanaged.passRetained(resolution).toOpaque())
    return Unretained(resolution)
  }
}
