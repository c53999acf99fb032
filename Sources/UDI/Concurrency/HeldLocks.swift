#if DEBUG
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

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
