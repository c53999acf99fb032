import UDI

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

extension Edges {
  /// The library stores what a thread is making under a thread key of its own, not under somebody else's.
  static func checkThreadKey() {
    /// The values of this thread under all keys.
    func values() -> [UInt] {
      (0..<pthread_key_t(PTHREAD_KEYS_MAX)).map { unsafe UInt(bitPattern: pthread_getspecific($0)) }
    }
    // Keys are given out in order, so the library's key lies between these two.
    var (first, last): (pthread_key_t, pthread_key_t) = (0, 0)
    unsafe check(pthread_key_create(&first, nil) == 0, "there are keys")
    let before = values()
    let context = UDIContext(tag: "context")
    context.register(Product.self, lifetime: .unique) { Product() }
    check(context.link(Product.self) != nil, "the provider makes one")
    let after = values()
    unsafe check(pthread_key_create(&last, nil) == 0, "there are keys")
    check(last == first + 2, "the library has made one key; the keys around it are \(first) and \(last)")
    let changed = before.indices.filter { before[$0] != after[$0] }
    check(changed == [Int(first) + 1], "values changed under the keys \(changed); the library's is \(first + 1)")
    print("the library stores under a key of its own")
  }

  /// Lookups ask what the thread is making, even if nobody has registered anything and so created the key.
  ///
  /// - Parameter isBelow: Whether the lookup finds something below. If not, it finds nothing, and would go up only in a
  ///   factory.
  static func checkKeyIsMadeForLookups(isBelow: Bool) {
    var first: pthread_key_t = 0
    unsafe check(pthread_key_create(&first, nil) == 0, "there are keys")
    // Before the library has created its key, the key is 0. Reading under that key stops the program.
    let theirs = unsafe pthread_getspecific(0)
    unsafe pthread_setspecific(0, UnsafeMutableRawPointer(bitPattern: 0x11))
    unsafe check(pthread_getspecific(0) != nil, "something stands under key 0")
    let (context, product) = (UDIContext(tag: "context", search: .descendants), Product())
    if isBelow { _ = try? context.makeChild(tag: "child").bind(product, as: Product.self) }
    let found = context.link(Product.self)
    unsafe pthread_setspecific(0, theirs)
    check(found === (isBelow ? product : nil), "the lookup finds \(isBelow ? "what is below" : "nothing")")
    print("the library has its key before a lookup that finds \(isBelow ? "something below" : "nothing") reads it")
  }

  /// The same for `obtain` in a tree without any provider.
  static func checkKeyIsMadeForObtain() async {
    var first: pthread_key_t = 0
    unsafe check(pthread_key_create(&first, nil) == 0, "there are keys")
    let theirs = unsafe pthread_getspecific(0)
    unsafe pthread_setspecific(0, UnsafeMutableRawPointer(bitPattern: 0x11))
    // Nothing suspends this call, so it stays on this thread.
    let found = try? await UDIContext(tag: "context").obtain(Product.self)
    unsafe pthread_setspecific(0, theirs)
    check(found == nil, "nothing is found")
    print("the library has its key before `obtain` reads it")
  }

  private final class Product: Sendable {}
}
