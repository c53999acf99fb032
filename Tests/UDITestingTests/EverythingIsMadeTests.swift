import Testing
import UDI
import UDITesting

@Suite(.ownAppContext) struct EverythingIsMadeTests {
  @Test("Each provider that makes nothing fails the test, with its path")
  func failures() async throws {
    struct Broken: Error {}
    let page = try AppContext.makeChild(tag: "Page")
    page.register((any Cart).self, lifetime: .context) { throw Broken() }
    page.register((any Clock).self, named: "none") { nil as StoppedClock? }
    AppContext.register(Tower.self) { context in
      _ = try context.require((any Cart).self)
      return Tower()
    }
    AppContext.register(Basket.self) { (_, owner: Int) in Basket(owner: owner) }
    let line = #line + 1
    let found = try await issues { await expectEverythingIsMade() }
    #expect(found.count == 3 && found.allSatisfy { $0.sourceLocation?.line == line })
    #expect(found.first?.text.hasPrefix("UDITestingTests.Tower in \"App\": ") == true)
    #expect(found.first?.text.contains("UDITestingTests.Cart") == true)
    let others = Set(found.dropFirst().map { $0.text.prefix { $0 != ":" } })
    #expect(
      others == ["UDITestingTests.Cart in \"App / Page\"", "UDITestingTests.Clock named \"none\" in \"App / Page\""])
  }

  @Test("A private type that is made for each lookup excuses no other type of the same name")
  func privateTypesOfOneName() async throws {
    func registerForEachLookup() {
      final class Helper: Sendable {}
      AppContext.register(Helper.self, lifetime: .unique) { Helper() }
    }
    func registerForContext() {
      final class Helper: Sendable {}
      AppContext.register(Helper.self, lifetime: .context) { context in
        _ = try context.require((any Clock).self)
        return Helper()
      }
    }
    AppContext.register((any Clock).self, lifetime: .scope) { StoppedClock() }
    registerForEachLookup()
    registerForContext()
    let found = try await issues { await expectEverythingIsMade() }
    #expect(found.count == 1 && found.first?.text.contains("Helper") == true)
  }

  @Test("Every lifetime, every isolation, and asynchronous factories")
  func everything() async throws {
    let made = Locked<String>([])
    @Sendable func make(_ name: String) -> StoppedClock {
      made.add(name)
      return StoppedClock()
    }
    AppContext.register((any Clock).self, named: "unique", lifetime: .unique) { make("unique") }
    AppContext.register((any Clock).self, named: "graph", lifetime: .graph) { make("graph") }
    AppContext.register((any Clock).self, named: "main") { @MainActor in make("main") }
    AppContext.register((any Clock).self, named: "async", lifetime: .context) { _ async in make("async") }
    try AppContext.makeScope(tag: "Scope").register((any Cart).self, lifetime: .weak) {
      made.add("weak")
      return Basket()
    }
    await expectEverythingIsMade(in: AppContext)
    #expect(Set(made.all) == ["unique", "graph", "main", "async", "weak"])
  }

  @Test("What is registered for scopes is made in the scopes that are there, or else in one that is opened for this")
  func whatScopesMake() async throws {
    let (made, closed) = (Locked<String>([]), Locked<String>([]))
    AppContext.register((any Clock).self, lifetime: .scope) { context in
      made.add(context.tag)
      return StoppedClock()
    }.onClose { _ in
      closed.add("closed")
    }
    await expectEverythingIsMade()
    #expect(made.all.count == 1 && closed.all.count == 1 && AppContext.children.isEmpty)
    AppContext.register((any Cart).self, lifetime: .scope) { context in
      Basket(owner: try context.require(Int.self))
    }
    let found = try await issues { await expectEverythingIsMade() }
    #expect(found.count == 1 && found.first?.text.hasPrefix("UDITestingTests.Cart in \"App / ") == true)
    for tag in ["first", "second"] { try AppContext.makeScope(tag: tag).provide(5) }
    await expectEverythingIsMade()
    #expect(Set(made.all.suffix(2)) == ["first", "second"])
    try await AppContext.close()
  }

  @Test("What `unmetNeeds` finds fails the test, once, even if the provider is not asked")
  func unmetNeeds() async throws {
    AppContext.register((any Cart).self, lifetime: .context, using: Basket.init(owner:))
    let found = try await issues { await expectEverythingIsMade() }
    #expect(found.count == 1 && found.first?.text.contains("as parameter 1 of its initialiser") == true)
    try await withBound(Basket()) {
      let found = try await issues { await expectEverythingIsMade() }
      #expect(found.count == 1 && found.first?.text.contains("as parameter 1 of its initialiser") == true)
    }
  }

  private func withBound(_ cart: Basket, _ body: () async throws -> Void) async throws {
    AppContext.bind(cart, as: (any Cart).self)
    try await body()
    withExtendedLifetime(cart) {}
  }

  @Test("What `implements` can never serve fails the test, unless it takes arguments; what it can serve passes")
  func otherTypes() async throws {
    AppContext.register(Basket.self) { Basket() }.implements((any Clock).self).implements((any Cart).self)
    AppContext.register(Basket.self, named: "with an owner") { (_, owner: Int) in Basket(owner: owner) }
      .implements((any Clock).self, named: "with an owner")
    let found = try await issues { await expectEverythingIsMade() }
    #expect(found.count == 1)
    #expect(found.first?.text.hasPrefix("UDITestingTests.Clock in \"App\": ") == true)
    try await AppContext.warmUp()
  }

  @Test("What is made for each lookup may need what only a scope has; what a context owns may not")
  func whatOnlyAScopeHas() async throws {
    let scope = try AppContext.makeScope(tag: "scope")
    scope.provide(7)
    AppContext.register(Basket.self, lifetime: .unique) { context in Basket(owner: try context.require(Int.self)) }
    AppContext.register(Tower.self, lifetime: .scope) { Tower() }
    AppContext.register((any Clock).self, lifetime: .unique) { context in
      _ = try context.require(Tower.self)
      return StoppedClock()
    }
    await expectEverythingIsMade()
    AppContext.register((any Cart).self, lifetime: .context, using: Basket.init(owner:))
    let found = try await issues { await expectEverythingIsMade() }
    #expect(found.count == 1 && found.first?.text.hasPrefix("UDITestingTests.Cart in \"App\"") == true)
  }

  @Test("For what belongs to kinds of scopes, a scope of each kind is opened, inside scopes of the others")
  func kindsOfScopes() async throws {
    let made = Locked<String>([])
    AppContext.register(Tower.self, lifetime: .scope("session")) { context in
      made.add("tower in \(context.scopeKind ?? "")")
      return Tower()
    }
    AppContext.register((any Clock).self, lifetime: .scope("room")) { context in
      _ = try context.require(Tower.self)
      made.add("clock in \(context.scopeKind ?? "")")
      return StoppedClock()
    }
    await expectEverythingIsMade()
    #expect(Set(made.all) == ["tower in session", "clock in room"] && AppContext.children.isEmpty)
    let session = try AppContext.makeScope(tag: "session")
    AppContext.register((any Cart).self, lifetime: .scope("session"), using: Basket.init(owner:))
    let found = try await issues { await expectEverythingIsMade() }
    #expect(found.count == 1 && found.first?.text.hasPrefix("UDITestingTests.Cart in \"App / session\"") == true)
    try await session.close()
  }

  @Test("What cannot be made for a scope fails the test")
  func brokenScopes() async throws {
    AppContext.register((any Cart).self, lifetime: .context) { context in
      _ = try context.require((any Clock).self)
      return Basket()
    }
    AppContext.register((any Clock).self, lifetime: .scope) { context in
      _ = try context.require(Tower.self)
      return StoppedClock()
    }
    let found = try await issues { await expectEverythingIsMade() }
    #expect(
      found.map { String($0.text.prefix { $0 != ":" }) } == [
        "UDITestingTests.Cart in \"App\"", "UDITestingTests.Clock in \"App / expectEverythingIsMade\"",
      ])
  }

  @Test("In a closed context nothing is made, which fails the test")
  func closedContext() async throws {
    let context = UDIContext(tag: "context")
    context.register((any Clock).self) { StoppedClock() }
    try await context.close()
    let found = try await issues { await expectEverythingIsMade(in: context) }
    #expect(found.count == 1 && found.first?.text.contains("\"context\"") == true)
    #expect(found.first?.text.contains("closed") == true)
  }
}
