import Foundation
import UDI

/// What must cost four times as much for four times as many. Prints the processor time for both, and fails if it is more
/// than `limit` times as much. The best of seven rounds counts, because a machine may be busy.
@main struct Growth {
  static let (few, limit) = (10_000, 5.0)

  static func main() async throws {
    let scenarios: [(name: String, run: @Sendable (Int) async throws -> Double)] = [
      ("close a chain with a closer in each context", { try await chain($0) { try $0.makeChild(tag: $1) } }),
      ("close a chain of scopes with closers", { try await chain($0) { try $0.makeScope(tag: $1) } }),
      ("close a chain with watchers", watchers),
      ("close a root while its scopes close by themselves", scopes),
      ("make services that run, by arguments", services),
      ("cancel those that wait for one instance", waiters),
    ]
    var hasFailed = false
    for (name, run) in scenarios {
      var ratio = Double.infinity
      for _ in 0..<7 where ratio > limit {
        let times = (try await run(few), try await run(4 * few))
        ratio = min(ratio, times.1 / times.0)
        print(String(format: "%.3f s, %.3f s for 4 times as many: %.1f  %@", times.0, times.1, ratio, name))
      }
      hasFailed = hasFailed || ratio > limit
    }
    if hasFailed {
      print("OVER THE LIMIT of \(limit)")
      exit(1)
    }
  }

  /// The processor time that something takes, in seconds.
  static func time(_ body: () async throws -> Void) async rethrows -> Double {
    let start = clock()
    try await body()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC)
  }

  static func chain(_ count: Int, _ make: (UDIContext, String) throws -> UDIContext) async throws -> Double {
    let root = UDIContext(tag: "root")
    var last = root
    for level in 0..<count {
      last = try make(last, "\(level)")
      last.provide("").onClose { _ in }
    }
    defer { withExtendedLifetime(last) {} }
    return try await time { try await root.close() }
  }

  @Sendable static func watchers(_ count: Int) async throws -> Double {
    let root = UDIContext(tag: "root")
    var last = root
    for level in 0..<count { last = try last.makeChild(tag: "\(level)") }
    var followers = (0..<4).map { _ in last.updates(of: String.self).makeAsyncIterator() }
    for index in followers.indices { _ = await followers[index].next() }
    defer { withExtendedLifetime((last, followers)) {} }
    return try await time { try await root.close() }
  }

  @Sendable static func scopes(_ count: Int) async throws -> Double {
    let root = UDIContext(tag: "root")
    let scopes = try (0..<count).map { try root.makeScope(tag: "\($0)") }
    for scope in scopes { scope.provide("").onClose { _ in } }
    return try await time {
      let closing = scopes.map { scope in Task { try await scope.close() } }
      try await root.close()
      for task in closing { try await task.value }
    }
  }

  @Sendable static func services(_ count: Int) async throws -> Double {
    let root = UDIContext(tag: "root")
    root.register(String.self, lifetime: .context) { (_, number: Int) in "\(number)" }.running(mayEnd: true) { _ in }
    let result = await time { for number in 0..<count { _ = root.link(String.self, with: number) } }
    try await root.close()
    return result
  }

  @Sendable static func waiters(_ count: Int) async throws -> Double {
    let root = UDIContext(tag: "root")
    root.register(String.self) { () async throws in
      try await Task.sleep(for: .seconds(1000))
      return ""
    }
    let tasks = (0..<count).map { _ in Task { try await root.obtain(String.self) } }
    return await time {
      for task in tasks { task.cancel() }
      for task in tasks { _ = await task.result }
    }
  }
}
