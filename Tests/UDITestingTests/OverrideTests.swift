import Testing
import UDI
import UDITesting

@Suite(.ownAppContext) struct OverrideTests {
  @Test("A binding is hidden and comes back, with whoever made it")
  func binding() throws {
    let basket = Basket(owner: 1).attached(to: AppContext)
    let before = AppContext.snapshot()
    withOverride(of: (any Cart).self, with: Basket(owner: 2)) {
      #expect(AppContext.link((any Cart).self)?.owner == 2)
      withOverride(of: (any Cart).self, with: Basket(owner: 3)) {
        #expect(AppContext.link((any Cart).self)?.owner == 3)
      }
      #expect(AppContext.link((any Cart).self)?.owner == 2)
    }
    #expect(AppContext.link((any Cart).self) === basket)
    #expect(AppContext.snapshot() == before)
    basket.attachedContext = nil
    #expect(AppContext.link((any Cart).self) == nil, "it is still the object's own binding")
  }

  @Test("A provider keeps what it has made")
  func provider() async throws {
    AppContext.register((any Cart).self, lifetime: .context) { Basket(owner: 1) }
    let made = try AppContext.require((any Cart).self)
    try await withOverride(of: (any Cart).self, with: Basket(owner: 2)) {
      await Task.yield()
      let other = try AppContext.require((any Cart).self)
      #expect(other.owner == 2)
    }
    #expect(try AppContext.require((any Cart).self) === made)
  }

  @Test("Values, names, other contexts; and where there was nothing there is nothing again")
  func values() throws {
    let child = try AppContext.makeChild(tag: "child")
    withOverride(of: (any Clock).self, named: "a", with: StoppedClock(), in: child) {
      #expect(AppContext.link((any Clock).self, named: "a")?.now == 12)
      #expect(AppContext.link((any Clock).self) == nil)
      #expect(AppContext.link((any Clock).self, named: "a", search: .local) == nil)
    }
    #expect(AppContext.link((any Clock).self, named: "a") == nil)
    #expect(child.snapshot().contexts[0].providers.isEmpty)
  }

  @Test("What is bound and registered under the key meanwhile goes with the override")
  func meanwhile() {
    let basket = Basket(owner: 5)
    withOverride(of: (any Cart).self, with: Basket(owner: 2)) {
      AppContext.register((any Cart).self) { Basket(owner: 3) }
      AppContext.bind(basket, as: (any Cart).self)
      #expect(AppContext.link((any Cart).self)?.owner == 5)
    }
    #expect(AppContext.link((any Cart).self) == nil)
  }

  @Test("An object that dies meanwhile does not come back, and the override lets go of its value")
  func lifetimes() {
    weak var value: Basket?
    do {
      var basket: Basket? = Basket(owner: 1).attached(to: AppContext)
      let stand = Basket(owner: 2)
      value = stand
      withOverride(of: (any Cart).self, with: stand) {
        _ = basket?.owner
        basket = nil
      }
    }
    #expect(AppContext.link((any Cart).self) == nil)
    #expect(value == nil)
  }

  @Test("On the main actor also what is not Sendable")
  @MainActor func mainActor() async throws {
    final class Label { var text = "a" }
    let label = Label()
    await withOverride(of: Label.self, with: label) {
      #expect(AppContext.link(Label.self) === label)
      await Task.yield()
    }
    #expect(AppContext.link(Label.self) == nil)
  }
}
