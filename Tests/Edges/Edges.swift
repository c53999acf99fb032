import UDI

/// Tries what needs a process or compiler flags of its own; `.ci/edges` builds it in several ways and runs it.
///
///     Edges thread-key    the library makes its key for thread-specific values itself
///     Edges stack KIB     recursions without end on a stack of that size are errors
///     Edges weak-value    stops, and says that a value cannot be held weakly
@main
struct Edges {
  static func main() {
    switch CommandLine.arguments.dropFirst().first {
    case "thread-key": checkThreadKey()
    case "stack": checkStack(kibibytes: CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 512)
    case "weak-value":
      var dictionary = WeakValueDictionary<Int, any Sendable>()
      dictionary[1] = "a value"
    default: fail("usage: Edges thread-key | stack KIB | weak-value")
    }
  }

  /// Not an assertion, which some of the ways to build this leave out.
  static func check(_ condition: Bool, _ message: String) {
    if !condition { fail(message) }
  }

  static func fail(_ message: String) -> Never { fatalError(message) }
}
