import Testing

@testable import UDI

/// Creations and runs of `close()` that wait for one another, and creations that nobody waits for any more.
@Suite(.unlessItHangs, .silent) struct ActivityTests {
  let one = UDIContext(tag: "one")
  let other = UDIContext(tag: "other")

  // MARK: - Circles

  /// A closer waits for a factory that somebody else began, and that closes the closer's context.
  @Test func aFactoryThatClosesTheContextOfACloserThatWaitsForIt() async throws {
    let (one, other, begun, go) = (one, other, Latch(), Latch())
    one.provide(Plain()).onClose { _ in
      go.arrive()
      _ = try await other.obtain((any Alpha).self)
    }
    other.register((any Alpha).self, lifetime: .context) { _ async throws in
      begun.arrive()
      await go.wait()
      try await one.close()
      return Made()
    }
    let first = Task { try await other.obtain((any Alpha).self) }
    await begun.wait()
    try await one.close()
    #expect(try await first.value === other.link((any Alpha).self))
  }

  /// A factory waits for a run of `close()` that somebody else began, and whose closer needs what the factory makes.
  @Test func aCloserThatNeedsWhatWaitsForItsEnd() async throws {
    // Both the factory and the task that asks for it wait.
    let (one, other, begun, waiting) = (one, other, Latch(), Latch(2))
    one.register((any Alpha).self, lifetime: .context) { _ async throws in
      try await other.close()
      return Made()
    }
    other.provide(Plain()).onClose { _ in
      begun.arrive()
      await waiting.wait()
      _ = try await one.obtain((any Alpha).self)
    }
    let first = Task { try await other.close() }
    await begun.wait()
    let error = await #expect(throws: UDICloseError.self) {
      try await Schedule.$hook.withValue({ if $0 == .waits { waiting.arrive() } }) {
        try await one.obtain((any Alpha).self)
      }
    }
    await #expect(throws: UDICloseError.self) { try await first.value }
    guard case .cycle(let path)? = (error?.failures.first?.error as? UDILinkError)?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path.map { $0.split(separator: ".").last } == ["Alpha", "Plain", "Alpha"])
  }

  @Test func twoClosersThatCloseEachOthersContext() async throws {
    let (one, other, both) = (one, other, Latch(2))
    one.provide(1).onClose { _ in
      both.arrive()
      await both.wait()
      try await other.close()
    }
    other.provide(2).onClose { _ in
      both.arrive()
      await both.wait()
      try await one.close()
    }
    async let first: Void = one.close()
    async let second: Void = other.close()
    _ = try await (first, second)
    #expect(one.link(Int.self) == nil && other.link(Int.self) == nil)
  }

  /// A task that a closer has started, and that outlives it, waits like any other.
  @Test func aTaskThatOutlivesACloser() async throws {
    let (one, closed) = (one, Latch())
    let child = try one.makeChild(tag: "child")
    child.provide(1).onClose { _ in
      Task {
        try? await one.close()
        closed.arrive()
      }
    }
    try await one.close()
    await closed.wait()
    #expect(child.link(Int.self) == nil)
  }

  /// Each call is asked for by a task that the previous one started, and that outlives it. None asks for the next.
  @Test func manyCallsOneAfterTheOther() async throws {
    let (context, ended, failed) = (one, Latch(1200), Tally())
    context.register((any Alpha).self) { (context, number: Int) async in
      if number > 0 {
        let call = AsyncCall.current
        Task {
          await eventually { call?.isUnderWay != true }
          if (try? await context.obtain((any Alpha).self, with: number - 1)) == nil { failed.add() }
          ended.arrive()
        }
      }
      return Made()
    }
    _ = try await context.obtain((any Alpha).self, with: 1200)
    await ended.wait()
    #expect(failed.count == 0)
  }

  // MARK: - Abandoned creations

  /// However many tasks ask and are cancelled while a call ignores its cancellation, one creation waits for its end.
  @Test func oneSuccessorIsEnough() async throws {
    let (context, begun, release, runs, creations) = (one, Latch(), Latch(), Tally(), Tally())
    context.register((any Alpha).self, lifetime: .context) {
      runs.add()
      begun.arrive()
      await release.wait()
      return Made()
    }
    func task() -> Task<any Alpha, any Error> {
      Task {
        try await Schedule.$hook.withValue({ if $0 == .storesTask { creations.add() } }) {
          try await context.obtain((any Alpha).self)
        }
      }
    }
    func isAwaited() -> Bool { context.change { node, _ in node.creation?.isWanted == true } }
    let first = task()
    await begun.wait()
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    for _ in 0..<100 {
      let next = task()
      await eventually { isAwaited() }
      next.cancel()
      await #expect(throws: CancellationError.self) { try await next.value }
    }
    let last = task()
    await eventually { isAwaited() }
    release.arrive()
    #expect(try await last.value === context.link((any Alpha).self))
    #expect(runs.count == 2 && creations.count == 2)
  }

  /// The creation has been abandoned before it could begin, and its factory is not called.
  @Test func anAbandonedSuccessorDoesNotBegin() async throws {
    let (context, begun, release, runs) = (one, Latch(), Latch(), Tally())
    context.register((any Alpha).self, lifetime: .context) {
      runs.add()
      begun.arrive()
      await release.wait()
      return Made()
    }
    let first = Task { try await context.obtain((any Alpha).self) }
    await begun.wait()
    first.cancel()
    _ = try? await first.value
    let waits = Latch()
    let second = Task {
      try await Schedule.$hook.withValue({ if $0 == .waits { waits.arrive() } }) {
        try await context.obtain((any Alpha).self)
      }
    }
    await waits.wait()
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    release.arrive()
    await eventually { context.change({ node, _ in node.creation == nil }) }
    #expect(runs.count == 1)
    _ = try await context.obtain((any Alpha).self)
    #expect(runs.count == 2)
  }

  /// The only task that asks is cancelled before its creation refers to the task that makes the instance.
  @Test func aCreationThatIsAbandonedAtOnce() async throws {
    let (context, isCancelled) = (one, Latch())
    context.register((any Alpha).self, lifetime: .context) {
      await isCancelled.wait()
      try await untilCancelled()
      return Made()
    }
    let first = Task {
      try await Schedule.$hook.withValue({ point in
        guard point == .storesTask else { return }
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        isCancelled.arrive()
      }) { try await context.obtain((any Alpha).self) }
    }
    await #expect(throws: CancellationError.self) { try await first.value }
    // If the factory has begun, its task is cancelled.
    await eventually { context.change({ node, _ in node.creation == nil }) }
  }

  /// One reset empties several storages. What stands for them ends in the order in which it began.
  @Test func resetsOfStoragesLeaveNothingBehind() {
    let context = one
    onThreads(1) { _ in
      for name in ["1", "2", "3"] {
        let lifetime = UDILifetime("stored", storage: .custom { SharedCreationTests.Strong() })
        context.register((any Alpha).self, named: UDIName(name), lifetime: lifetime) { Made() }
        _ = context.link((any Alpha).self, named: UDIName(name))
      }
      context.reset()
      let left = Tree.change { _ in Resolution.current.read { $0.creations.count } }
      #expect(left == 0)
    }
  }

  /// While a context is being closed, nothing is made there, for other arguments neither.
  @Test func nothingIsMadeForOtherArgumentsDuringAClose() async throws {
    let (context, made, journal) = (one, Tally(), Journal())
    context.register(Made.self, lifetime: .context) { (_, number: Int) in
      made.add()
      return Made("\(number)")
    }.onClose { closed in
      journal.add("closes \(closed.label)")
      for number in 1...2 { journal.add("\(context.link(Made.self, with: number)?.label ?? "nothing")") }
    }
    _ = context.link(Made.self, with: 1)
    try await context.close()
    #expect(journal.all == ["closes 1", "1", "nothing"] && made.count == 1)
  }
}

extension Node {
  /// The creation of the context's only asynchronous provider.
  fileprivate var creation: Creation? {
    var found: Creation?
    treeLocked.providers.forEach { found = found ?? $0.provider.creation }
    return found
  }
}
