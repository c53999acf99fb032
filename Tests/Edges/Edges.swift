import Dispatch
import UDI

/// Runs tests that need a process or compiler flags of their own. `.ci/edges` builds this program in several ways and
/// runs it.
///
///     Edges thread-key    the library makes its key for thread-specific values itself
///     Edges key-below     it has its key before a lookup that finds something below reads it, although there is nothing to make
///     Edges key-miss      the same where the lookup finds nothing
///     Edges key-obtain    the same for `obtain`
///     Edges stack KIB     recursions without end on a stack of that size are errors
///     Edges other-queue   in another queue's `sync` the first thread is on the main actor, and no other thread is
///     Edges close         a context can be closed in a `catch` clause and again after it
///     Edges weak-value    stops, and says that a value cannot be held weakly
@main
struct Edges {
  static func main() async {
    switch CommandLine.arguments.dropFirst().first {
    case "thread-key": checkThreadKey()
    case "key-below": checkKeyIsMadeForLookups(isBelow: true)
    case "key-miss": checkKeyIsMadeForLookups(isBelow: false)
    case "key-obtain": await checkKeyIsMadeForObtain()
    case "stack": checkStack(kibibytes: CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 512)
    case "other-queue": checkOtherQueue()
    case "close": await checkClosing()
    case "weak-value":
      var dictionary = WeakValueDictionary<Int, any Sendable>()
      dictionary[1] = "a value"
    default:
      fail("usage: Edges thread-key | key-below | key-miss | key-obtain | stack KIB | other-queue | close | weak-value")
    }
  }

  /// Swift's own check decides, and the library must agree with it.
  static func checkOtherQueue() {
    let context = UDIContext(tag: "context")
    context.register(Int.self, lifetime: .unique) { @MainActor in 1 }
    let queue = DispatchQueue(label: "another")
    let here = queue.sync { MainActor.assumeIsolated { context.link(Int.self) } }
    check(here == 1, "the first thread is on the main actor in another queue's `sync`, too")
    let group = DispatchGroup()
    queue.async(group: group) { check(context.link(Int.self) == nil, "another thread is not") }
    group.wait()
  }

  /// Programs that own a tree are written like this. The compiler (Swift 6.3) crashes on it in release builds if
  /// `close` names the type of its error.
  static func checkClosing() async {
    @Sendable func run(_ root: UDIContext, _ server: @Sendable () async throws -> Void) async throws {
      do {
        try await root.warmUp()
        try await server()
      } catch is CancellationError where Task.isCancelled {
        // The program was told to stop.
      } catch {
        do { try await root.close() } catch { print("not everything was closed: \(error)") }
        throw error
      }
      try await root.close()
    }
    let root = UDIContext(tag: "root")
    root.provide(1)
    do { try await run(root) {} } catch { fail("\(error)") }
    check(root.link(Int.self) == nil, "the context is closed")
  }

  /// Not an assertion, because some of these builds leave assertions out.
  static func check(_ condition: Bool, _ message: String) {
    if !condition { fail(message) }
  }

  static func fail(_ message: String) -> Never { fatalError(message) }
}
