import Dispatch
import Foundation
import Testing

@testable import UDI

/// Who awaits blocks no thread: while a factory runs elsewhere, as many tasks as there may be wait for it, and others go
/// on. (If waiting blocked their threads, nothing would be left to run `goesOn`, and the test would wait for ever.)
@Suite(.unlessItHangs, .silent) struct ObtainingWaitsTests {
  let context = UDIContext(tag: "context")

  private final class Slow: Sendable {}
  private final class Whole: Sendable {
    let slow: Slow
    init(slow: Slow) { self.slow = slow }
  }

  /// Registers a synchronous factory, and runs it on a thread of its own, until it is told to go on.
  private func begin(_ calls: Tally = Tally(), _ lifetime: UDILifetime = .context) async -> DispatchSemaphore {
    let (begun, goOn) = (Latch(), DispatchSemaphore(value: 0))
    context.register(Slow.self, lifetime: lifetime) {
      calls.add()
      begun.arrive()
      goOn.wait()
      return Slow()
    }
    Thread.detachNewThread { [context] in _ = context.link(Slow.self) }
    await begun.wait()
    return goOn
  }

  /// Runs several tasks that wait for the factory, then another task, which lets it go on.
  private func goesOn<Result: Sendable>(
    _ goOn: DispatchSemaphore, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> [Result] {
    let waiting = Latch(8)
    let tasks = (0..<8).map { _ in
      Task { try await Schedule.$hook.withValue({ if $0 == .waits { waiting.arrive() } }) { try await body() } }
    }
    await waiting.wait()
    await Task.detached { _ = goOn.signal() }.value
    var results: [Result] = []
    for task in tasks { results.append(try await task.value) }
    return results
  }

  @Test func eightWaiters() async throws {
    let calls = Tally()
    let goOn = await begin(calls)
    let all = try await goesOn(goOn) { [context] in try await context.obtain(Slow.self) }
    #expect(all.allSatisfy { $0 === all[0] } && calls.count == 1)
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context]) func atAParameter(_ lifetime: UDILifetime)
    async throws
  {
    let calls = Tally()
    let goOn = await begin(calls)
    context.register(Whole.self, lifetime: lifetime, using: Whole.init(slow:))
    let all = try await goesOn(goOn) { [context] in try await context.obtain(Whole.self) }
    #expect(all.allSatisfy { $0.slow === all[0].slow } && calls.count == 1)
    #expect(all.allSatisfy { $0 === all[0] } == ([.weak, .context].contains(lifetime)))
  }

  @Test func withObtainAllAndWarmUp() async throws {
    let calls = Tally()
    let goOn = await begin(calls)
    let all = try await goesOn(goOn) { [context] in
      try await context.warmUp()
      return try await context.obtainAll(Slow.self)
    }
    #expect(all.allSatisfy { $0.count == 1 && $0[0] === all[0][0] } && calls.count == 1)
  }

  @Test func whoFollows() async throws {
    let calls = Tally()
    let goOn = await begin(calls)
    let all = try await goesOn(goOn) { [context] in
      async let operation = context.whileAvailable(Slow.self) { slow in slow }
      let one = try await context.linkWhenAvailable(Slow.self)
      for await other in context.updates(of: Slow.self) where other != nil {
        let run = try await operation
        return [one, other, run]
      }
      return []
    }
    #expect(all.allSatisfy { $0.count == 3 && $0.allSatisfy { $0 === all[0][0] } } && calls.count == 1)
  }

  /// A factory in the background asks the main thread for something, while code on the main actor awaits its instance.
  @MainActor @Test func onTheMainActor() async throws {
    let (context, begun) = (context, Latch())
    @Sendable nonisolated func register() {
      context.register(Slow.self, lifetime: .context) {
        begun.arrive()
        return DispatchQueue.main.sync { Slow() }
      }
    }
    register()
    Thread.detachNewThread { _ = context.link(Slow.self) }
    await begun.wait()
    #expect(try await context.obtain(Slow.self) === context.link(Slow.self))
  }

  @Test(arguments: [false, true]) func aCancelledTaskReturnsAtOnce(_ isForParameter: Bool) async throws {
    let goOn = await begin()
    context.register(Whole.self, lifetime: .context, using: Whole.init(slow:))
    let waiting = Latch()
    let task = Task { [context] in
      try await Schedule.$hook.withValue({ if $0 == .waits { waiting.arrive() } }) {
        if isForParameter { _ = try await context.obtain(Whole.self) } else { _ = try await context.obtain(Slow.self) }
      }
    }
    await waiting.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    goOn.signal()
    _ = try await context.obtain(Whole.self)
  }

  /// A synchronous lookup takes no notice of a task that is still obtaining parameters: it makes the instance itself,
  /// or does not find it. The task then takes that instance.
  @Test func aThreadDoesNotWaitForATask() async throws {
    let (begun, release, calls, context) = (Latch(), Latch(), Tally(), context)
    context.register(Slow.self, lifetime: .context) {
      begun.arrive()
      await release.wait()
      return Slow()
    }
    let make = { @Sendable (slow: Slow) in
      calls.add()
      return Whole(slow: slow)
    }
    context.register(Whole.self, lifetime: .context, using: make)
    let task = Task { try await context.obtain(Whole.self) }
    await begun.wait()
    #expect(throws: UDILinkError.self) { try context.require(Whole.self) }
    let other = Slow()
    context.bind(other, as: Slow.self)
    let made = try context.require(Whole.self)
    #expect(made.slow === other && calls.count == 1)
    release.arrive()
    #expect(try await task.value === made && calls.count == 1)
  }
}
