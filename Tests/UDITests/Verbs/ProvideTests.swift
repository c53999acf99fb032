import Testing
import UDI
import UDIInspector

/// `provide` gives a context something that exists already to own.
struct ProvideTests {
  let context = UDIContext(tag: "context")

  private struct Settings: Equatable { var size = 3 }

  @Test("A value and an object are owned until the context goes")
  func owned() {
    let census = Census()
    do {
      let context = UDIContext(tag: "passing")
      context.provide(Settings(size: 5))
      context.provide(Made("a", census), as: (any Alpha).self, named: "x")
      #expect(context.link(Settings.self) == Settings(size: 5))
      #expect(context.link((any Alpha).self, named: "x") != nil && census.alive == 1)
      #expect(context.link((any Alpha).self) == nil)
    }
    #expect(census.alive == 0)
  }

  @Test("It behaves as a provider that has made it: replaced, taken back, reset, listed, served as another type")
  func asAProvider() throws {
    let census = Census()
    let line = #line + 1
    let registration = context.provide(Made("a", census), as: Made.self).implements((any Beta).self)
    #expect(registration.line == line && registration.lifetime == .context)
    #expect(context.snapshot().contexts[0].entries.first?.kind == .kept)
    let made = try context.require(Made.self)
    #expect(try context.require((any Beta).self) === made)
    context.reset()
    #expect(try context.require(Made.self) === made, "it is what it was")
    context.provide(Made("b", census), as: Made.self, replaces: true)
    #expect(try context.require(Made.self).label == "b")
    #expect(context.link((any Beta).self) == nil)
    #expect(context.registrations(of: Made.self).first?.unregister() == true)
    #expect(context.link(Made.self) == nil && census.alive == 1, "only this test holds the first one")
    withExtendedLifetime(made) {}
  }

  @Test("A live binding comes first, and below and above it is found like any other")
  func searches() throws {
    let child = try context.makeChild(tag: "child")
    let plain = Plain()
    child.provide(Made("owned"), as: (any Service).self)
    #expect((context.link((any Service).self) as? Made)?.label == "owned")
    child.bind(plain, as: (any Service).self)
    #expect(context.link((any Service).self) === plain)
    context.provide(7, as: Int.self)
    #expect(child.link(Int.self, search: .ancestors) == 7)
    #expect(context.explain(Int.self).summary.contains("in \"context\": Int, kept by the provider (context)"))
  }

  @Test("An object that takes part is attached, unless it is already, and holds no context that owns it")
  func attaches() {
    weak var passing: UDIContext?
    let elsewhere = Member().attached(to: context)
    do {
      let owner = UDIContext(tag: "owner")
      passing = owner
      let member = Member()
      owner.provide(member, as: (any Service).self)
      #expect(member.attachedContext === owner)
      owner.provide(elsewhere, as: (any Other).self)
      #expect(elsewhere.attachedContext === context)
    }
    #expect(passing == nil)
  }

  @Test("When an object is told that it is attached it finds itself, and another thread finds it attached")
  func theHookFindsWhatIsProvided() {
    let (finds, isAttached) = (Locked(false), Locked(false))
    let member = Member { [context] member in
      finds.withLock { $0 = member.linkInLine((any Service).self) === member }
      onThreads(1) { _ in
        let found = context.link((any Service).self) as? Member
        isAttached.withLock { $0 = found?.attachedContext === context }
      }
    }
    context.provide(member, as: (any Service).self)
    #expect(finds.withLock { $0 } && isAttached.withLock { $0 })
  }

  @Test("What an inert context does not take is not attached to it")
  func inert() {
    let member = Member { _ in Issue.record("attached") }
    UDIContext.makeInert().provide(member, as: (any Service).self)
    #expect(member.attachedContext == nil)
  }

  @Test("It is not made once more for those who ask its provider: by the registration, or as another type")
  func isNotMadeOnceMore() {
    let context = UDIContext(tag: "context")
    let attachments = Tally()
    let member = Member { _ in attachments.add() }
    let registration = context.provide(member).implements((any Service).self)
    // Whatever a provider makes is attached.
    member.attachedContext = nil
    #expect(registration.link() === member && context.link((any Service).self) === member)
    #expect(attachments.count == 1 && member.attachedContext == nil)
  }

  @Test("On the main actor also what is not Sendable")
  @MainActor func mainActor() {
    final class Label { var text = "a" }
    context.provide(Label())
    context.link(Label.self)?.text = "b"
    #expect(context.link(Label.self)?.text == "b")
  }

  @Test("A scope for the time of an operation goes however that ends")
  func withScope() async throws {
    struct Failure: Error {}
    let root = context
    func synchronously() -> String {
      root.withScope(tag: "a", search: .ancestors) { child in
        #expect(root.children == [child] && child.search == .ancestors)
        // A twin gets a number.
        root.withScope(tag: "a") { twin in #expect(root.children == [child, twin] && twin.tag.hasPrefix("a #")) }
        return child.tag
      }
    }
    #expect(synchronously() == "a" && root.children.isEmpty)
    await #expect(throws: Failure.self) {
      try await root.withScope(tag: "b") { child in
        await Task.yield()
        #expect(root.children == [child])
        throw Failure()
      }
    }
    #expect(root.children.isEmpty)
  }
}
