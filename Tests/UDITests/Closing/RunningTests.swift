import Foundation
import Testing

@testable import UDI

@MainActor private protocol Ticker: AnyObject {}
@MainActor private final class MainTicker: Ticker {}

private enum Locals {
  @TaskLocal static var asker = "nobody"
}

/// What a context owns may run.
@Suite(.unlessItHangs) struct RunningTests {
  private let context = UDIContext(tag: "context")
  private let journal = Journal()

  /// Registers a service that runs until it is cancelled.
  private func register(_ name: UDIName, lifetime: UDILifetime = .context, in place: UDIContext? = nil) {
    let journal = journal
    (place ?? context).register((any Alpha).self, named: name, lifetime: lifetime) { context in
      Made("\(name) in \(context.tag)")
    }.onClose { _ in
      journal.add("\(name) closed")
    }.running { _ in
      journal.add("\(name) runs")
      do { try await untilCancelled() } catch {
        journal.add("\(name) ends")
        throw error
      }
    }
  }

  private func until(_ condition: @Sendable () -> Bool) async { await eventually(condition) }
  private func until(_ entry: String) async {
    let journal = journal
    await until { journal.all.contains(entry) }
  }

  // MARK: Beginning and ending

  @Test func itRunsFromTheMakingToTheClosing() async throws {
    register("a")
    #expect(journal.all.isEmpty)
    _ = try context.require((any Alpha).self, named: "a")
    await until("a runs")
    try await context.close()
    #expect(journal.all == ["a runs", "a ends", "a closed"])
  }

  @Test func whatWasNeverMadeDoesNotRun() async throws {
    register("a")
    try await context.close()
    #expect(journal.all.isEmpty)
  }

  @Test(arguments: [false, true])
  func closingWaitsForWhatRunsAfterAReset(isTakenBack: Bool) async throws {
    let (context, journal, isCancelled, go) = (context, journal, Latch(), Latch())
    context.register((any Alpha).self) { Made("a") }.running { _ in
      try? await untilCancelled()
      isCancelled.arrive()
      await go.wait()
      journal.add("ends")
    }
    let reporter = UDIReporter { _ in }
    withReporter(reporter) {
      _ = context.link((any Alpha).self)
      if isTakenBack { context.unregister((any Alpha).self) } else { context.reset() }
    }
    await isCancelled.wait()
    let closing = Task { try await context.close() }
    await until { context.isClosing }
    go.arrive()
    try await closing.value
    #expect(journal.all == ["ends"])
  }

  @Test func whatIsProvidedRunsAtOnceAndAfterAReset() async throws {
    let (journal, made) = (journal, Made("given"))
    context.provide(made, as: (any Alpha).self).running { service in
      journal.add("\(service === made) runs")
      try await untilCancelled()
    }
    await until("true runs")
    context.reset()
    #expect(context.link((any Alpha).self) === made)
    try await context.close()
    #expect(journal.all == ["true runs"])
  }

  @Test func itBeginsEvenIfWhatIsProvidedWasResetBefore() async throws {
    let journal = journal
    let registration = context.provide(Made("given"), as: (any Alpha).self)
    context.reset()
    registration.running { _ in
      journal.add("runs")
      try await untilCancelled()
    }
    await until("runs")
    try await context.close()
  }

  @Test func whatExistsAlreadyRunsAtOnce() async throws {
    let journal = journal
    let registration = context.register((any Alpha).self, lifetime: .context) { Made() }
    _ = context.link((any Alpha).self)
    registration.running { _ in
      journal.add("runs")
      try? await untilCancelled()
      journal.add("ends")
    }
    await until("runs")
    try await context.close()
    #expect(journal.all == ["runs", "ends"])
  }

  @Test func asynchronousFactoriesAndArgumentsToo() async throws {
    let journal = journal
    context.register((any Alpha).self, lifetime: .context) { (_, label: String) async throws in
      await Task.yield()
      return Made(label)
    }.running { service in
      journal.add("\((service as? Made)?.label ?? "")")
      try await untilCancelled()
    }
    _ = try await context.obtain((any Alpha).self, with: "1")
    _ = try await context.obtain((any Alpha).self, with: "2")
    _ = try await context.obtain((any Alpha).self, with: "1")
    await until { journal.all.count == 2 }
    try await context.close()
    #expect(journal.all.sorted() == ["1", "2"])
  }

  @Test func itBeginsWhenTheLinkEnds() async throws {
    let journal = journal
    context.register((any Alpha).self, lifetime: .context) {
      Made()
    }.onCreate { _, _ in
      journal.add("created")
    }.running { _ in
      journal.add("runs")
      try await untilCancelled()
    }
    _ = context.link((any Alpha).self)
    await until("runs")
    #expect(journal.all == ["created", "runs"])
    try await context.close()
  }

  @Test func eachScopeRunsItsOwn() async throws {
    register("a", lifetime: .scope)
    try await context.withScope(tag: "1") { scope in
      let made = try scope.require((any Alpha).self, named: "a") as? Made
      #expect(made?.label == "a in 1")
      await until("a runs")
    }
    #expect(journal.all == ["a runs", "a ends", "a closed"])
    try await context.withScope(tag: "2") { scope in _ = try scope.require((any Alpha).self, named: "a") }
    #expect(journal.all.count > 4 && journal.all.suffix(1) == ["a closed"])
  }

  @Test func scopesThatHaveAskedBeforeRunTheirsToo() async throws {
    let journal = journal
    let registration = context.register((any Alpha).self, lifetime: .scope) { context in Made(context.tag) }
    let (first, second) = (try context.makeScope(tag: "1"), try context.makeScope(tag: "2"))
    for scope in [first, second] { #expect(scope.link((any Alpha).self) != nil) }
    second.reset()
    registration.running { service in
      journal.add("\((service as? Made)?.label ?? "") runs")
      do { try await untilCancelled() } catch { journal.add("\((service as? Made)?.label ?? "") ends") }
    }
    await until("1 runs")
    #expect(second.link((any Alpha).self) != nil)
    await until("2 runs")
    try await context.close()
    #expect(Set(journal.all.suffix(2)) == ["1 ends", "2 ends"])
  }

  @Test func inAScopeItMayEndAsElsewhere() async throws {
    let log = MisuseLog()
    context.register((any Alpha).self, lifetime: .scope) { Made() }.running(mayEnd: true) { _ in }
    try await withReporter(log.reporter) {
      try await context.withScope(tag: "scope") { scope in
        _ = try scope.require((any Alpha).self)
        await until {
          scope.change { node, _ in
            node.allProviders.contains { $0.closer?.unclosed.first?.operation?.hasEnded == true }
          }
        }
      }
    }
    #expect(log.all.isEmpty)
  }

  @Test @MainActor func onTheMainActor() async throws {
    let context = UDIContext(tag: "main")
    let hasRun = Locked(false)
    context.register((any Ticker).self, lifetime: .context) {
      MainTicker()
    }.running { ticker in
      MainActor.assertIsolated()
      _ = ticker
      hasRun.withLock { $0 = true }
      try await untilCancelled()
    }
    _ = context.link((any Ticker).self)
    await until { hasRun.withLock { $0 } }
    try await context.close()
  }

  @Test func itHasNoValuesOfWhoeverAsks() async throws {
    let journal = journal
    context.register((any Alpha).self, lifetime: .context) {
      Made()
    }.running(mayEnd: true) { _ in
      journal.add(Locals.asker)
    }
    try Locals.$asker.withValue("somebody") { _ = try context.require((any Alpha).self) }
    await until { !journal.all.isEmpty }
    #expect(journal.all == ["nobody"])
    try await context.close()
  }

  // MARK: Failing

  private func registerFailing(in place: UDIContext, when go: Latch, _ error: (any Error)? = OutOfOrder()) {
    place.register((any Beta).self, lifetime: .context) {
      Made()
    }.running { _ in
      await go.wait()
      if let error { throw error }
    }
    _ = place.link((any Beta).self)
  }

  @Test func aFailureIsToldToThoseWhoWaitAboveAndOnlyToThem() async throws {
    let (child, go) = (try context.makeScope(tag: "child"), Latch())
    registerFailing(in: child, when: go)
    let (_, reports) = try await MisuseLog.during {
      let waiting = [context, child].map { context in Task { try await context.untilClosed() } }
      let (root, branch) = (context, child)
      await until { root.isAwaited && branch.isAwaited }
      go.arrive()
      for task in waiting {
        let failure = await #expect(throws: UDIFailure.self) { try await task.value }
        #expect(failure?.error is OutOfOrder && failure?.fullPath == ["context", "child"])
        #expect(failure?.typeName == "UDITests.Beta")
      }
      try await context.close()
    }
    #expect(reports.isEmpty)
  }

  /// Above, somebody has waited, and does not any more.
  @Test func aFailureIsToldToThoseWhoStillWait() async throws {
    let (context, child, go) = (context, try context.makeScope(tag: "child"), Latch())
    let (_, reports) = try await MisuseLog.during {
      registerFailing(in: child, when: go)
      let gone = Task { try await context.untilClosed() }
      await until { context.isAwaited }
      gone.cancel()
      await #expect(throws: CancellationError.self) { try await gone.value }
      let waiting = Task { try await child.untilClosed() }
      await until { child.isAwaited }
      go.arrive()
      await #expect(throws: UDIFailure.self) { try await waiting.value }
      try await context.close()
    }
    #expect(reports.isEmpty)
  }

  @Test func ifNobodyWaitsItIsReportedAndKeptForTheNextOne() async throws {
    let log = MisuseLog()
    try await withReporter(log.reporter) {
      let go = Latch()
      registerFailing(in: context, when: go, nil)
      go.arrive()
      await until { !log.all.isEmpty }
      #expect(log.all.map(\.kind) == [.operationFailed] && log.all[0].message.contains("mayEnd"))
      let failure = await #expect(throws: UDIFailure.self) { try await context.untilClosed() }
      #expect(failure?.error is UDIUntimelyEnd)
      try await context.close()
      try await context.untilClosed()
    }
    #expect(log.all.count == 1)
  }

  @Test func whatNobodyWasToldClosingThrows() async throws {
    let log = MisuseLog()
    await withReporter(log.reporter) {
      let go = Latch()
      registerFailing(in: context, when: go)
      go.arrive()
      await until { !log.all.isEmpty }
      let error = await #expect(throws: UDICloseError.self) { try await context.close() }
      #expect(error?.failures.count == 1 && error?.failures[0].error is OutOfOrder)
    }
  }

  @Test func whatIsThrownOnCancellationIsThrownByClose() async throws {
    context.register((any Beta).self, lifetime: .context) {
      Made()
    }.running { _ in
      try? await untilCancelled()
      throw OutOfOrder()
    }
    _ = context.link((any Beta).self)
    let error = await #expect(throws: UDICloseError.self) { try await context.close() }
    #expect(error?.failures.map { $0.error is OutOfOrder } == [true])
  }

  @Test func waitingEndsWithTheContextOrTheTask() async throws {
    let context = context
    let (waiting, cancelled) = (Task { try await context.untilClosed() }, Task { try await context.untilClosed() })
    await until { context.isAwaited }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await context.close()
    try await waiting.value
    try await context.untilClosed()
  }

  /// Runs what is not isolated on a thread of its own, so that a test may block it.
  private final class OwnExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "own executor")
    func enqueue(_ job: UnownedJob) {
      let executor = unsafe asUnownedTaskExecutor()
      queue.async { unsafe job.runSynchronously(on: executor) }
    }
  }

  /// The task is told of the failure and cancelled before it can go on.
  @Test func aFailureIsNotLostIfWhoWaitsIsCancelledAtThatMoment() async throws {
    let (context, waits, fails, told) = (context, Latch(), Latch(), DispatchSemaphore(value: 0))
    context.provide(1).running { _ in
      await fails.wait()
      throw OutOfOrder()
    }
    let hook = { @Sendable (point: Schedule) in
      guard point == .waits else { return }
      waits.arrive()
      told.wait()
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
    }
    let waiting = Task(executorPreference: OwnExecutor()) {
      try await Schedule.$hook.withValue(hook) { try await context.untilClosed() }
    }
    await waits.wait()
    fails.arrive()
    await until { !context.isAwaited }
    told.signal()
    let failure = await #expect(throws: UDIFailure.self) { try await waiting.value }
    #expect(failure?.error is OutOfOrder)
    try await context.close()
  }

  /// The closing has begun when the instance is made.
  @Test func whatIsMadeAtTheLastMomentIsClosedWithoutHavingRun() async throws {
    let (context, journal, began, ends) = (context, journal, Latch(), Latch())
    context.register((any Alpha).self) {
      began.arrive()
      await ends.wait()
      return Made("late")
    }.onClose { _ in
      journal.add("closed")
    }.running { _ in
      journal.add("runs")
    }
    let asking = Task { try await context.obtain((any Alpha).self) }
    await began.wait()
    let closing = Task { try await context.close() }
    await eventually { context.change { node, _ in node.isEnding } }
    ends.arrive()
    try await closing.value
    await #expect(throws: (any Error).self) { try await asking.value }
    #expect(journal.all == ["closed"])
  }

  /// The same for a thread that is making it.
  @Test func whatAThreadMakesAtTheLastMomentIsClosedWithoutHavingRun() async throws {
    let (context, journal, began, ends) = (context, journal, Latch(), DispatchSemaphore(value: 0))
    context.register((any Alpha).self) {
      began.arrive()
      ends.wait()
      return Made("late")
    }.onClose { _ in
      journal.add("closed")
    }.running { _ in
      journal.add("runs")
    }
    Thread.detachNewThread { _ = context.link((any Alpha).self) }
    await began.wait()
    let closing = Task { try await context.close() }
    await eventually { context.change { node, _ in node.isEnding } }
    ends.signal()
    try await closing.value
    #expect(journal.all == ["closed"])
  }

  /// What an operation follows in its own context ends with the context. That is no failure of the operation.
  @Test(arguments: 0..<4, [false, true]) func whatFollowsEndsQuietly(_ verb: Int, _ isWatching: Bool) async throws {
    let (context, service) = (context, Plain())
    context.bind(service, as: (any Service).self)
    context.provide(1).running { _ in
      switch verb {
      case 0: _ = try await context.linkWhenAvailable((any Other).self)
      case 1: try await context.whileAvailable((any Other).self) { _ in }
      case 2: try await context.whileAvailable((any Service).self) { _ in try await Task.sleep(for: .seconds(100)) }
      default: for await _ in context.updates(of: (any Other).self) {}
      }
    }
    if isWatching { await until { context.change { node, _ in node.treeLocked.isWatched } } }
    try await context.close()
    withExtendedLifetime(service) {}
  }

  /// So does what a factory follows that an operation waits for.
  @Test func whatAFactoryFollowsForAnOperationEndsQuietly() async throws {
    let (root, ended) = (context, Latch())
    let scope = try root.makeScope(tag: "scope")
    root.register((any Alpha).self, lifetime: .context) { [weak scope] in
      Made(parts: [try await #require(scope).linkWhenAvailable((any Other).self)])
    }
    scope.provide(1).running { _ in
      defer { ended.arrive() }
      _ = try await root.obtain((any Alpha).self)
    }
    // While this is being closed, the operation has not been cancelled yet.
    scope.provide("last").onClose { _ in await ended.wait() }
    await until { scope.change { node, _ in node.treeLocked.isWatched } }
    try await scope.close()
  }

  @Test func aCloserThatIsCancelledByItselfHasFailed() async throws {
    context.provide(1).onClose { _ in throw CancellationError() }
    let error = await #expect(throws: UDICloseError.self) { try await context.close() }
    #expect(error?.failures.map { $0.error is CancellationError } == [true])
  }

  // MARK: Circles

  @Test func itMayCloseItsOwnContext() async throws {
    let (context, journal) = (context, journal)
    context.register((any Alpha).self, lifetime: .context) {
      Made()
    }.onClose { _ in
      try await context.untilClosed()
      journal.add("closed")
    }.running { _ in
      try await context.close()
      journal.add("asked to close")
    }
    _ = context.link((any Alpha).self)
    try await context.untilClosed()
    #expect(Set(journal.all) == ["closed", "asked to close"])
  }

  @Test func twoThatCloseTheirContextsWaitForNeitherThemselvesNorOneAnother() async throws {
    let contexts = try ["1", "2"].map { try context.makeScope(tag: $0) }
    let both = Latch(2)
    for (index, place) in contexts.enumerated() {
      place.register((any Alpha).self, lifetime: .context) {
        Made()
      }.running(mayEnd: true) { _ in
        both.arrive()
        await both.wait()
        try await contexts[1 - index].close()
      }
      _ = place.link((any Alpha).self)
    }
    for place in contexts { try await place.untilClosed() }
    try await context.close()
  }

  @Test func aCloserMayWaitForTheEndOfAContextAboveThatIsClosedLater() async throws {
    let (context, journal) = (context, journal)
    let child = try context.makeScope(tag: "child")
    child.provide(1).onClose { _ in
      try await context.untilClosed()
      journal.add("closed")
    }
    let closing = Task { try await child.close() }
    await until { context.isAwaited }
    try await context.close()
    try await closing.value
    #expect(journal.all == ["closed"])
  }

  @Test func twoClosersThatWaitForTheEndsOfOneAnothersContextsDoNotHang() async throws {
    let (first, second) = (UDIContext(tag: "1"), UDIContext(tag: "2"))
    for (place, other) in [(first, second), (second, first)] {
      place.provide(1).onClose { _ in try await other.untilClosed() }
    }
    let closing = Task { try await first.close() }
    await until { second.isAwaited }
    try await second.close()
    try await closing.value
  }

  @Test func anOperationThatTakesNoNoticeOfCancellationMayWaitForItsEnd() async throws {
    let (context, journal) = (context, journal)
    context.provide(1).running { _ in
      try await Task { try await context.untilClosed() }.value
      journal.add("ends")
    }
    await until { context.isAwaited }
    try await context.close()
    #expect(journal.all == ["ends"])
  }

  // MARK: Without closing

  @Test func whatIsDroppedIsCancelledAndReported() async throws {
    for drop in [{ $0.reset() }, { $0.unregister((any Alpha).self, named: "a") }] as [(UDIContext) -> Void] {
      let place = UDIContext(tag: "place")
      register("a", in: place)
      _ = place.link((any Alpha).self, named: "a")
      let (_, reports) = MisuseLog.during { drop(place) }
      #expect(reports.map(\.kind) == [.unclosed])
      await until("a ends")
    }
  }

  @Test func whatGoesWithItsContextIsCancelledAndReported() async throws {
    let log = MisuseLog()
    await withReporter(log.reporter) {
      var place: UDIContext? = UDIContext(tag: "place")
      register("a", in: place)
      _ = place?.link((any Alpha).self, named: "a")
      place = nil
      await until("a ends")
    }
    #expect(log.all.map(\.kind) == [.unclosed])
  }

  @Test func tenThousandSessionsLeaveNothing() async throws {
    let census = Census()
    context.register((any Alpha).self, lifetime: .scope) {
      Made("service", census)
    }.running { _ in
      try await untilCancelled()
    }
    for number in 0..<(isUnderThreadSanitizer ? 500 : 10_000) {
      try await context.withScope(tag: "\(number)") { scope in _ = scope.link((any Alpha).self) }
      try #require(census.alive == 0, "session \(number) left its service")
    }
    #expect(context.children.isEmpty)
  }

  @Test func theLifetimeMustOwn() async {
    await #expect(processExitsWith: .failure) {
      let context = UDIContext(tag: "context")
      context.register((any Alpha).self, lifetime: .unique) { Made() }.running { _ in }
      withExtendedLifetime(context) {}
    }
  }
}

extension UDIContext {
  /// Whether a call of `untilClosed` waits.
  fileprivate var isAwaited: Bool { change { node, _ in node.treeLocked.extras?.closing.end?.isWanted == true } }
}

extension UDIContext {
  fileprivate var isClosing: Bool { change { node, _ in node.treeLocked.state == .closing } }
}
