import Testing
import UDI
import UDITesting

/// The audit of a context that lives on after the audited operation.
@Suite(.ownAppContext) struct LeakAuditPreparedTests {
  @Test("What was there before the operation is no leak, whatever happens to it")
  func before() async throws {
    let kept = try AppContext.makeChild(tag: "kept")
    AppContext.removeChild(kept)
    let bound = Basket().attached(to: AppContext)
    let attached = Guest().attached(to: AppContext)
    let provided = TickingClock()
    AppContext.provide(provided, as: (any Clock).self)
    let work = { (tag: String) in
      let child = try AppContext.makeChild(tag: tag)
      bound.attachedContext = nil
      bound.attachedContext = child
      attached.attachedContext = child
      AppContext.provide(provided, as: (any Clock).self, named: "again")
      try AppContext.addChild(kept)
      AppContext.removeChild(kept)
    }
    #expect(try synchronously { try leaks { try work("one") } } == [])
    let found = try await leaks {
      await Task.yield()
      try work("other")
    }
    #expect(found == [])
    withExtendedLifetime((bound, attached)) {}
  }

  @Test("What was attached before the operation may bind itself")
  func attachedBefore() {
    let guest = Guest().attached(to: AppContext)
    #expect(leaks { guest.bind(guest, as: Guest.self) } == [])
    // But it counts if the operation has attached it.
    let other = Guest()
    let found = leaks {
      other.attachedContext = AppContext
      other.bind(other, as: Guest.self)
    }
    #expect(found.map(\.className) == ["Guest"])
    withExtendedLifetime((guest, other)) {}
  }

  @Test("What was made before and is registered for the first time counts")
  func firstTime() {
    let (bound, attached) = (Basket(), Guest())
    let found = leaks {
      bound.attachedContext = AppContext
      attached.attachedContext = AppContext
    }
    #expect(found.map(\.className) == ["Basket", "Guest"])
  }

  @Test("What a context that is still in the tree owns is no leak, and neither is that context")
  func owned() async throws {
    let work = {
      let child = try AppContext.makeChild(tag: "Child")
      let below = try child.makeChild(tag: "Below")
      below.provide(Basket(), as: (any Cart).self)
      below.register((any Cart).self, named: "made", lifetime: .context) { Basket() }
      below.register((any Cart).self, named: "with", lifetime: .context) { (_, owner: Int) in Basket(owner: owner) }
      below.register((any Cart).self, named: "own", lifetime: UDILifetime("shelf", storage: .custom { Shelf() })) {
        Basket()
      }
      _ = try below.require((any Cart).self, named: "made")
      _ = try below.require((any Cart).self, named: "with", with: 1)
      _ = try below.require((any Cart).self, named: "own")
      below.provide(TickingClock()).implements((any Clock).self)
      _ = below.link((any Clock).self)
    }
    #expect(try synchronously { try leaks(during: work) } == [])
    AppContext.removeChild(tag: "Child")
    let none = try await leaks {
      await Task.yield()
      try work()
    }
    #expect(none == [])
    // But the audit does report what is owned elsewhere.
    let elsewhere = Locked<UDIContext>([])
    let found = try await leaks {
      AppContext.removeChild(tag: "Child")
      try work()
      if let child = AppContext.removeChild(tag: "Child") { elsewhere.add(child) }
    }
    #expect(found.map(\.fullPath) == [["App", "Child"]])
    #expect(found.first?.held.map(\.className) == ["Basket", "Basket", "Basket", "Basket", "TickingClock"])
  }

  @Test("What a context owned and has let go of is a leak, and so is what it keeps weakly, if somebody holds it")
  func notOwned() throws {
    let held = Locked<any Cart>([])
    let found = try leaks {
      let provided = Basket(owner: 1)
      AppContext.provide(provided, as: (any Cart).self)
      held.add(provided)
      AppContext.unregister((any Cart).self)
      AppContext.register((any Cart).self, named: "weak", lifetime: .weak) { Basket(owner: 2) }
      held.add(try AppContext.require((any Cart).self, named: "weak"))
    }
    #expect(found.map(\.className) == ["Basket", "Basket"])
  }

  @Test("A context that was taken out of the tree is a leak")
  func removed() throws {
    let kept = Locked<UDIContext>([])
    let found = try leaks {
      let child = try AppContext.makeChild(tag: "Child")
      kept.add(child)
      AppContext.removeChild(child)
    }
    #expect(found.map(\.fullPath) == [["App", "Child"]])
  }

  @Test("An ignored object that was there before may be attached to a new context, another one's context is reported")
  func ignored() throws {
    let (ignored, other) = (Basket().attached(to: AppContext), Guest().attached(to: AppContext))
    let found = try leaks(ignoring: [Basket.self]) {
      let (one, two) = (try AppContext.makeChild(tag: "one"), try AppContext.makeChild(tag: "two"))
      ignored.attachedContext = one
      other.attachedContext = two
      AppContext.removeChild(one)
      AppContext.removeChild(two)
    }
    #expect(found.map(\.fullPath) == [["App", "two"]])
  }

  @Test("Where the context is a part of a tree only that part is watched")
  func partOfTree() async throws {
    let kept = Locked<Basket>([])
    let beside = try AppContext.makeChild(tag: "beside")
    let part = try AppContext.makeChild(tag: "part")
    let found = try await withAppContext(part) {
      try await leaks {
        try part.makeChild(tag: "other").provide(Basket(), as: (any Cart).self)
        await Task.detached {
          kept.add(Basket().attached(to: part))
          kept.add(Basket().attached(to: beside))
        }.value
      }
    }
    #expect(found.map(\.className) == ["Basket"])
    #expect(found.first?.registrations.map(\.fullPath) == [["App", "part"]])
  }

  @Test("What an owned object holds is reported as long as the context is there")
  func heldByOwned() {
    #expect(leaks { AppContext.provide(Tower()) }.map(\.className) == ["TickingClock"])
  }

  @Test("A factory that captures the context itself is not found as long as the context is there")
  func captured() {
    let context = AppContext
    expectNoLeaks { context.register((any Cart).self) { Basket(owner: context.tag.count) } }
    context.unregister((any Cart).self)
  }

  @Test("An audit inside another one hands on what has not outlived its part, and nothing else")
  func nested() async throws {
    let held = Locked<any AnyObject & Sendable>([])
    let outer = await leaks {
      held.add(ViewModel().attached(to: AppContext))
      let inner = await leaks(ignoring: [ViewModel.self]) {
        let owned = Basket(owner: 1)
        AppContext.provide(owned, as: (any Cart).self)
        held.add(owned)
        held.add(Guest().attached(to: AppContext))
        let outside = UDIContext(tag: "outside")
        held.add(outside)
        try? AppContext.addChild(outside)
      }
      await Task.yield()
      #expect(inner.map(\.className) == ["Guest"])
      AppContext.unregister((any Cart).self)
      AppContext.removeChild(tag: "outside")
    }
    #expect(outer.map(\.className) == ["ViewModel", "Basket", "UDIContext"])
  }

  @Test("Two audits of one context that go on side by side see each its own task")
  func sideBySide() async {
    let (began, ended) = (Signal(), Signal())
    async let first = leaks {
      began.give()
      await ended.wait()
    }
    async let second = leaks {
      await began.wait()
      ViewModel().attached(to: AppContext).refreshLeaking()
      ended.give()
    }
    #expect(await first == [])
    #expect(await second.map(\.className) == ["ViewModel"])
  }
}
