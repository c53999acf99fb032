import Synchronization
import UDI

private protocol Guest: AnyObject, Sendable {}
private protocol Host: AnyObject, Sendable {}
private final class Person: Guest, Host {}

/// How many services were made, and how many were closed.
private final class Services: Sendable {
  let made = Atomic<Int>(0)
  let closed = Atomic<Int>(0)

  func check() {
    let (made, closed) = (made.load(ordering: .sequentiallyConsistent), closed.load(ordering: .sequentiallyConsistent))
    precondition(made == closed, "\(made) were made, and \(closed) closed")
  }
}

/// How many operations are running.
private final class Running: Sendable {
  private let count = Atomic<Int>(0)
  private let total = Atomic<Int>(0)
  var hasBegun: Bool { total.load(ordering: .sequentiallyConsistent) > 0 }

  func begin() {
    precondition(count.add(1, ordering: .sequentiallyConsistent).newValue == 1, "two operations at once")
    total.add(1, ordering: .sequentiallyConsistent)
  }

  func end() { count.subtract(1, ordering: .sequentiallyConsistent) }
  func checkEnd() { precondition(count.load(ordering: .sequentiallyConsistent) == 0, "an operation is left") }
}

/// Lets two dependencies of `whileAvailable` come and go on two threads, and be replaced. There must never be two
/// operations at once, and none afterwards.
func comeAndGo(_ times: Int) async {
  let context = UDIContext(tag: "party")
  let people = (0..<4).map { _ in Person() }
  let running = Running()
  let consumer = Task {
    try await context.whileAvailable((any Guest).self, (any Host).self) { _, _ in
      running.begin()
      while !Task.isCancelled { await Task.yield() }
      running.end()
    }
  }
  await withTaskGroup { group in
    group.addTask {
      await onThread {
        for index in 0..<times {
          context.bind(people[index % 2], as: (any Guest).self)
          if index % 3 == 0 { context.unbind((any Guest).self) }
        }
        context.bind(people[0], as: (any Guest).self)
      }
    }
    group.addTask {
      await onThread {
        for index in 0..<times {
          context.bind(people[2 + index % 2], as: (any Host).self)
          if index % 5 == 0 { context.unbind((any Host).self) }
        }
        context.bind(people[2], as: (any Host).self)
      }
    }
  }
  while !running.hasBegun { await Task.yield() }
  consumer.cancel()
  _ = await consumer.result
  running.checkEnd()
  withExtendedLifetime(people) {}
}

/// Lets several tasks close scopes in which services are made, followed and closed, while their parent is followed, too.
/// Each service must be closed once, before its scope has ended.
func openAndClose(_ times: Int) async throws {
  let services = Services()
  let root = UDIContext(tag: "office")
  root.register((any Guest).self, lifetime: .scope) { () async throws in
    services.made.add(1, ordering: .sequentiallyConsistent)
    return Person()
  }.onClose { _ in
    services.closed.add(1, ordering: .sequentiallyConsistent)
  }
  root.register((any Host).self, lifetime: .unique) { context in
    (try? context.require((any Guest).self)).map { _ in Person() }
  }
  try await withThrowingTaskGroup { group in
    for task in 0..<4 {
      group.addTask {
        for index in 0..<times {
          let scope = try root.makeScope(tag: "\(task) \(index)")
          let inner = try scope.makeScope(tag: "inner")
          async let followed: Int = scope.updates(of: (any Host).self).reduce(0) { count, _ in count + 1 }
          async let obtained = try? scope.obtain((any Guest).self)
          if index % 2 == 0 { _ = try? await inner.obtain((any Guest).self) }
          if index % 3 == 0 { _ = await obtained }
          async let first: Void = scope.close()
          async let second: Void = inner.close()
          async let third: Void = index % 4 == 0 ? root.untilFirstUpdate() : ()
          _ = try await (first, second, third, followed, obtained)
        }
      }
    }
    try await group.waitForAll()
  }
  try await root.close()
  services.check()
}

extension UDIContext {
  fileprivate func untilFirstUpdate() async { for await _ in updates(of: (any Host).self) { return } }
}
