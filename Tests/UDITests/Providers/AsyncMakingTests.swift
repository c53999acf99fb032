import Foundation
import Testing

@testable import UDI

/// What can happen at the same time as an asynchronous making, and what must not be left behind afterwards.
@Suite(.unlessItHangs, .silent) struct AsyncMakingTests {
  let context = UDIContext(tag: "context")

  final class Pair: Sendable {
    let one: any Service, other: any Service
    init(_ one: any Service, _ other: any Service) { (self.one, self.other) = (one, other) }
  }

  // MARK: - Graphs

  @Test(arguments: [UDILifetime.unique, .graph, .context]) func theGraphIsOneForAllThatAnObtainMakes(
    _ lifetime: UDILifetime
  ) async throws {
    context.register((any Service).self, lifetime: .graph) {
      await Task.yield(); return Plain()
    }
    context.register(Pair.self, lifetime: lifetime) { context in
      async let one = context.obtain((any Service).self)
      async let other = context.obtain((any Service).self)
      return Pair(try await one, try await other)
    }
    let (first, second) = (try await context.obtain(Pair.self), try await context.obtain(Pair.self))
    #expect(first.one === first.other)
    #expect((first === second) == (lifetime == .context))
    if first !== second { #expect(first.one !== second.one) }
  }

  @Test(arguments: [UDILifetime.unique, .context]) func aTaskThatOutlivesItsFactoryHoldsNothingOfTheGraph(
    _ lifetime: UDILifetime
  ) async throws {
    let (census, go, obtained) = (Census(), Latch(), Latch())
    let last = Locked<[Made]>([])
    context.register(Made.self, lifetime: .graph) {
      await Task.yield(); return Made("graph", census)
    }
    context.register((any Service).self, lifetime: lifetime) { context in
      _ = try await context.obtain(Made.self)
      Task {
        await go.wait()
        for _ in 0..<2 {
          let one = try? await context.obtain(Made.self)
          last.withLock { $0 += [one].compactMap { $0 } }
        }
        obtained.arrive()
        try? await Task.sleep(for: .seconds(3600))
      }
      return Plain()
    }
    let made = try await context.obtain((any Service).self)
    await eventually { census.alive == 0 }
    go.arrive()
    await obtained.wait()
    #expect(last.current.count == 2 && last.current[0] !== last.current[1])
    withExtendedLifetime(made) {}
  }

  // MARK: - Watchers

  @Test func whoWaitsForAnotherTypeOrBelowGetsItToo() async throws {
    let child = try context.makeChild(tag: "child")
    let (begun, release) = (Latch(), Latch())
    context.register(Plain.self, lifetime: .context) {
      begun.arrive()
      await release.wait(); return Plain()
    }.implements((any Service).self).implements((any Other).self)
    let ((), misuse) = try await MisuseLog.during {
      async let one = child.linkWhenAvailable((any Service).self)
      async let other = context.linkWhenAvailable((any Other).self)
      async let same = child.linkWhenAvailable(Plain.self)
      async let made = context.obtain(Plain.self)
      await begun.wait()
      for _ in 0..<100 { await Task.yield() }
      release.arrive()
      let expected = try await made
      let found = [try await one as AnyObject, try await other, try await same]
      #expect(found.allSatisfy { $0 === expected })
    }
    #expect(misuse.isEmpty, "\(misuse)")
  }

  @Test func whoWaitsAboveForAnotherTypeGetsItToo() async throws {
    let child = try context.makeChild(tag: "child")
    child.register(Plain.self, lifetime: .context) {
      await Task.yield(); return Plain()
    }.implements((any Service).self)
    let waiting = Task { [context] in try await context.linkWhenAvailable((any Service).self) }
    for _ in 0..<100 { await Task.yield() }
    let made = try await child.obtain(Plain.self)
    #expect(try await waiting.value === made)
  }

  @Test func updatesTellOfAReset() async throws {
    context.register((any Service).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    let made = try await context.obtain((any Service).self)
    var updates = context.updates(of: (any Service).self).makeAsyncIterator()
    #expect((await updates.next() ?? nil) === made)
    context.reset()
    let next = await updates.next()
    #expect(next != nil && next! == nil)
  }

  // MARK: - Storages

  /// Has nothing for the next few calls of `load`, as if another task stored something only then.
  final class Late: UDIStorage {
    private let kept = Locked<UDIMade?>(nil)
    let misses = Locked(0)
    let onStore: @Sendable () -> Void
    init(onStore: @escaping @Sendable () -> Void = {}) { self.onStore = onStore }
    func load() -> UDIMade? {
      let isMiss = misses.withLock { (count: inout Int) in
        count -= 1; return count >= 0
      }
      return isMiss ? nil : kept.withLock { $0 }
    }
    func store(_ made: UDIMade) {
      onStore()
      kept.withLock { $0 = made }
    }
    func reset() { kept.withLock { $0 = nil } }
  }

  @Test func whatAnotherTaskHasJustStoredIsNotMadeAgain() async throws {
    let (late, count) = (Late(), Locked(0))
    context.register((any Service).self, lifetime: UDILifetime("late", storage: .custom { late })) {
      count.withLock { $0 += 1 }
      await Task.yield(); return Plain()
    }
    let made = try await context.obtain((any Service).self)
    late.misses.withLock { $0 = 1 }
    #expect(try await context.obtain((any Service).self) === made)
    #expect(count.current == 1)
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["LIBDISPATCH_COOPERATIVE_POOL_STRICT"] == nil))
  func whatIsBeingKeptIsNotMadeAgain() async throws {
    let (begun, release, count) = (Latch(), Latch(), Locked(0))
    let first = Locked<Task<any Service, any Error>?>(nil), second = Locked<Task<any Service, any Error>?>(nil)
    let waits = DispatchSemaphore(value: 0), isFirst = Locked(true)
    let late = Late {
      guard
        isFirst.withLock({ (first: inout Bool) in
          defer { first = false }; return first
        })
      else { return }
      first.current?.cancel()
      second.withLock { task in
        task = Task.detached { [context] in
          try await Schedule.$hook.withValue({ if $0 == .waits { waits.signal() } }) {
            try await context.obtain((any Service).self)
          }
        }
      }
      waits.wait()
    }
    context.register((any Service).self, lifetime: UDILifetime("late", storage: .custom { late })) {
      count.withLock { $0 += 1 }
      begun.arrive()
      await release.wait(); return Plain()
    }
    first.withLock { $0 = Task.detached { [context] in try await context.obtain((any Service).self) } }
    await begun.wait()
    release.arrive()
    _ = try? await first.current?.value
    let made = try await second.current?.value
    #expect(context.link((any Service).self) === made)
    #expect(count.current == 1)
  }

  // MARK: - Again and again

  @Test func whoeverAsksWithOtherArgumentsEachTimeGetsAnError() async throws {
    let runs = Locked(0)
    context.register((any Other).self, lifetime: .context) { (_, number: Int) in
      await Task.yield(); return Plain("\(number)")
    }
    context.register((any Service).self) { context in
      runs.withLock { $0 += 1 }
      _ = try context.require((any Other).self, with: runs.current)
      return Plain()
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain((any Service).self) }
    #expect(error?.cause == .asynchronous(nil) && runs.current == 1)
  }

  // MARK: - Abandoned creations

  @Test func anAbandonedCreationLeavesNoTrace() async throws {
    let (begun, release) = (Latch(), Latch())
    context.register((any Service).self, lifetime: .context) { (_, number: Int) in
      begun.arrive()
      await release.wait()
      return Plain()
    }
    let first = Task { try await context.obtain((any Service).self, with: 1) }
    await begun.wait()
    first.cancel()
    _ = try? await first.value
    let waiting = Latch()
    let second = Task {
      try await Schedule.$hook.withValue({ if $0 == .waits { waiting.arrive() } }) {
        try await context.obtain((any Service).self, with: 1)
      }
    }
    await waiting.wait()
    second.cancel()
    _ = try? await second.value
    release.arrive()
    func isAtRest() -> Bool {
      context.change { node, _ in
        var result = true
        node.treeLocked.providers.forEach {
          for cache in $0.provider.caches?.all ?? [] where !cache.isAtRest { result = false }
        }
        return result
      }
    }
    for _ in 0..<100_000 where !isAtRest() { await Task.yield() }
    #expect(isAtRest())
  }

  @Test func aCreationThatFailsLetsGoOfItsArguments() async {
    context.register((any Service).self, lifetime: .context) { (_, _: UDIContext) async throws -> Plain? in
      await Task.yield(); throw OutOfOrder()
    }
    weak var argument: UDIContext?
    do {
      let other = UDIContext(tag: "argument")
      argument = other
      await #expect(throws: OutOfOrder.self) { try await context.obtain((any Service).self, with: other) }
    }
    await eventually { argument == nil }
  }

  @Test(arguments: [false, true]) func anAbandonedCreationThatNeedsItsSuccessor(_ isBegunByAnother: Bool) async throws {
    let (begun, release, done, runs) = (Latch(), Latch(), Latch(), Locked(0))
    context.register((any Alpha).self, lifetime: .context) { context in
      let isFirst = runs.withLock { (count: inout Int) in
        count += 1; return count == 1
      }
      guard isFirst else { return Made() }
      begun.arrive()
      await release.wait()
      defer { done.arrive() }
      // This task is not cancelled with the factory.
      return try await Task {
        _ = try await context.obtain((any Beta).self)
        return Made()
      }.value
    }
    context.register((any Beta).self, lifetime: .context) { context in
      _ = try await context.obtain((any Alpha).self)
      return Made()
    }
    let first = Task { try await context.obtain((any Alpha).self) }
    await begun.wait()
    first.cancel()
    _ = try? await first.value
    var second: Task<any Alpha, any Error>?
    if isBegunByAnother {
      let waiting = Latch()
      second = Task {
        try await Schedule.$hook.withValue({ if $0 == .waits { waiting.arrive() } }) {
          try await context.obtain((any Alpha).self)
        }
      }
      await waiting.wait()
    }
    release.arrive()
    await done.wait()
    _ = try await second?.value
  }

  // MARK: - Not Sendable

  protocol NotSendable: AnyObject {}
  final class OnMain: NotSendable {
    static let strays = Locked(0)
    let number = 1
    deinit { if !runsOnMainActor { Self.strays.withLock { $0 += 1 } } }
  }

  @MainActor @Test(arguments: [UDILifetime.unique, .weak, .context]) func anotherTypeOnTheMainActor(
    _ lifetime: UDILifetime
  ) async throws {
    context.register(OnMain.self, lifetime: lifetime) {
      await Task.yield(); return OnMain()
    }.implements((any NotSendable).self).implements((any NotSendable).self, named: "two")
    let one = try await context.obtain((any NotSendable).self)
    let two = try await context.obtain((any NotSendable).self, named: "two")
    #expect((one === two) == (lifetime != .unique))
  }

  /// The first of the other types may be used anywhere, and the second, which its registration is given, only on the
  /// main actor.
  @MainActor @Test(arguments: [UDILifetime.unique, .weak, .context]) func anotherTypeOfAnotherTypeOnTheMainActor(
    _ lifetime: UDILifetime
  ) async throws {
    context.register(Plain.self, lifetime: lifetime) {
      await Task.yield(); return Plain()
    }.implements((any Service).self)
    context.registrations(of: (any Service).self)[0].implements(AnyObject.self)
    let made = try await context.obtain(AnyObject.self)
    #expect(made is Plain)
    #expect(try await (context.obtain((any Service).self) === made) == (lifetime != .unique))
  }

  @Test func whatIsNotSendableDiesOnTheMainActor() async throws {
    await MainActor.run {
      context.register(OnMain.self, lifetime: .weak) {
        await Task.yield(); return OnMain()
      }
      context.register(
        (any Service).self, lifetime: .unique, using: { @MainActor (part: OnMain) in Plain("\(part.number)") })
    }
    for _ in 0..<20 { _ = try await context.obtain((any Service).self) }
    await MainActor.run {}
    #expect(OnMain.strays.current == 0)
  }

  /// The factory has missed something that `obtain` would make, so what it returns is not kept.
  @Test func whatIsMadeWithoutSomethingDiesOnTheMainActor() async throws {
    await MainActor.run {
      context.register((any Service).self, lifetime: .context) { () async in Plain() }
      _ = context.register(OnMain.self, lifetime: .context) { context in
        await Task.yield()
        _ = context.link((any Service).self)
        return OnMain()
      }
    }
    for _ in 0..<20 {
      await #expect(throws: UDILinkError.self) { @MainActor in _ = try await context.obtain(OnMain.self) }
    }
    await MainActor.run {}
    #expect(OnMain.strays.current == 0)
  }

  /// A warm-up makes it, and nobody keeps it.
  @Test func whatAWarmUpDropsDiesOnTheMainActor() async throws {
    await MainActor.run {
      _ = context.register(OnMain.self, lifetime: .weak) {
        await Task.yield()
        return OnMain()
      }
    }
    for _ in 0..<20 { try await Task { @MainActor [context] in try await context.warmUp(OnMain.self) }.value }
    await MainActor.run {}
    #expect(OnMain.strays.current == 0)
  }

  /// The only task that asks is cancelled, but the factory makes the instance nevertheless.
  @Test func whatIsMadeInVainDiesOnTheMainActor() async throws {
    for _ in 0..<20 {
      let (context, begun, release) = (UDIContext(tag: "brief"), Latch(), Latch())
      await MainActor.run {
        _ = context.register(OnMain.self, lifetime: .context) {
          begun.arrive()
          await release.wait()
          return OnMain()
        }
      }
      let asking = Task { @MainActor in _ = try await context.obtain(OnMain.self) }
      await begun.wait()
      asking.cancel()
      await #expect(throws: CancellationError.self) { try await asking.value }
      release.arrive()
      try await context.close()
    }
    await MainActor.run {}
    #expect(OnMain.strays.current == 0)
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak]) func whatIsNotOfTheOtherTypeDiesOnTheMainActor(
    _ lifetime: UDILifetime
  ) async throws {
    await MainActor.run {
      _ = context.register(OnMain.self, lifetime: lifetime) {
        await Task.yield(); return OnMain()
      }.implements(Plain.self)
    }
    for _ in 0..<20 {
      let error = await #expect(throws: UDILinkError.self) { try await elsewhere(context) }
      #expect(error?.cause == .notConvertible(from: "UDITests.AsyncMakingTests.OnMain"))
    }
    await MainActor.run {}
    #expect(OnMain.strays.current == 0)
  }

  @concurrent private func elsewhere(_ context: UDIContext) async throws -> Plain {
    try await context.obtain(Plain.self)
  }

  // MARK: - Failures of other threads

  /// A thread that lacks the main actor makes an instance, and the main actor waits for it.
  @Test(arguments: ["error", "own error", "nil"]) func theMainActorIsNotGivenAnotherThreadsFailure(
    _ failure: String
  ) async throws {
    let (runs, begun, meeting) = (Tally(), Signal(), Meeting(2))
    context.register((any Beta).self, lifetime: .context) { @MainActor in Made("b") }
    context.register((any Alpha).self, lifetime: .context) { context -> (any Alpha)? in
      runs.add()
      if runs.count == 1 {
        begun.send()
        meeting.arrive()
      }
      if failure == "error" { return Made("a", parts: [try context.require((any Beta).self)]) }
      if context.link((any Beta).self) != nil { return Made("a") }
      if failure == "own error" { throw OutOfOrder() }
      return nil
    }
    onThread { [context] in _ = MisuseLog.during { context.link((any Alpha).self) } }
    await begun.wait()
    try await MainActor.run { [context] in
      _ = try Schedule.$hook.withValue({ if $0 == .waits { meeting.arrive() } }) {
        try context.require((any Alpha).self)
      }
    }
    #expect(runs.count == 2)
  }

  /// A thread that lacks an asynchronous instance makes nothing, and a task that could obtain it waits.
  @Test(arguments: [false, true]) func obtainIsNotGivenAnotherThreadsFailure(_ isError: Bool) async throws {
    let (runs, begun, meeting) = (Tally(), Signal(), Meeting(2))
    context.register((any Other).self, lifetime: .context) {
      await Task.yield(); return Plain()
    }
    context.register((any Service).self, lifetime: .context) { context -> (any Service)? in
      runs.add()
      if runs.count == 1 {
        begun.send()
        meeting.arrive()
      }
      if context.link((any Other).self) != nil { return Plain("made") }
      if isError { throw OutOfOrder() }
      return nil
    }
    onThread { [context] in _ = MisuseLog.during { context.link((any Service).self) } }
    await begun.wait()
    // It calls the factory itself. For `obtain`, that is to do without nothing that `obtain` would make.
    let error = await Schedule.$hook.withValue({ if $0 == .waits { meeting.arrive() } }) {
      await #expect(throws: UDILinkError.self) { try await context.obtain((any Service).self) }
    }
    #expect(error?.cause == .asynchronous(nil) && runs.count == 2)
  }

  // MARK: - Attaching and completions

  @Test(arguments: [false, true]) func whatHappensAfterTheFactoryLooksUpToo(_ isAsynchronous: Bool) async throws {
    let child = try context.makeChild(tag: "child")
    let below = Plain("below")
    child.bind(below, as: (any Other).self)
    let found = Locked<[String]>([])
    @Sendable func member() -> Member {
      Member { member in
        if member.linkInLine((any Other).self) != nil { found.withLock { $0.append("attached") } }
      }
    }
    if isAsynchronous {
      context.register((any Service).self, lifetime: .context) {
        await Task.yield(); return member()
      }.onCreate { context, _ in
        if context.link((any Other).self) != nil { found.withLock { $0.append("created") } }
      }
    } else {
      context.register((any Service).self, lifetime: .context) {
        member()
      }.onCreate { context, _ in
        if context.link((any Other).self) != nil { found.withLock { $0.append("created") } }
      }
    }
    _ = try await context.obtain((any Service).self)
    #expect(found.current == [])
  }

  // MARK: - Cycles

  @Test func theWholePath() async throws {
    context.register((any Alpha).self, lifetime: .unique) { context in
      _ = try await context.obtain((any Beta).self)
      return Made()
    }
    context.register((any Beta).self, using: { (gamma: any Gamma) in Made(parts: [gamma]) })
    context.register((any Gamma).self, lifetime: .context) { context in
      _ = try await context.obtain((any Alpha).self)
      return Made()
    }
    let path = await AsyncCycleTests().cycle { _ = try await context.obtain((any Alpha).self) }
    #expect(path == ["Alpha", "Beta", "Gamma", "Alpha"])
  }

  // MARK: - Warm-up

  @Test func warmUpMakesWhatBelongsToAnActorFirst() async throws {
    for number in 0..<20 {
      context.register((any Service).self, named: UDIName("\(number)"), lifetime: .context) { context in
        _ = try context.require((any Other).self)
        return Plain()
      }
    }
    context.register((any Other).self, lifetime: .context) { @MainActor in Plain() }
    try await context.warmUp()
  }

  // MARK: - Stress

  @Test func stress() async throws {
    let (running, most) = (Locked([0, 0, 0]), Locked([0, 0, 0]))
    let lifetimes: [UDILifetime] = [
      .context, .weak, UDILifetime("s", storage: .custom { SharedCreationTests.Strong() }),
    ]
    for (number, lifetime) in lifetimes.enumerated() {
      context.register(Made.self, named: UDIName("\(number)"), lifetime: lifetime) { context in
        let present = running.withLock { (running: inout [Int]) in
          running[number] += 1; return running[number]
        }
        most.withLock { $0[number] = max($0[number], present) }
        defer { running.withLock { $0[number] -= 1 } }
        for _ in 0..<Int.random(in: 0..<20) { await Task.yield() }
        if number > 0 { _ = try await context.obtain(Made.self, named: UDIName("\(number - 1)")) }
        if Int.random(in: 0..<5) == 0 { throw OutOfOrder() }
        return Made()
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<400 {
        group.addTask {
          let task = Task {
            for _ in 0..<20 {
              do {
                _ = try await context.obtain(Made.self, named: UDIName("\(Int.random(in: 0..<3))"))
              } catch is OutOfOrder {}
            }
          }
          if index % 2 == 0 {
            for _ in 0..<Int.random(in: 0..<50) { await Task.yield() }
            task.cancel()
          }
          do { try await task.value } catch {
            #expect(error is CancellationError && index % 2 == 0, "\(error)")
          }
        }
      }
    }
    #expect(most.current == [1, 1, 1])
    // What nobody waits for any more may still be ending.
    await eventually { running.current == [0, 0, 0] }
  }

  @Test func stressWithResets() async throws {
    @Sendable func register() {
      context.register(Made.self, lifetime: .context) { context in
        for _ in 0..<Int.random(in: 0..<20) { await Task.yield() }
        return Made()
      }.implements((any Alpha).self)
    }
    register()
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<200 {
        group.addTask {
          let task = Task {
            for _ in 0..<20 {
              if index % 3 == 0 {
                _ = try await context.obtain(Made.self)
              } else {
                _ = try await context.obtain((any Alpha).self)
              }
            }
          }
          for _ in 0..<Int.random(in: 0..<50) { await Task.yield() }
          if index % 5 == 0 { context.reset() }
          if index % 5 == 1 { register() }
          if index % 2 == 0 { task.cancel() }
          do { try await task.value } catch {
            // Between `register` and `implements`, nothing serves `Alpha` for a moment.
            let isUnserved = index % 3 != 0 && (error as? UDILinkError)?.explanation.typeName == "UDITests.Alpha"
            #expect(isUnserved || error is CancellationError && index % 2 == 0, "\(error)")
          }
        }
      }
    }
  }
}
