import Foundation
import Testing
import UDI

@testable import UDITesting

private struct Failure: Error {}

/// What becomes of a test's tree when the test ends. This suite has no trait: each of its tests runs a function as a
/// test with traits, whose tree ends before the function's issues are counted.
struct ReportsOfTestTests {
  private let own: OwnAppContextTrait = .ownAppContext
  private let audit: LeakAuditTrait = .leakAudit
  private let closed = Locked<String>([])

  /// Provides an object that has to be closed.
  private func provide(_ name: UDIName = "one", in context: UDIContext = AppContext) {
    context.provide(TickingClock(), as: (any Clock).self, named: name).onClose { [closed] _ in closed.add("\(name)") }
  }

  /// Runs a function as a test with traits, the outermost first.
  ///
  /// - Returns: The issues of that test.
  private func issues(
    of traits: any TestScoping..., test function: @escaping @Sendable () async throws -> Void
  ) async throws -> [Issue] {
    let test = try #require(Test.current)
    var run = function
    for trait in traits.reversed() {
      run = { [run] in try await trait.provideScope(for: test, testCase: nil, performing: run) }
    }
    return try await UDITestingTests.issues { [run] in try await run() }
  }

  @Test("A registration that replaces another one is a warning, with both lines")
  func replacement() async throws {
    let line = #line + 3
    let found = try await issues(of: own) {
      AppContext.register((any Clock).self) { TickingClock() }
      AppContext.register((any Clock).self) { TickingClock() }
      AppContext.register((any Clock).self, replaces: true) { TickingClock() }
    }
    #expect(found.map(\.severity) == [.warning] && found.map(\.sourceLocation?.line) == [line])
    #expect(found.first?.text.contains("ReportsOfTestTests.swift:\(line - 1)") == true, "\(found.map(\.text))")
  }

  @Test("What the test leaves open is closed, in order and in its AppContext")
  func leftOpen() async throws {
    let found = try await issues(of: own) {
      try provide("below", in: AppContext.makeChild(tag: "Page").makeScope(tag: "Scope"))
      for name in ["first", "second", "never made"] as [UDIName] {
        AppContext.register((any Clock).self, named: name, lifetime: .context) {
          TickingClock()
        }.onClose { [closed, context = AppContext] _ in
          guard case .closed(nil) = UDIEnding.current, AppContext === context else { return }
          closed.add("\(name)")
        }
      }
      _ = try AppContext.require((any Clock).self, named: "second")
      _ = try AppContext.require((any Clock).self, named: "first")
    }
    #expect(closed.all == ["below", "second", "first"])
    #expect(found.isEmpty, "\(found.map(\.text))")
  }

  @Test("It is closed if the test throws an error, too, which is the only issue")
  func throwing() async throws {
    let test = try #require(Test.current)
    let found = try await issues {
      await #expect(throws: Failure.self) {
        try await own.provideScope(for: test, testCase: nil) {
          provide()
          throw Failure()
        }
      }
    }
    #expect(closed.all == ["one"] && found.isEmpty, "\(found.map(\.text))")
  }

  @Test("It is closed if the test's task is cancelled, too")
  func cancelled() async throws {
    let start = Signal()
    let task = Task {
      await start.wait()
      await withOwnAppContext { () async in provide() }
    }
    task.cancel()
    start.give()
    await task.value
    #expect(closed.all == ["one"])
  }

  @Test("What the test has closed is not closed again")
  func closedByTest() async throws {
    let found = try await issues(of: own) {
      provide()
      try await AppContext.close()
    }
    #expect(closed.all == ["one"] && found.isEmpty)
  }

  @Test("It is closed once, by the outermost of several traits, in any order")
  func severalTraits() async throws {
    let suite: OwnAppContextTrait = .ownAppContext { _ in provide("suite") }
    let found = try await issues(of: suite, own) { provide("test") }
    #expect(closed.all == ["test", "suite"] && found.isEmpty)
    for traits in [[audit], [audit, own], [own, audit]] as [[any TestScoping]] {
      let found = try await issues(of: traits[0], traits.last!) { provide() }
      #expect(found.isEmpty, "\(found.map(\.text))")
    }
    #expect(closed.all.count == 5)
  }

  @Test("A task that outlives the test does not keep it open")
  func lateTask() async throws {
    let testIsOver = Signal()
    let found = try await issues(of: own) {
      provide()
      Task { await testIsOver.wait() }
    }
    #expect(closed.all == ["one"] && found.isEmpty)
    testIsOver.give()
  }

  @Test("An error while it is closed is an issue, at the line that registered it")
  func failing() async throws {
    let line = #line + 2
    let found = try await issues(of: own) {
      AppContext.provide(TickingClock(), as: (any Clock).self).onClose { _ in throw Failure() }
      provide("other")
    }
    #expect(closed.all == ["other"])
    #expect(found.map(\.sourceLocation?.line) == [line])
    #expect(found.first?.text.contains("Failure()") == true, "\(found.map(\.text))")
  }

  @Test("What takes too long is an issue, too")
  func late() async throws {
    let line = #line + 3
    let found = try await issues {
      let context = UDIContext(tag: "App")
      context.provide(TickingClock(), as: (any Clock).self).onClose { _ in await Signal().wait() }
      let reports = ReportsOfTest(nil, patience: .zero)
      await withReporter(reports.reporter) { await reports.collect(in: context, closes: true) {} }
    }
    #expect(found.map(\.sourceLocation?.line) == [line])
    #expect(found.first?.text.contains("did not end in time") == true, "\(found.map(\.text))")
  }

  @Test("What is being made at the end of the test is cancelled and closed")
  func underWay() async throws {
    let begins = Signal()
    let found = try await issues(of: own) {
      AppContext.register((any Clock).self, lifetime: .context) { () async in
        begins.give()
        await Signal().wait()
        return TickingClock()
      }.onClose { [closed] _ in
        closed.add("made")
      }
      Task { [context = AppContext] in _ = try? await context.obtain((any Clock).self) }
      await begins.wait()
    }
    #expect(closed.all == ["made"] && found.isEmpty, "\(found.map(\.text))")
  }

  @Test("A closing that is under way at the end of the test is awaited, and its errors are issues")
  func closingUnderWay() async throws {
    let (begins, goesOn) = (Signal(), Signal())
    let found = try await issues(of: own) {
      AppContext.provide(TickingClock(), as: (any Clock).self).onClose { [closed] _ in
        begins.give()
        await goesOn.wait()
        closed.add("late")
        throw Failure()
      }
      Task.detached { [context = AppContext] in try? await context.close() }
      await begins.wait()
      Task {
        for _ in 0..<10 { await Task.yield() }
        goesOn.give()
      }
    }
    #expect(closed.all == ["late"])
    #expect(found.count == 1 && found[0].text.contains("Failure()"), "\(found.map(\.text))")
  }

  @Test("An operation of `whileAvailable` is cancelled and awaited")
  func whileAvailable() async throws {
    let begins = Signal()
    let found = try await issues(of: own) {
      AppContext.provide(TickingClock(), as: (any Clock).self)
      Task {
        try await AppContext.whileAvailable((any Clock).self) { [closed] _ in
          begins.give()
          await Signal().wait()
          closed.add("operation")
        }
      }
      await begins.wait()
    }
    #expect(closed.all == ["operation"] && found.isEmpty, "\(found.map(\.text))")
  }

  @Test("Closers of the main actor run there, for a test that runs there, too")
  func onMainActor() async throws {
    let found = try await issues(of: own) { @MainActor in
      AppContext.provide(TickingClock(), as: (any Clock).self).onClose { [closed] _ in
        MainActor.assertIsolated()
        closed.add("main")
      }
    }
    #expect(closed.all == ["main"] && found.isEmpty, "\(found.map(\.text))")
  }

  @Test("A context that a test makes for a part of itself is closed at the end of this part")
  func part() async throws {
    let found = try await issues(of: own) {
      provide("test")
      await withOwnAppContext { () async in provide("part") }
      closed.add("rest")
    }
    #expect(closed.all == ["part", "rest", "test"] && found.isEmpty, "\(found.map(\.text))")
  }

  /// Provides a service whose operation fails, and waits until that has been reported.
  private func fail(in context: UDIContext) async {
    let (reporter, hasFailed) = (UDIReporter.current, Signal())
    let mine = UDIReporter {
      reporter.forward($0)
      if $0.kind == .operationFailed { hasFailed.give() }
    }
    await withReporter(mine) {
      context.provide(TickingClock(), as: (any Clock).self).running { _ in throw Failure() }
      await hasFailed.wait()
    }
  }

  @Test("An operation that fails is one issue, whatever the traits, and one misuse for other test libraries")
  func failedOperation() async throws {
    for traits in [[own, own], [own, audit], [audit, own], [audit, audit]] as [[any TestScoping]] {
      let found = try await issues(of: traits[0], traits[1]) { await fail(in: AppContext) }
      #expect(found.count == 1 && found[0].text.contains("Failure()"), "\(found.map(\.text))")
    }
    let reports = Locked<UDIMisuse>([])
    await withOwnAppContext(onMisuse: { reports.add($0) }) { await fail(in: AppContext) }
    #expect(reports.all.map(\.kind) == [.closingFailed])
  }

  @Test("An operation that fails outside the tree is an issue of its own")
  func failedOperationElsewhere() async throws {
    let found = try await issues(of: own) {
      provide()
      let session = UDIContext(tag: "Session")
      await fail(in: session)
      try? await session.close()
    }
    #expect(closed.all == ["one"])
    #expect(found.count == 1 && found[0].text.contains("Failure()"), "\(found.map(\.text))")
  }

  @Test("What the test drops without closing it is an issue, at the line that registered it")
  func dropped() async throws {
    let line = #line + 4
    let found = try await issues(of: own) {
      let scope = try AppContext.makeScope(tag: "Session")
      for name in ["one", "two"] as [UDIName] {
        scope.provide(TickingClock(), as: (any Clock).self, named: name).onClose { _ in }
      }
      AppContext.removeChild(scope)
    }
    #expect(found.map(\.sourceLocation?.line) == [line, line])
    #expect(found.allSatisfy { $0.text.contains("was dropped without having been closed") })
  }

  /// Belongs to the main actor, and holds a scope.
  @MainActor private final class Login {
    let scope: UDIContext
    init(_ scope: UDIContext) { self.scope = scope }
  }

  @Test("So is what an object of the main actor drops at the end of the test", arguments: 0..<20)
  func heldByAnObjectOfTheMainActor(round: Int) async throws {
    for trait in [own, audit] as [any TestScoping] {
      let found = try await issues(of: trait) {
        let scope = UDIContext(tag: "Session")
        provide(in: scope)
        await AppContext.provide(Login(scope))
      }
      #expect(found.count == 1 && found[0].text.contains("was dropped"), "\(found.map(\.text))")
    }
  }

  @Test("An audit sees what is made while the tree is closed")
  func madeByACloser() async throws {
    let kept = Locked<Basket>([])
    let found = try await issues(of: audit) {
      AppContext.provide(TickingClock(), as: (any Clock).self).onClose { _ in
        kept.add(Basket().attached(to: UDIContext(tag: "late")))
      }
    }
    #expect(found.count == 1 && found[0].text.contains("Basket"), "\(found.map(\.text))")
    withExtendedLifetime(kept) {}
  }

  @Test("If nothing has to be closed, the tree is not, so that an audit finds what holds it")
  func nothingToClose() async throws {
    let found = try await issues(of: audit) {
      AppContext.register((any Cart).self, lifetime: .context) { () async in Basket() }
      AppContext.provide(Holder(AppContext))
    }
    #expect(found.count == 1 && found[0].text.contains("Holder"), "\(found.map(\.text))")
  }

  private final class Holder: Sendable {
    let context: UDIContext
    init(_ context: UDIContext) { self.context = context }
  }

  @Test("Of an audit that makes the context, too: what is closed is no leak, and what still holds the context is one")
  func audited() async throws {
    let found = try await issues(of: audit) {
      let session = try AppContext.makeChild(tag: "Session")
      session.register((any Cart).self, lifetime: .context) { [session] in Basket(owner: session.path.count) }
      try AppContext.removeChild(#require(AppContext.child(tag: "Session")))
      provide()
    }
    #expect(closed.all == ["one"])
    #expect(found.count == 1 && found[0].text.contains("is still alive"), "\(found.map(\.text))")
  }

  @Test("`expectNoGrowth` closes what it makes, too, after its last round")
  func growth() async throws {
    let found = try await issues {
      await expectNoGrowth {
        await Task.yield()
        provide(in: AppContext)
      }
    }
    // The first two of three rounds are replaced.
    #expect(closed.all == ["one"])
    #expect(found.count == 2 && found.allSatisfy { $0.text.contains("was dropped") }, "\(found.map(\.text))")
  }

  @Test("The synchronous functions cannot close anything, so they report what is dropped")
  func synchronous() async throws {
    let reports = Locked<UDIMisuse>([])
    synchronously { withOwnAppContext(onMisuse: { reports.add($0) }) { provide() } }
    #expect(reports.all.map(\.kind) == [.unclosed] && closed.all.isEmpty)
    await withOwnAppContext(onMisuse: { reports.add($0) }) {
      await Task.yield()
      provide()
    }
    #expect(reports.all.count == 1 && closed.all == ["one"])
    let found = try await issues { synchronously { expectNoLeaks { provide() } } }
    #expect(found.count == 1 && found[0].text.contains("was dropped"), "\(found.map(\.text))")
  }

  @Test("In asynchronous code, the same calls close what they make, even if their operation awaits nothing")
  func asynchronous() async throws {
    let found = try await issues {
      await expectNoLeaks { provide() }
      let found = await leaks { provide("two") }
      #expect(found == [])
      await withOwnAppContext { provide("three") }
      await expectNoGrowth { AppContext.provide("four", replaces: true) }
    }
    #expect(found.isEmpty, "\(found.map(\.text))")
    #expect(closed.all == ["one", "two", "three"])
  }

  @Test("What their operation throws, these calls throw")
  func whatIsThrown() async throws {
    struct Failure: Error {}
    func fail() throws { throw Failure() }
    await #expect(throws: Failure.self) { try await expectNoLeaks { try fail() } }
    await #expect(throws: Failure.self) { _ = try await leaks { try fail() } }
    await #expect(throws: Failure.self) { try await expectNoGrowth { try fail() } }
    await #expect(throws: Failure.self) { () async throws in try await withOwnAppContext { try fail() } }
  }
}
