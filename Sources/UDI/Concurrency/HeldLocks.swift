#if DEBUG
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// How many of the library's locks each thread holds: in debug builds only, so that a test can tell that nothing of a user's is run or
  /// released under one.
  package enum HeldLocks {
    private static let key: pthread_key_t = {
      var key: pthread_key_t = 0
      let status = unsafe pthread_key_create(&key, nil)
      guard status == 0 else { fatalError("no key for thread-specific values is left: \(status)") }
      return key
    }()

    /// How many the calling thread holds.
    package static var count: Int { unsafe Int(bitPattern: pthread_getspecific(key)) }

    /// Notes that the calling thread has taken one, or given one back.
    static func change(by difference: Int) {
      unsafe _ = pthread_setspecific(key, UnsafeRawPointer(bitPattern: count + difference))
    }
  }
#endif
