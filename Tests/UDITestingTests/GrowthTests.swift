import Testing
import UDI
import UDITesting

struct GrowthTests {
  @Test("What is left after each round fails the test: contexts, objects, bindings and providers")
  func growth() async throws {
    let kept = Locked<any AnyObject & Sendable>([])
    let line = #line + 2
    let found = try await issues {
      try expectNoGrowth {
        let page = try AppContext.makeChild(tag: "Page \(kept.all.count)")
        kept.add(Basket().attached(to: page))
        AppContext.register((any Clock).self, named: UDIName(kept.all.count)) { StoppedClock() }
      }
    }
    #expect(
      found.map(\.text) == [
        "There are more bindings of UDITestingTests.Cart after each round: 1, 2, 3.",
        "There are more contexts after each round: 2, 3, 4.",
        "There are more objects of Basket after each round: 1, 2, 3.",
        "There are more providers of UDITestingTests.Clock after each round: 1, 2, 3.",
      ])
    #expect(found.allSatisfy { $0.sourceLocation?.line == line })
  }

  @Test("What is left behind once, or goes again, is no growth")
  func steady() throws {
    let root = UDIContext(tag: "root")
    var kept: [Basket] = []
    try expectNoGrowth(rounds: 5) {
      if kept.count < 2 { kept.append(Basket().attached(to: root)) }
      let page = try AppContext.makeChild(tag: "Page")
      page.provide(TickingClock(), as: (any Clock).self)
      AppContext.removeChild(page)
    }
    withExtendedLifetime(kept) {}
  }

  @Test("Counting keeps nothing alive, however busy the main actor is", .ownAppContext)
  func busyMainActor() {
    var screen: Guest?
    whileMainActorIsBusy {
      expectNoGrowth { screen = Guest().attached(to: AppContext) }
    }
    #expect(screen != nil)
    // There are so many that the audit also removes the dead ones meanwhile.
    whileMainActorIsBusy {
      expectNoGrowth {
        for _ in 0..<100 { screen = Guest().attached(to: AppContext) }
      }
    }
    #expect(screen != nil)
  }

  @Test("Tasks that are ending may hold something a moment longer")
  func tasks() async throws {
    await expectNoGrowth {
      let basket = Basket().attached(to: AppContext)
      Task {
        for _ in 0..<50 { await Task.yield() }
        _ = basket.owner
      }
      await Task.yield()
    }
    let kept = Locked<Basket>([])
    let found = try await issues {
      await expectNoGrowth {
        kept.add(Basket().attached(to: AppContext))
        await Task.yield()
      }
    }
    #expect(found.map(\.text) == ["There are more objects of Basket after each round: 1, 2, 3."])
  }

  @Test("A task that is ending after the first round hides no growth")
  func taskAfterTheFirstRound() async throws {
    let kept = Locked<Basket>([])
    let found = try await issues {
      await expectNoGrowth {
        kept.add(Basket().attached(to: AppContext))
        let basket = Basket().attached(to: AppContext)
        Task {
          try? await Task.sleep(for: .milliseconds(20))
          _ = basket.owner
        }
        await Task.yield()
      }
    }
    #expect(found.map(\.text) == ["There are more objects of Basket after each round: 1, 2, 3."])
  }

  @Test("In the context that the test has", .ownAppContext)
  func ownContext() async throws {
    let context = AppContext
    let page = {
      #expect(AppContext == context)
      AppContext.removeChild(try AppContext.makeChild(tag: "Page"))
    }
    try synchronously { try expectNoGrowth(during: page) }
    try await expectNoGrowth(during: page)
    let found = try await issues { try expectNoGrowth { _ = try context.makeChild(tag: "\(context.children.count)") } }
    #expect(found.map(\.text) == ["There are more contexts after each round: 1, 2, 3."])
  }
}
