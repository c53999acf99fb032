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
    context.provide(TickingClock(), as: (any Clock).self, named: name) { [closed] _ in closed.add("\(name)") }
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

  @Test("What the test leaves open is closed, in order, in its AppContext and for both reasons to end")
  func leftOpen() async throws {
    let found = try await issues(of: own) {
      try provide("below", in: AppContext.makeChild(tag: "Page").makeScope(tag: "Scope"))
      for name in ["first", "second", "never made"] as [UDIName] {
        AppContext.register((any Clock).self, named: name, lifetime: .context) {
          TickingClock()
        } onClose: { [closed, context = AppContext] _ in
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
      AppContext.provide(TickingClock(), as: (any Clock).self) { _ in throw Failure() }
      provide("other")
    }
    #expect(closed.all == ["other"])
    #expect(found.map(\.sourceLocation?.line) == [line])
    #expect(found.first?.text.contains("Failure()") == true, "\(found.map(\.text))")
  }

  @Test("What takes too long is an issue, too, and does not stop the rest")
  func late() async {
    let reports = Locked<UDIMisuse>([])
    let context = UDIContext(tag: "App")
    provide("first", in: context)
    context.provide(TickingClock(), as: (any Clock).self) { _ in await Signal().wait() }
    let reporter = ReportsOfTest({ reports.add($0) }, patience: .zero)
    await withReporter(reporter.reporter) { await reporter.collect(in: context, closes: true) {} }
    #expect(closed.all == ["first"])
    #expect(reports.all.map(\.kind) == [.closingFailed])
    #expect(reports.all.first?.message.contains("did not end in time") == true, "\(reports.all.map(\.message))")
  }

  @Test("What the test drops without closing it is an issue, at the line that registered it")
  func dropped() async throws {
    let line = #line + 4
    let found = try await issues(of: own) {
      let scope = try AppContext.makeScope(tag: "Session")
      for name in ["one", "two"] as [UDIName] {
        scope.provide(TickingClock(), as: (any Clock).self, named: name) { _ in }
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
    withOwnAppContext(onMisuse: { reports.add($0) }) { provide() }
    #expect(reports.all.map(\.kind) == [.unclosed] && closed.all.isEmpty)
    await withOwnAppContext(onMisuse: { reports.add($0) }) {
      await Task.yield()
      provide()
    }
    #expect(reports.all.count == 1 && closed.all == ["one"])
    let found = try await issues { expectNoLeaks { provide() } }
    #expect(found.count == 1 && found[0].text.contains("was dropped"), "\(found.map(\.text))")
  }
}
