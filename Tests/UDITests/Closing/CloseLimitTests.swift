import Foundation
import Testing

@testable import UDI

/// `close(because:within:clock:)`: a limit, and how a context ends.
@Suite(.unlessItHangs) struct CloseLimitTests {
  private let context = UDIContext(tag: "context")
  private let journal = Journal()
  private let clock = ManualClock()

  private func until(_ condition: @Sendable () -> Bool) async { await eventually(condition) }

  private func close(within limit: Duration = .seconds(10)) -> Task<UDICloseError?, Never> {
    Task { [context, clock] in
      do {
        try await context.close(within: limit, clock: clock)
        return nil
      } catch { return error as? UDICloseError }
    }
  }

  /// Closers in a row, of which some take no notice of anything until they are told to.
  private func register(_ names: [String], hanging: [String: Latch]) {
    let journal = journal
    for name in names {
      context.provide(name, named: UDIName(name)).onClose { name in
        journal.add(name)
        if let latch = hanging[name] {
          await latch.wait()
          journal.add("\(name) at last, cancelled: \(Task.isCancelled)")
        }
      }
    }
  }

  @Test func aCloserThatHangsIsLeftBehindAndTheRestIsCalled() async throws {
    let (journal, clock, latch) = (journal, clock, Latch())
    register(["a", "b", "c", "d"], hanging: ["c": latch])
    let closing = close()
    await until { journal.all.last == "c" && clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    let error = await closing.value
    #expect(journal.all == ["d", "c", "b", "a"])
    #expect(error?.failures.map(\.name) == ["c"] && error?.failures[0].error is UDIUntimelyEnd)
    #expect("\(try #require(error))".contains("did not end in time"))
    try await context.close()
    latch.arrive()
    await until { journal.all.count == 5 }
    #expect(journal.all.last == "c at last, cancelled: true")
    #expect(context.link(String.self, named: "c") == nil)
  }

  /// Closes the context again, itself or in a factory that is a part of the same call.
  private func closeContext(_ isNested: Bool, after latch: Latch, _ begun: Latch = Latch()) async {
    let other = UDIContext(tag: "other")
    other.register(Plain.self, lifetime: .unique) { [context] _ async in
      begun.arrive()
      await latch.wait()
      try? await context.close()
      return Plain("")
    }
    if isNested {
      _ = try? await other.obtain(Plain.self)
    } else {
      begun.arrive()
      await latch.wait()
      try? await context.close()
    }
  }

  /// A closer that was left behind is no part of the closing any more, so it may wait for the end of its context. It
  /// still sees how that ends.
  @Test(arguments: [false, true]) func aCloserThatWasLeftBehindMayWaitForTheEnd(_ isNested: Bool) async throws {
    let (context, journal, clock, left, last) = (context, journal, clock, Latch(), Latch())
    context.provide("a").onClose { name in
      journal.add(name)
      await last.wait()
      journal.add("a ends")
    }
    context.provide(1).onClose { _ in
      journal.add("b")
      await closeContext(isNested, after: left)
      if case .closed = UDIEnding.current { journal.add("b ends") }
    }
    let closing = close()
    await until { journal.all == ["b"] && clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    await until { journal.all == ["b", "a"] }
    left.arrive()
    for _ in 0..<1000 { await Task.yield() }
    last.arrive()
    #expect(await closing.value?.failures.count == 1)
    await until { journal.all.count == 4 }
    #expect(journal.all == ["b", "a", "a ends", "b ends"])
  }

  /// The same goes for a task that a closer has started, when the closer has ended.
  @Test(arguments: [false, true]) func aTaskThatOutlivesItsCloserMayWaitForTheEnd(_ isNested: Bool) async throws {
    let (context, journal, left, last, begun) = (context, journal, Latch(), Latch(), Latch())
    context.provide("a").onClose { name in
      journal.add(name)
      await last.wait()
      journal.add("a ends")
    }
    context.provide(1).onClose { _ in
      Task {
        await closeContext(isNested, after: left, begun)
        journal.add("the task ends")
      }
      await begun.wait()
    }
    let closing = Task { try await context.close() }
    await until { journal.all == ["a"] }
    left.arrive()
    for _ in 0..<1000 { await Task.yield() }
    last.arrive()
    try await closing.value
    await until { journal.all.count == 3 }
    #expect(journal.all == ["a", "a ends", "the task ends"])
  }

  /// A closer begins on the thread of who closes. If it blocks that, a limit that comes later still leaves it behind.
  @Test func aCloserThatBlocksItsThreadIsLeftBehind() async throws {
    let (context, journal, clock, go) = (context, journal, clock, DispatchSemaphore(value: 0))
    for name in ["a", "b", "c"] {
      context.provide(name, named: UDIName(name)).onClose { name in
        journal.add(name)
        guard name == "b" else { return }
        waitBlocking(go)
        while !Task.isCancelled { await Task.yield() }
        journal.add("cancelled")
      }
    }
    // In a thread of its own: there are only as many threads for tasks as there are cores, and other tests need them.
    let blocked = Locked<Task<Void, any Error>?>(nil)
    Thread.detachNewThread {
      let task = Task.immediate { try await context.close() }
      blocked.withLock { $0 = task }
    }
    await until { journal.all == ["c", "b"] }
    let closing = close()
    await until { clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    #expect(await closing.value?.failures.map(\.name) == ["b"])
    #expect(journal.all == ["c", "b", "a"])
    go.signal()
    await until { journal.all.last == "cancelled" }
    await until { blocked.withLock { $0 != nil } }
    _ = await blocked.withLock { $0 }?.result
  }

  /// What a factory that was left behind makes is closed, once, if it comes before its provider's turn is over.
  @Test(.silent) func whatComesLateIsClosedOnce() async throws {
    let (context, journal, clock) = (context, journal, clock)
    let (begun, made, closes, go) = (Latch(), Latch(), Latch(), Latch())
    context.register(Plain.self, lifetime: .context) { (_, number: Int) async in
      if number == 2 {
        begun.arrive()
        await made.wait()
      }
      return Plain("\(number)")
    }.onClose { plain in
      journal.add(plain.label)
      if plain.label == "2" { return }
      closes.arrive()
      await go.wait()
    }
    _ = try await context.obtain(Plain.self, with: 1)
    let asking = Task { try await context.obtain(Plain.self, with: 2) }
    await begun.wait()
    let closing = close()
    await until { clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    await closes.wait()
    made.arrive()
    _ = await asking.result
    go.arrive()
    #expect(await closing.value?.failures.count == 1)
    #expect(journal.all == ["1", "2"])
  }

  @Test func whatAClosingHasHeldIsReleased() async throws {
    final class Reason: Sendable {}
    let context = context
    context.provide(1).onClose { _ in }
    context.provide("").onClose { _ in throw OutOfOrder() }
    var reason: Reason? = Reason()
    weak let held = reason
    let closing = Task { [reason] in try? await context.close(because: reason) }
    reason = nil
    await closing.value
    await until { held == nil }
    #expect(held == nil)
  }

  private enum Caller { @TaskLocal static var name = "nobody" }

  @Test func whatIsLeftHasTheTaskLocalValuesOfWhoCloses() async throws {
    let (journal, latch) = (journal, Latch())
    context.provide(1).onClose { _ in journal.add(Caller.name) }
    context.provide("hangs").onClose { _ in
      journal.add("hangs")
      await latch.wait()
    }
    let closing = Caller.$name.withValue("caller") { close() }
    await until { journal.all == ["hangs"] && clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    #expect(await closing.value?.failures.count == 1)
    #expect(journal.all == ["hangs", "caller"])
    latch.arrive()
  }

  @Test func theRestHasATenthOfTheLimitEach() async throws {
    let (journal, clock, latches) = (journal, clock, ["a": Latch(), "b": Latch(), "d": Latch()])
    register(["a", "b", "c", "d"], hanging: latches)
    let closing = close()
    await until { journal.all == ["d"] && clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    // The clock takes no notice of cancellation, so the time for "c" is still being measured at first.
    for (count, sleepers) in [(3, 2), (4, 1)] {
      await until { journal.all.count == count && clock.sleeperCount == sleepers }
      clock.advance(by: .seconds(1))
    }
    #expect(await closing.value?.failures.map(\.name) == ["d", "b", "a"])
    for latch in latches.values { latch.arrive() }
  }

  /// The limit of a context is that of those below it, too.
  @Test func theRestBelowHasATenthOfTheLimitEach() async throws {
    let (context, journal, clock, latch) = (context, journal, clock, Latch())
    for tag in ["first", "last"] {
      try context.makeChild(tag: tag).provide(1).onClose { _ in
        journal.add(tag)
        await latch.wait()
      }
    }
    let closing = close()
    await until { journal.all == ["last"] && clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    await until { journal.all == ["last", "first"] && clock.sleeperCount == 1 }
    clock.advance(by: .seconds(1))
    #expect(await closing.value?.failures.map(\.fullPath) == [["context", "last"], ["context", "first"]])
    latch.arrive()
  }

  @Test func withinTheLimitNothingIsCancelled() async throws {
    register(["a", "b"], hanging: [:])
    #expect(await close().value == nil)
    #expect(journal.all == ["b", "a"])
    // The time that is left does not matter to anybody.
    clock.advance(by: .seconds(10))
  }

  @Test func anOperationThatTakesNoNoticeIsLeftBehind() async throws {
    let (journal, clock, latch) = (journal, clock, Latch())
    context.provide(1).onClose { _ in journal.add("closed") }.running { _ in
      journal.add("runs")
      await latch.wait()
    }
    await until { journal.all == ["runs"] }
    let closing = close()
    await until { clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    #expect(await closing.value?.failures.map { $0.error is UDIUntimelyEnd } == [true])
    #expect(journal.all == ["runs", "closed"])
    latch.arrive()
  }

  @Test func aFactoryThatTakesNoNoticeIsLeftBehindAndReported() async throws {
    let (clock, begun, latch, log) = (clock, Latch(), Latch(), MisuseLog())
    context.register((any Alpha).self, lifetime: .context) {
      begun.arrive()
      await latch.wait()
      return Made()
    }.onClose { _ in
      Issue.record("closed after the end")
    }
    await withReporter(log.reporter) {
      let asking = Task { [context] in try await context.obtain((any Alpha).self) }
      await begun.wait()
      let closing = close()
      await until { clock.sleeperCount == 1 }
      clock.advance(by: .seconds(10))
      #expect(await closing.value?.failures.map(\.typeName) == ["UDITests.Alpha"])
      latch.arrive()
      _ = await asking.result
      await until { !log.all.isEmpty }
    }
    #expect(log.all.map(\.kind) == [.unclosed])
  }

  @Test func whileAvailableIsLeftBehind() async throws {
    let (context, clock, latch, begun) = (context, clock, Latch(), Latch())
    context.provide(Plain(), as: (any Service).self)
    let running = Task {
      try await context.whileAvailable((any Service).self) { _ in
        begun.arrive()
        await latch.wait()
      }
    }
    await begun.wait()
    let closing = close()
    await until { clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    #expect(await closing.value?.failures.map(\.typeName) == ["UDITests.Service"])
    latch.arrive()
    await #expect(throws: UDILinkError.self) { try await running.value }
  }

  @Test func theShortestLimitCounts() async throws {
    let (context, journal, clock, latch) = (context, journal, clock, Latch())
    register(["a"], hanging: ["a": latch])
    let first = Task { try? await context.close() }
    await until { journal.all == ["a"] }
    let second = [close(within: .seconds(9)), close(within: .seconds(2))]
    await until { clock.sleeperCount == 2 }
    clock.advance(by: .seconds(2))
    for task in second { #expect(await task.value?.failures.count == 1) }
    await first.value
    latch.arrive()
    clock.advance(by: .seconds(9))
  }

  /// The limit of a second caller is over while what remains has its tenth of the first one's.
  @Test func aLongerLimitLeavesNothingBehindAfterTheShortestOne() async throws {
    let (journal, clock, latches) = (journal, clock, ["a": Latch(), "b": Latch()])
    register(["a", "b"], hanging: latches)
    let closing = [close(within: .seconds(10)), close(within: .milliseconds(10_500))]
    await until { journal.all == ["b"] && clock.sleeperCount == 2 }
    clock.advance(by: .seconds(10))
    await until { journal.all == ["b", "a"] && clock.sleeperCount == 2 }
    clock.advance(by: .milliseconds(500))
    for _ in 0..<200 { await Task.yield() }
    latches["a"]?.arrive()
    for task in closing { #expect(await task.value?.failures.map(\.name) == ["b"]) }
    #expect(journal.all.last == "a at last, cancelled: false")
    latches["b"]?.arrive()
    clock.advance(by: .seconds(1))
  }

  /// A context below that is being closed without a limit is left behind, and named.
  @Test func anEarlierCloseBelowIsLeftBehind() async throws {
    let (context, journal, clock, latch) = (context, journal, clock, Latch())
    let child = try context.makeChild(tag: "child")
    child.provide(1).onClose { _ in
      journal.add("child")
      await latch.wait()
    }
    let below = Task { try? await child.close() }
    await until { journal.all == ["child"] }
    let closing = close()
    await until { clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    #expect(await closing.value?.failures.map(\.fullPath) == [["context", "child"]])
    await below.value
    latch.arrive()
  }

  /// The operation that asks for the closing with a limit must not wait for it. The limit counts all the same.
  @Test(.silent) func aLimitFromWithinCounts() async throws {
    let (context, journal, clock, latch) = (context, journal, clock, Latch())
    register(["a"], hanging: ["a": latch])
    context.provide(1).running { _ in try await context.close(within: .seconds(10), clock: clock) }
    await until { journal.all == ["a"] && clock.sleeperCount == 1 }
    clock.advance(by: .seconds(10))
    try await context.untilClosed()
    #expect(context.link(String.self, named: "a") == nil)
    latch.arrive()
  }

  // MARK: How it ended

  private struct LogOut: Sendable {}

  private func note(in context: UDIContext) {
    context.provide(1).onClose { [journal] _ in
      let text =
        switch UDIEnding.current {
        case .closed(let reason): "closed because \(reason.map { "\(type(of: $0))" } ?? "nothing")"
        case .returned: "returned"
        case .failed(let error): "failed with \(type(of: error))"
        case .cancelled: "cancelled"
        case nil: "nothing"
        @unknown default: "?"
        }
      let later = await Task { UDIEnding.current != nil }.value
      journal.add(text + (later ? "" : ", and forgotten"))
    }
  }

  @Test func onCloseSeesHowItEnded() async throws {
    #expect(UDIEnding.current == nil)
    try await context.withScope(tag: "1") { note(in: $0) }
    try? await context.withScope(tag: "2") {
      note(in: $0)
      throw OutOfOrder()
    }
    let task = Task { [context] in
      try await context.withScope(tag: "3") {
        note(in: $0)
        try await untilCancelled()
      }
    }
    task.cancel()
    _ = await task.result
    for reason in [nil, LogOut()] {
      let scope = try context.makeScope(tag: "4")
      note(in: try scope.makeChild(tag: "below"))
      try await scope.close(because: reason)
    }
    let scope = try context.makeScope(tag: "5")
    note(in: scope)
    try await scope.close()
    _ = try? await context.makeScope(tag: "6") {
      note(in: $0)
      throw OutOfOrder()
    }
    #expect(
      journal.all == [
        "returned", "failed with OutOfOrder", "cancelled", "closed because nothing", "closed because LogOut",
        "closed because nothing", "failed with OutOfOrder",
      ])
  }

  // MARK: A scope that cannot be set up

  @Test(arguments: [true, false]) func aScopeThatCannotBeSetUpLeavesNothing(_ isCancelled: Bool) async throws {
    let (context, census) = (context, Census())
    let task = Task {
      try await context.makeScope(tag: "session") { scope in
        scope.register((any Alpha).self, lifetime: .context) {
          Made("account", census)
        }.onClose { _ in
          census.born()
        }
        _ = try scope.require((any Alpha).self)
        if isCancelled { try? await untilCancelled() } else { throw OutOfOrder() }
      }
    }
    if isCancelled { task.cancel() }
    let result = await task.result
    #expect(throws: (any Error).self) { try result.get() }
    do { _ = try result.get() } catch { #expect(isCancelled ? error is CancellationError : error is OutOfOrder) }
    #expect(census.everBorn == 2 && census.alive == 1 && context.children.isEmpty)
    let next = try await context.makeScope(tag: "session") { $0.provide(1) }
    #expect(next.tag == "session" && next.isScope && next.link(Int.self) == 1)
    try await context.close()
    await #expect(throws: UDITreeError.self) {
      try await context.makeScope(tag: "late") { _ in Issue.record("was set up") }
    }
  }

  /// Whoever asked for the scope learns that it was closed while it was being set up.
  @Test(arguments: [true, false]) func aScopeThatIsClosedWhileItIsSetUp(_ isAbove: Bool) async throws {
    let (context, census) = (context, Census())
    let error = await #expect(throws: UDITreeError.self) {
      try await context.makeScope(tag: "session") { scope in
        scope.provide(1).onClose { _ in census.born() }
        try await (isAbove ? context : scope).close()
      }
    }
    guard case .closed = error else { return _ = Issue.record("another error") }
    #expect(census.everBorn == 1 && context.children.isEmpty)
  }
}

/// A function that is not asynchronous may block.
private func waitBlocking(_ semaphore: DispatchSemaphore) { semaphore.wait() }
