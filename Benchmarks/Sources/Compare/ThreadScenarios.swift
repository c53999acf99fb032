import UDI

/// Two threads at once, and one thread alone.
func threadScenarios(_ plain: Plain) -> [Scenario] {
  let contexts = (0..<2).map { UDIContext(tag: "\($0)") }
  let objects = contexts.map { _ in Plain() }
  for (context, object) in zip(contexts, objects) { context.bind(object, as: (any Service).self) }
  keepAlive(objects as AnyObject)
  expect("a hit for each thread") { zip(contexts, objects).allSatisfy { $0.link((any Service).self) === $1 } }
  // Long enough that it does not matter where the scheduler puts the threads at first.
  let count = 2_000_000
  let hits = { @Sendable (index: Int) in
    let context = contexts[index]
    for _ in 0..<count { opaque(context.link((any Service).self)) }
  }
  let misses = { @Sendable (index: Int) in
    let context = contexts[index]
    for _ in 0..<count { opaque(context.link((any Missing).self)) }
  }
  let shared = { @Sendable (_: Int) in
    let context = contexts[0]
    for _ in 0..<count { opaque(context.link((any Service).self)) }
  }
  // The requests of one server: their scopes are side by side, below one context.
  let server = UDIContext(tag: "server")
  let requestObjects = (0..<2).map { _ in (0..<3).map { _ in Plain() } }
  let requests = { @Sendable (index: Int) in
    for _ in 0..<count / 20 { useScope(of: server, "\(index)", requestObjects[index]) }
  }
  return [
    // What threads take that wait for each other depends on where the processor's cores are.
    Scenario("one thread, scopes", .printed, operations: count / 20) { onThreads(1, requests) },
    Scenario("two threads, scopes of one context", .printed, operations: count / 20) { onThreads(2, requests) },
    Scenario("two threads on the same binding", .printed, operations: count) { onThreads(2, shared) },
    // These threads share nothing. If they did, they would take at least twice as long as one, unless other programs
    // left them only one core.
    Scenario("one thread, hits", .printed, operations: count) { onThreads(1, hits) },
    Scenario("two threads, hits, a context each", .against("one thread, hits", 1.5), operations: count) {
      onThreads(2, hits)
    },
    Scenario("one thread, misses", .printed, operations: count) { onThreads(1, misses) },
    Scenario("two threads, misses, a context each", .against("one thread, misses", 1.5), operations: count) {
      onThreads(2, misses)
    },
  ]
}
