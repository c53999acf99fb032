import Foundation
import Testing
import UDI
import UDITesting

/// Provides an object that has to be closed in the test's context.
private func provide(_ name: UDIName = "one") {
  AppContext.provide(TickingClock(), as: (any Clock).self, named: name) { _ in }
}

/// What has an `onClose` and is dropped with the tree of a test. This suite has no trait: each of its tests runs a
/// function as a test with traits, whose tree ends before the function's issues are counted.
struct UnclosedTests {
  private let line = #line - 6
  private let own: OwnAppContextTrait = .ownAppContext
  private let audit: LeakAuditTrait = .leakAudit

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

  /// Whether there is one issue, of the given number of things that were not closed.
  private func areReports(_ issues: [Issue], count: Int) -> Bool {
    guard issues.count == 1, issues[0].text.contains("was dropped without having been closed") else { return false }
    return issues[0].text.components(separatedBy: "UnclosedTests.swift:").count == count
  }

  @Test("It is an issue of the test, at the line that registered it")
  func dropped() async throws {
    let found = try await issues(of: own) { provide() }
    #expect(areReports(found, count: 1))
    #expect(found.map(\.sourceLocation?.line) == [line])
  }

  /// Belongs to the main actor, and holds a scope.
  @MainActor private final class Login {
    let scope: UDIContext
    init(_ scope: UDIContext) { self.scope = scope }
  }

  @Test("What an object of the main actor holds counts", arguments: 0..<20)
  func heldByAnObjectOfTheMainActor(round: Int) async throws {
    for trait in [own, audit] as [any TestScoping] {
      let found = try await issues(of: trait) {
        let scope = try AppContext.makeScope(tag: "Session")
        scope.provide(TickingClock(), as: (any Clock).self) { _ in }
        await AppContext.provide(Login(scope))
      }
      #expect(areReports(found, count: 1), "\(found.map(\.text))")
    }
  }

  @Test("What the test closes is no issue")
  func closed() async throws {
    let found = try await issues(of: own) {
      provide()
      try await AppContext.close()
    }
    #expect(found.isEmpty)
  }

  @Test("Contexts below and all owners of instances count, but nothing that was never made")
  func below() async throws {
    let found = try await issues(of: own) {
      let scope = try AppContext.makeChild(tag: "Page").makeScope(tag: "Scope")
      for name in ["kept", "also kept", "never made"] {
        scope.register((any Clock).self, named: UDIName(name), lifetime: .context) {
          TickingClock()
        } onClose: { _ in
        }
      }
      _ = try scope.require((any Clock).self, named: "kept")
      _ = try scope.require((any Clock).self, named: "also kept")
    }
    #expect(areReports(found, count: 2))
  }

  @Test("What belongs to the main actor counts, even if the test ends elsewhere")
  func onMainActor() async throws {
    final class Window {}
    let found = try await issues(of: own) {
      await MainActor.run {
        AppContext.provide(Window()) { _ in }
        AppContext.register(Window.self, named: "made", lifetime: .context) {
          Window()
        } onClose: { _ in
        }
        _ = AppContext.link(Window.self, named: "made")
      }
    }
    #expect(areReports(found, count: 2))
  }

  @Test("The tree does not outlive the test in tasks that the test has awaited", arguments: 0..<50)
  func tasks(_: Int) async throws {
    let found = try await issues(of: own) {
      async let first: Void = provide("one")
      await withTaskGroup { group in
        for name in ["two", "three"] as [UDIName] { group.addTask { provide(name) } }
      }
      await first
      await Task { provide("four") }.value
    }
    #expect(areReports(found, count: 4))
  }

  @Test("If the test throws an error, that is the reason, and the only issue")
  func throwing() async throws {
    struct Failure: Error {}
    let own = own
    let test = try #require(Test.current)
    let found = try await issues {
      await #expect(throws: Failure.self) {
        try await own.provideScope(for: test, testCase: nil) {
          provide()
          throw Failure()
        }
      }
    }
    #expect(found.isEmpty, "\(found.map(\.text))")
  }

  @Test("If a suite and its test have the trait, what both blocks register counts")
  func suiteAndTest() async throws {
    let suite: OwnAppContextTrait = .ownAppContext { _ in provide("suite") }
    let test: OwnAppContextTrait = .ownAppContext { _ in provide("test") }
    #expect(areReports(try await issues(of: suite, test) { provide() }, count: 3))
  }

  @Test("With the audit, it is one issue in any order of the traits, and no leak")
  func audited() async throws {
    #expect(areReports(try await issues(of: audit) { provide() }, count: 1))
    #expect(areReports(try await issues(of: audit, own) { provide() }, count: 1))
    #expect(areReports(try await issues(of: own, audit) { provide() }, count: 1))
  }

  @Test("`expectNoGrowth` reports it, too, if it makes the context")
  func growth() async throws {
    let found = try await issues {
      await expectNoGrowth {
        await Task.yield()
        provide()
      }
      expectNoGrowth { provide() }
    }
    // In each call, the first two of three rounds are replaced, and the last one goes with the context.
    #expect(found.count == 2 && found.allSatisfy { areReports([$0], count: 3) }, "\(found.map(\.text))")
  }

  @Test("`withOwnAppContext` passes it to `onMisuse`")
  func functions() async {
    let reports = Locked<UDIMisuse>([])
    withOwnAppContext(onMisuse: { reports.add($0) }) { provide() }
    #expect(reports.all.map(\.kind) == [.unclosed])
    await withOwnAppContext(onMisuse: { reports.add($0) }) {
      await Task.yield()
      provide()
    }
    #expect(reports.all.map(\.kind) == [.unclosed, .unclosed])
    #expect(reports.all.map(\.line) == [line, line])
  }

  /// In a process of its own, because all tests share the process's reporter.
  @Test("If a task that still runs keeps the tree, the process's reporter is told when the task ends")
  func lateTask() async {
    await #expect(processExitsWith: .success) {
      let (testIsOver, isReported) = (Signal(), Signal())
      UDIReporter.process = UDIReporter { misuse in
        #expect(misuse.kind == .unclosed)
        isReported.give()
      }
      withOwnAppContext(onMisuse: { fatalError("\($0)") }) {
        provide()
        Task { await testIsOver.wait() }
      }
      testIsOver.give()
      await isReported.wait()
    }
  }
}
