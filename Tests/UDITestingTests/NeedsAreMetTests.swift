import Testing
import UDI
import UDITesting

private protocol Radio: AnyObject, Sendable {}
private final class Receiver: Radio {}

private class Page: UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var clock: any Clock
  func didAttachContext() { Issue.record("nothing is attached") }
}

private final class PlayerPage: Page {
  @Required(named: "kitchen") var radio: any Radio
  @Linked var cart: (any Cart)?
}

private final class Tuner: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required(search: .descendants) var radio: any Radio
}

@Suite(.ownAppContext) struct NeedsAreMetTests {
  @Test("What a class requires and no lookup finds fails the test, without an object")
  func classes() async throws {
    let line = #line + 1
    let found = try await issues { expectNeedsAreMet(by: Page.self, PlayerPage.self) }
    #expect(found.count == 4 && found.allSatisfy { $0.sourceLocation?.line == line })
    #expect(found.map(\.severity) == [.error, .error, .error, .warning])
    let beginning = "Page.clock would find nothing. No UDITestingTests.Clock is registered"
    #expect(found.first?.text.hasPrefix(beginning) == true)
    #expect(found.contains { $0.text.hasPrefix("PlayerPage.cart would find nothing.") })
  }

  @Test("What is followed may be missing, but is remarked upon if it is there as another type")
  func followed() async throws {
    final class Title: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Followed var radio: (any Radio)?
    }
    func check() async throws -> [Issue] {
      try await issues {
        expectNeedsAreMet(by: Title.self)
        expectNeedsAreMet(by: Title())
      }
    }
    #expect(try await check().isEmpty)
    AppContext.provide(Receiver())
    let found = try await check()
    #expect(found.map(\.severity) == [.warning, .warning], "\(found.map(\.text))")
    #expect(found.allSatisfy { $0.text.hasPrefix("Title.radio would find nothing.") })
    AppContext.provide(Receiver(), as: (any Radio).self)
    #expect(try await check().isEmpty)
  }

  @Test("Nothing is made, and what a provider would make counts as found")
  func nothingIsMade() {
    AppContext.register((any Clock).self) {
      Issue.record("nothing is made")
      return StoppedClock()
    }
    expectNeedsAreMet(by: Page.self)
  }

  @Test("Where only names are registered, a class's need is a warning; its object knows the name")
  func names() async throws {
    AppContext.register((any Clock).self) { StoppedClock() }
    AppContext.provide(Basket(), as: (any Cart).self)
    AppContext.register((any Radio).self, named: "bath") { Receiver() }
    var found = try await issues { expectNeedsAreMet(by: PlayerPage.self) }
    #expect(found.map(\.severity) == [.warning])
    found = try await issues { expectNeedsAreMet(by: PlayerPage()) }
    #expect(found.map(\.severity) == [.error])
    AppContext.register((any Radio).self, named: "kitchen") { Receiver() }
    let page = PlayerPage()
    expectNeedsAreMet(by: page)
    page.radio = Receiver()
    AppContext.unregister(UDIKey<any Radio>(named: "kitchen"))
    expectNeedsAreMet(by: page)
  }

  @Test("An object need not be attached yet: its needs are those in a given context, under their names")
  func objectInAContext() async throws {
    let context = UDIContext(tag: "context")
    context.provide(Receiver(), as: (any Radio).self, named: "kitchen")
    context.register((any Clock).self) { StoppedClock() }
    AppContext.provide(Receiver(), as: (any Radio).self)
    // The class does not know the name.
    #expect(try await issues { expectNeedsAreMet(by: PlayerPage.self, in: context) }.map(\.severity).contains(.warning))
    let found = try await issues {
      let page = PlayerPage()
      expectNeedsAreMet(by: page, in: context)
      #expect(page.attachedContext == nil)
    }
    #expect(found.map(\.severity) == [.warning] && found[0].text.hasPrefix("PlayerPage.cart would"))
    context.unregister(UDIKey<any Radio>(named: "kitchen"))
    context.provide(Receiver(), as: (any Radio).self, named: "bathroom")
    let others = try await issues { expectNeedsAreMet(by: PlayerPage(), in: context) }
    #expect(others.filter { $0.severity == .error }.map { $0.text.hasPrefix("PlayerPage.radio would find") } == [true])
  }

  @Test("Of what an object follows under a name, that name counts")
  func followedUnderAName() async throws {
    final class Title: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Followed(named: "kitchen") var radio: (any Radio)?
    }
    let context = UDIContext(tag: "context")
    context.provide(Receiver(), as: (any Radio).self, named: "bathroom")
    let found = try await issues { expectNeedsAreMet(by: Title(), in: context) }
    #expect(found.map(\.severity) == [.warning] && found[0].text.contains("only one named \"bathroom\""))
    context.provide(Receiver(), as: (any Radio).self, named: "kitchen")
    expectNeedsAreMet(by: Title(), in: context)
  }

  @Test("Of what an object follows, a scope that its context is not in is worth a warning")
  func followedFromOutsideAScope() async throws {
    final class Title: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Followed var radio: (any Radio)?
    }
    let context = UDIContext(tag: "context")
    context.register((any Radio).self, lifetime: .scope("kitchen")) { Receiver() }
    var found = try await issues { expectNeedsAreMet(by: Title.self, in: context) }
    #expect(found.map(\.severity) == [.warning] && found[0].text.contains("scope of the kind \"kitchen\""))
    let kitchen = try context.makeScope(tag: "kitchen")
    expectNeedsAreMet(by: Title.self, in: kitchen)
    context.unregister((any Radio).self)
    kitchen.provide(Receiver(), as: (any Radio).self)
    found = try await issues { expectNeedsAreMet(by: Title(), in: context) }
    #expect(found.map(\.severity) == [.warning] && found[0].text.contains("closed to lookups from outside"))
  }

  @Test("Where the context's search does not look, a class's need is a warning; its object knows the search")
  func searches() async throws {
    let context = UDIContext(tag: "context", search: .ancestors)
    let child = try context.makeChild(tag: "child")
    child.provide(Receiver(), as: (any Radio).self)
    let found = try await issues { expectNeedsAreMet(by: Tuner.self, in: context) }
    #expect(found.map(\.severity) == [.warning])
    expectNeedsAreMet(by: Tuner().attached(to: context))
  }

  @Test("An unregistered service is found by the test that opens the screen")
  func opening() async throws {
    let found = try await issues { _ = Guest2().attached(to: AppContext) }
    #expect(found.count == 1 && found[0].text.contains("Guest2.clock needs it"))
  }

  @Test("What providers make has what it requires, or fails the test")
  func everythingIsMade() async throws {
    AppContext.register(Guest2.self, lifetime: .unique) { Guest2() }
    let found = try await issues { await expectEverythingIsMade() }
    #expect(found.count == 1 && found[0].text.contains("Guest2.clock needs it"))
    AppContext.register((any Clock).self) { StoppedClock() }
    await expectEverythingIsMade()
  }
}

private final class Guest2: UDIFinalObject, @unchecked Sendable {
  // Unchecked: only one test uses an instance, one step after another.
  let _attachedContext = UDIAttachment()
  @Required var clock: any Clock
}
