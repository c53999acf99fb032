import Testing
import UDI
import UDITesting

@Suite(.ownAppContext) struct OwnAppContextTests {
  @Test("200 tests at once bind the same key and see only themselves", arguments: 0..<200)
  func isolated(index: Int) async throws {
    #expect(AppContext.link((any Cart).self) == nil)
    let basket = Basket(owner: index).attached(to: try AppContext.makeChild(tag: "Checkout"))
    for _ in 0..<10 {
      #expect(AppContext.link((any Cart).self)?.owner == index)
      await Task.yield()
      async let other = AppContext.link((any Cart).self)?.owner
      #expect(await other == index)
    }
    #expect(AppContext.linkAll((any Cart).self).count == 1)
    withExtendedLifetime(basket) {}
  }

  @Test(
    "The context can be prepared",
    .ownAppContext { $0.register((any Clock).self) { StoppedClock(now: 3) } })
  func prepared() throws {
    #expect(try AppContext.require((any Clock).self).now == 3)
  }

  @Test("Misuse becomes an issue of the test, at the line where it happened")
  func misuseIsAnIssue() async throws {
    let owned = orphan()
    let line = #line + 2
    let found = try await issues {
      owned?.bind(Basket(), as: (any Cart).self)
    }
    #expect(found.map(\.sourceLocation?.line) == [line])
    #expect(found.first?.text.contains("is gone") == true)
    #expect(misuse { owned?.bind(Basket(), as: (any Cart).self) }.map(\.kind) == [.contextGone])
    #expect(await misuse { () async in owned?.bind(Basket(), as: (any Cart).self) }.count == 1)
  }

  @Test("Misuse by the operation of a service is an issue of the test, once, when the test's code ends")
  func misuseByAService() async throws {
    let owned = orphan()
    let line = #line + 6
    let found = try await issues {
      try await withOwnAppContext {
        let hasRun = Signal()
        AppContext.provide(TickingClock(), as: (any Clock).self).running { _ in
          #expect(Test.current == nil)
          for _ in 0..<3 { owned?.bind(Basket(), as: (any Cart).self) }
          hasRun.give()
          try await Task.sleep(for: .seconds(3600))
        }
        await hasRun.wait()
        try await AppContext.close()
      }
    }
    #expect(found.map(\.sourceLocation?.line) == [line])
  }

  @Test("An operation that fails is one issue, unless the test closes the context, which throws the failure")
  func failedOperation() async throws {
    struct Failure: Error {}
    for closes in [false, true] {
      let line = #line + 8
      let found = try await issues {
        await withOwnAppContext {
          let (reporter, hasFailed) = (UDIReporter.current, Signal())
          let mine = UDIReporter {
            reporter.forward($0)
            hasFailed.give()
          }
          AppContext.register((any Clock).self, lifetime: .context) { TickingClock() }.running { _ in throw Failure() }
          await withReporter(mine) {
            _ = AppContext.link((any Clock).self)
            await hasFailed.wait()
          }
          if !closes { return }
          await #expect(throws: UDIFailure.self) { try await AppContext.untilClosed() }
          try? await AppContext.close()
        }
      }
      #expect(found.map(\.sourceLocation?.line) == (closes ? [] : [line]), "\(found.map(\.text))")
    }
  }

  @Test("The use of an object that is attached to nothing becomes an issue if the reporter is asked for it")
  func unattachedUse() async throws {
    let found = try await issues {
      withReporter(UDIReporter(reportsUnattachedUse: true, recordAsIssue)) {
        _ = Guest().linkInLine((any Clock).self)
        _ = Guest().attached(to: AppContext).linkInLine((any Clock).self)
      }
    }
    #expect(found.count == 1 && found[0].text.contains("attached to no context"), "\(found.map(\.text))")
  }

  @Test("It gets a warning in a tree with several contexts, once for each line")
  func unattachedUseInATree() async throws {
    let use = { @Sendable in _ = Guest().linkInLine((any Clock).self) }
    #expect(try await issues { use() }.isEmpty)
    let page = try AppContext.makeChild(tag: "Page")
    let found = try await issues {
      for _ in 0..<2 { use() }
      _ = Guest().attached(to: page).linkInLine((any Clock).self)
    }
    #expect(found.map(\.severity) == [.warning] && found[0].text.contains("Guest"), "\(found.map(\.text))")
  }

  /// Also what would have waited for the end: a task that holds the tree may release it later.
  @Test("What is reported after the end is recorded at once")
  func misuseAfterTheEnd() async throws {
    let line = #line + 5
    let found = try await issues {
      let reporter = withOwnAppContext { UDIReporter.current }
      withReporter(reporter) {
        let context = UDIContext(tag: "late")
        context.provide(TickingClock(), as: (any Clock).self).onClose { _ in }
      }
    }
    #expect(found.map(\.sourceLocation?.line) == [line])
    #expect(found.first?.text.contains("dropped without having been closed") == true, "\(found.map(\.text))")
  }

  /// An object whose context is gone.
  private func orphan() -> Basket? {
    let owner = UDIContext(tag: "owner")
    owner.register((any Cart).self, lifetime: .context) { Basket() }
    return owner.link((any Cart).self) as? Basket
  }

  @Test("For other test libraries as functions, which hand misuse on")
  func functions() async {
    let outer = AppContext
    let owned = orphan()
    let misuse = misuse {
      withOwnAppContext(onMisuse: { UDIReporter.process.forward($0) }) {
        #expect(AppContext !== outer)
      }
      owned?.bind(Basket(), as: (any Cart).self)
    }
    #expect(misuse.count == 1)
    await withOwnAppContext {
      await Task.yield()
      #expect(AppContext !== outer)
    }
    #expect(AppContext === outer)
  }
}

/// Swift Testing makes the suite's instance inside the test's context, so an initialiser can prepare the context.
@Suite(.ownAppContext) struct OwnAppContextInInitialiserTests {
  private struct Stopped: UDIModule {
    func register(in context: UDIContext) {
      context.register((any Clock).self) { StoppedClock(now: 3) }
    }
  }

  init() { AppContext.install(Stopped()) }

  @Test("What the suite's initialiser registers, the test finds") func registered() throws {
    #expect(try AppContext.require((any Clock).self).now == 3)
  }

  @Test("Each test has a context of its own", arguments: 0..<4) func separate(index: Int) throws {
    let basket = Basket(owner: index)
    AppContext.bind(basket, as: (any Cart).self)
    #expect(AppContext.linkAll((any Cart).self).map(\.owner) == [index])
    #expect(try AppContext.require((any Clock).self).now == 3)
  }
}
