import Synchronization
import UDI

private protocol Guest: AnyObject, Sendable {}
private protocol Host: AnyObject, Sendable {}
private final class Person: Guest, Host {}

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
