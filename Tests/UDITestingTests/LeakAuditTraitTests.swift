import Testing
import UDI
import UDITesting

/// Expects the issues with the given texts, and no others, of a test with real traits.
struct ExpectedIssues: TestTrait, SuiteTrait, TestScoping {
  let texts: [String]
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let found = try await issues { issue in
      texts.contains { issue.text.contains($0) } && issue.sourceLocation?.line == test.sourceLocation.line
    } during: {
      try await function()
    }
    #expect(found.count == texts.count, "\(found.map(\.text))")
  }
}

extension Trait where Self == ExpectedIssues {
  static func expects(_ texts: String...) -> Self { ExpectedIssues(texts: texts) }
}

/// Prepares a clock with a name.
private func prepare(_ name: String, now: Int = 1) -> @Sendable (UDIContext) -> Void {
  { $0.register((any Clock).self, named: UDIName(name)) { StoppedClock(now: now) } }
}

/// The prepared clocks, by name.
private func now(_ name: String) -> Int? { AppContext.link((any Clock).self, named: UDIName(name))?.now }

private func leak() { ViewModel().attached(to: AppContext).refreshLeaking() }

@Suite("A leak audit uses the context that is there", .ownAppContext(prepare("suite")))
struct LeakAuditTraitTests {
  @Test("The suite's, for a test", .leakAudit)
  func suiteIsPrepared() { #expect(now("suite") == 1) }

  @Test("The suite's, for each case of a parameterised test", .leakAudit, arguments: 0..<20)
  func parameterised(index: Int) throws {
    #expect(now("suite") == 1 && now("case") == nil)
    prepare("case", now: index)(AppContext)
    #expect(now("case") == index)
    AppContext.provide(Basket(owner: index), as: (any Cart).self)
    _ = Guest().attached(to: try AppContext.makeChild(tag: "child"))
  }

  @Test("The test's, behind it", .ownAppContext(prepare("test")), .leakAudit)
  func behind() { #expect(now("suite") == 1 && now("test") == 1) }

  @Test("The test's, in front of it", .leakAudit, .ownAppContext(prepare("test")))
  func inFront() { #expect(now("suite") == 1 && now("test") == 1) }

  @Test(
    "With a leak in it, behind", .expects("Still alive: the ViewModel"), .ownAppContext(prepare("test")), .leakAudit)
  func leakBehind() {
    #expect(now("test") == 1)
    leak()
  }

  @Test(
    "With a leak in it, in front", .expects("Still alive: the ViewModel"), .leakAudit, .ownAppContext(prepare("test")))
  func leakInFront() {
    #expect(now("test") == 1)
    leak()
  }

  @Test(
    "With a leak in it, for each case", .expects("Still alive: the ViewModel"), .leakAudit, arguments: [1, 2])
  func leakInEach(index: Int) { leak() }

  @Test("In a call")
  func call() async {
    let context = AppContext
    prepare("test")(context)
    synchronously {
      expectNoLeaks { #expect(AppContext === context && now("suite") == 1 && now("test") == 1) }
    }
    await expectNoLeaks {
      await Task.yield()
      #expect(AppContext === context && now("suite") == 1 && now("test") == 1)
      prepare("later")(AppContext)
    }
    #expect(now("later") == 1)
    #expect(synchronously { leaks { leak() } }.map(\.className) == ["ViewModel"])
  }

  @Test("In a call, where somebody else has set it")
  func setByHand() async {
    let context = UDIContext(tag: "by hand")
    prepare("test")(context)
    withAppContext(context) { expectNoLeaks { #expect(AppContext === context && now("test") == 1) } }
    await withAppContext(context) {
      await expectNoLeaks {
        await Task.yield()
        #expect(AppContext === context && now("test") == 1)
      }
    }
  }
}

/// No context is prepared here.
struct LeakAuditWithoutContextTests {
  @Test("A test that has no context of its own gets one", .leakAudit)
  func trait() async {
    let ofProcess = await Task.detached { AppContext }.value
    #expect(AppContext !== ofProcess)
  }

  @Test("So does a call, each time")
  func call() async {
    let before = ObjectIdentifier(AppContext)
    synchronously { expectNoLeaks { #expect(ObjectIdentifier(AppContext) != before) } }
    await expectNoLeaks {
      await Task.yield()
      #expect(ObjectIdentifier(AppContext) != before)
    }
    #expect(ObjectIdentifier(AppContext) == before)
  }

  @Test(
    "With the audit first, what the context owned goes before the audit looks", .leakAudit,
    .ownAppContext { $0.provide(Tower()) })
  func ownedGoes() { #expect(AppContext.link(Tower.self) != nil) }

  @Test(
    "With the audit first, a factory that captures the context is found",
    .expects("The context \"App\" is still alive"),
    .leakAudit, .ownAppContext { context in context.register((any Cart).self) { Basket(owner: context.tag.count) } })
  func captured() { #expect(AppContext.link((any Cart).self) != nil) }

  @Test(
    "With the audit first, what the block prepares counts", .expects("Still alive: the ViewModel"), .leakAudit,
    .ownAppContext { _ in leak() })
  func preparedCounts() {}
}

private let order = Locked<String>([])

@Suite(.ownAppContext { _ in order.add("outer") }, .serialized)
struct OwnAppContextOrderTests {
  @Suite(
    .ownAppContext { context in
      #expect(context === AppContext)
      order.add("suite")
      context.register((any Clock).self) { StoppedClock(now: 1) }
      context.register((any Clock).self, named: "suite") { StoppedClock(now: 1) }
    })
  struct Inner {
    @Test(
      "Blocks of suites and of their test run in order, in one context",
      .ownAppContext { context in
        #expect(context === AppContext && context.link((any Clock).self)?.now == 1)
        order.add("test")
        context.register((any Clock).self) { StoppedClock(now: 2) }
      }, .ownAppContext { _ in order.add("again") })
    func bothBlocks() {
      #expect(order.all.suffix(4) == ["outer", "suite", "test", "again"])
      #expect(AppContext.link((any Clock).self)?.now == 2)
      #expect(AppContext.link((any Clock).self, named: "suite")?.now == 1)
    }

    @Test("Each case has a context of its own", .ownAppContext, arguments: [1, 2, 3])
    func cases(index: Int) {
      #expect(AppContext.link((any Clock).self)?.now == 1)
      #expect(AppContext.link((any Clock).self, named: "case") == nil)
      AppContext.register((any Clock).self, named: "case") { StoppedClock(now: index) }
    }
  }
}

@Suite(.leakAudit(ignoring: Guest.self)) struct LeakAuditOfSuiteTests {
  @Test(
    "The audit of a suite makes the context, and the trait of the test prepares it",
    .ownAppContext(prepare("test")))
  func contextOfTest() { #expect(now("test") == 1) }

  @Test("What the inner of two audits has reported is reported once", .leakAudit)
  func reportedOnce() async throws {
    let test = try #require(Test.current)
    let found = try await issues {
      try await (.leakAudit as LeakAuditTrait).provideScope(for: test, testCase: nil) {
        try await (.leakAudit as LeakAuditTrait).provideScope(for: test, testCase: nil) {
          let checkout = try AppContext.makeChild(tag: "Checkout")
          ViewModel().attached(to: checkout).refreshLeaking()
          AppContext.removeChild(checkout)
        }
      }
    }
    #expect(found.count == 1)
  }

  @Test("What the inner one is to ignore is not reported by the outer one", .leakAudit(ignoring: ViewModel.self))
  func ignoredByTest() { leak() }

  @Test("What only the outer one ignores is reported by the inner one", .leakAudit)
  func ignoredBySuite() {
    let guest = Guest()
    #expect(leaks { guest.attachedContext = AppContext }.map(\.className) == ["Guest"])
  }
}
