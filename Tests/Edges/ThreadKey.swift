import UDI

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

extension Edges {
  /// The library stores what a thread is making under a key of its own, not under one that somebody else made.
  static func checkThreadKey() {
    /// The values of this thread under all keys.
    func values() -> [UInt] {
      (0..<pthread_key_t(PTHREAD_KEYS_MAX)).map { unsafe UInt(bitPattern: pthread_getspecific($0)) }
    }
    // Keys are given out in order, so the library's lies between these two.
    var (first, last): (pthread_key_t, pthread_key_t) = (0, 0)
    unsafe check(pthread_key_create(&first, nil) == 0, "there are keys")
    let before = values()
    let context = UDIContext(tag: "context")
    context.register(Product.self) { Product() }
    check(context.link(Product.self) != nil, "the provider makes one")
    let after = values()
    unsafe check(pthread_key_create(&last, nil) == 0, "there are keys")
    check(last == first + 2, "the library has made one key; the keys around it are \(first) and \(last)")
    let changed = before.indices.filter { before[$0] != after[$0] }
    check(changed == [Int(first) + 1], "values changed under the keys \(changed); the library's is \(first + 1)")
    print("the library stores under a key of its own")
  }

  private final class Product: Sendable {}
}
