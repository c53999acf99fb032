import Testing
import UDI
import UDIInspector
import UDITesting

private class Animal: @unchecked Sendable {}  // Unchecked: nothing in it changes.
private final class Dog: Animal, @unchecked Sendable {
  let legs = 4
}

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

  @MainActor @Test("A property that keeps its dependency keeps the one that it looked up first")
  func properties() {
    final class Counter: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked var cart: (any Cart)?
      @Required var required: any Cart
    }
    let basket = Basket(owner: 1).attached(to: AppContext)
    let before = Counter().attached(to: AppContext)
    #expect(before.cart?.owner == 1)
    let during = withOverride(of: (any Cart).self, with: Basket(owner: 2)) {
      let during = Counter().attached(to: AppContext)
      #expect(before.cart?.owner == 1 && before.required.owner == 1)
      #expect(during.cart?.owner == 2 && during.required.owner == 2)
      return during
    }
    #expect(during.cart?.owner == 2 && during.required.owner == 2)
    withExtendedLifetime(basket) {}
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
    #expect(child.snapshot().contexts[0].entries.isEmpty)
  }

  @Test("What is bound and registered under the key meanwhile shows when the override is over")
  func meanwhile() {
    let basket = Basket(owner: 5)
    withOverride(of: (any Cart).self, with: Basket(owner: 2)) {
      AppContext.register((any Cart).self) { Basket(owner: 3) }
      AppContext.bind(basket, as: (any Cart).self)
      #expect(AppContext.link((any Cart).self)?.owner == 2)
      #expect(AppContext.linkAll((any Cart).self).map(\.owner) == [2])
    }
    #expect(AppContext.link((any Cart).self) === basket)
    AppContext.unbind((any Cart).self)
    #expect(AppContext.link((any Cart).self)?.owner == 3)
  }

  @Test("The object that is hidden may die, move or be unbound meanwhile, and so may who bound it")
  func hiddenObject() throws {
    /// Binds something else.
    final class Binder: UDIObject, Sendable {
      let _attachedContext = UDIAttachment()
      let basket: Basket
      init(_ basket: Basket) { self.basket = basket }
      func didAttachContext() { bind(basket, as: (any Cart).self) }
    }
    let (one, other) = (try AppContext.makeChild(tag: "one"), try AppContext.makeChild(tag: "other"))
    var binder: Binder? = Binder(Basket(owner: 1)).attached(to: one)
    withOverride(of: (any Cart).self, with: Basket(owner: 2), in: one) {
      _ = binder?.basket
      binder = nil
    }
    #expect(one.link((any Cart).self) == nil)
    let basket = Basket(owner: 3).attached(to: one)
    withOverride(of: (any Cart).self, with: Basket(owner: 4), in: one) { basket.attachedContext = other }
    #expect(one.link((any Cart).self) == nil && other.link((any Cart).self) === basket)
    withOverride(of: (any Cart).self, with: Basket(owner: 4), in: other) { #expect(basket.unbind((any Cart).self)) }
    #expect(other.link((any Cart).self) == nil)
  }

  @Test("Overrides may end in any order")
  func overlapping() async {
    let basket = Basket(owner: 1).attached(to: AppContext)
    let context = AppContext
    let (firstBegan, secondBegan, firstEnded) = (Signal(), Signal(), Signal())
    async let first: Void = withOverride(of: (any Cart).self, with: Basket(owner: 2), in: context) {
      firstBegan.give()
      await secondBegan.wait()
    }
    async let second: Void = {
      await firstBegan.wait()
      await withOverride(of: (any Cart).self, with: Basket(owner: 3), in: context) {
        secondBegan.give()
        await firstEnded.wait()
        #expect(context.link((any Cart).self)?.owner == 3)
      }
    }()
    await first
    firstEnded.give()
    await second
    #expect(context.link((any Cart).self) === basket)
  }

  @Test("What also serves other types, or wants arguments, is overridden alone")
  func aliasesAndArguments() throws {
    AppContext.register(Basket.self, lifetime: .context) { Basket(owner: 1) }.implements((any Cart).self)
    withOverride(of: Basket.self, with: Basket(owner: 2)) {
      #expect(AppContext.link((any Cart).self)?.owner == 1)
      #expect(AppContext.link(Basket.self)?.owner == 2)
    }
    withOverride(of: (any Cart).self, with: Basket(owner: 2)) { _ = AppContext.unregister(Basket.self) }
    #expect(AppContext.link((any Cart).self) == nil)
    AppContext.register((any Clock).self) { (_, now: Int) in StoppedClock(now: now) }
    withOverride(of: (any Clock).self, with: TickingClock()) {
      #expect(AppContext.link((any Clock).self, with: 5)?.now == 7)
      #expect(AppContext.link((any Clock).self, fresh: true, with: 5)?.now == 7)
      #expect(
        AppContext.explain((any Clock).self).summary.contains("in \"App\": TickingClock, put there by a test, at "))
    }
    #expect(AppContext.link((any Clock).self, with: 5)?.now == 5)
  }

  @Test("A stand-in is not attached, and so binds nothing")
  func standIn() {
    let basket = Basket(owner: 2)
    withOverride(of: (any Cart).self, with: basket) { #expect(AppContext.link((any Cart).self) === basket) }
    #expect(basket.attachedContext == nil && AppContext.link((any Cart).self) == nil)
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

  @Test("A class that a variable gives is not overridden")
  func metatype() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let type: Animal.Type = Dog.self
      await withOverride(of: type, with: Dog()) { await Task.yield() }
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("write the type itself, `Dog.self`"))
  }

  @Test("Closing the context ends its overrides, which let go of their values, even if the context is still held")
  func closing() async throws {
    let context = UDIContext(tag: "context")
    weak var value: Basket?
    weak var other: Basket?
    do {
      let stands = [Basket(owner: 1), Basket(owner: 2)]
      value = stands[0]
      other = stands[1]
      try await withOverride(of: (any Cart).self, with: stands[0], in: context) {
        try await withOverride(of: (any Cart).self, with: stands[1], in: context) {
          #expect(context.link((any Cart).self)?.owner == 2)
          try await context.close()
          #expect(context.link((any Cart).self) == nil)
          #expect(context.explain((any Cart).self).cause == .contextClosed(fullPath: ["context"]))
          #expect(context.snapshot().contexts[0].entries.allSatisfy { $0.kind != .override })
        }
        #expect(context.link((any Cart).self) == nil)
      }
    }
    #expect(context.snapshot().contexts[0].entries.allSatisfy { $0.kind != .override })
    #expect(value == nil && other == nil)
    withOverride(of: (any Cart).self, with: Basket(owner: 3)) {
      #expect(AppContext.link((any Cart).self)?.owner == 3, "others are not affected")
    }
  }

  @Test("In a closed context, nothing is overridden, which is reported; in an inert one it is not")
  func closedContext() async throws {
    let context = UDIContext(tag: "context")
    try await context.close()
    let line = overridingLine
    let found = misuseOfOverriding(in: context)
    #expect(found.map(\.kind) == [.contextClosed] && found.map(\.line) == [line])
    #expect(found.first?.message.contains("withOverride did nothing for UDITestingTests.Cart") == true)
    #expect(misuseOfOverriding(in: .makeInert()).isEmpty)
  }

  private let overridingLine = #line + 5

  /// Overrides something in a context that cannot be changed, and collects the reports.
  private func misuseOfOverriding(in context: UDIContext) -> [UDIMisuse] {
    misuse {
      withOverride(of: (any Cart).self, with: Basket(owner: 2), in: context) {
        #expect(context.link((any Cart).self) == nil)
      }
    }
  }

  @Test("On the main actor also what is not Sendable")
  @MainActor func mainActor() async throws {
    final class Label { var text = "a" }
    let label = Label()
    withOverride(of: Label.self, with: label) { #expect(AppContext.link(Label.self) === label) }
    await withOverride(of: Label.self, with: label) {
      #expect(AppContext.link(Label.self) === label)
      await Task.yield()
    }
    #expect(AppContext.link(Label.self) == nil)
  }
}

extension OverrideTests {
  @Test("What is hidden is still listed, and the stand-in takes its place in order")
  func listing() {
    let baskets = (0..<3).map { Basket(owner: $0) }
    for (index, basket) in baskets.enumerated() {
      AppContext.bind(basket, as: (any Cart).self, named: UDIName(index))
    }
    withOverride(of: (any Cart).self, named: 1, with: Basket(owner: 7)) {
      #expect(AppContext.linkAll((any Cart).self).map(\.owner) == [0, 7, 2])
      #expect(AppContext.registrations(of: (any Cart).self).count == 3)
    }
    withExtendedLifetime(baskets) {}
  }
}

/// What a context keeps that was made of an override.
@Suite(
  .ownAppContext { context in
    context.register((any Clock).self) { StoppedClock(now: 1) }
    context.register(using: Diary.init(clock:))
    context.register(using: Library.init(diary:))
  })
struct MadeOfOverrideTests {
  @Test("is dropped with the override, and so is what was made of that; everything else stays")
  func dropped() throws {
    AppContext.register(Guest.self) { Guest() }
    let library = withOverride(of: (any Clock).self, with: StoppedClock(now: 2)) {
      _ = AppContext.link(Guest.self)
      #expect(AppContext.link(Library.self)?.diary.clock.now == 2)
      return (AppContext.link(Library.self), AppContext.link(Guest.self))
    }
    #expect(library.0?.diary.clock.now == 2)
    #expect(try AppContext.require(Library.self) !== library.0)
    #expect(try AppContext.require(Library.self).diary.clock.now == 1)
    #expect(try AppContext.require(Library.self).diary === AppContext.require(Diary.self))
    #expect(AppContext.link(Guest.self) === library.1)
  }

  @Test("What was made before stays, and is not made of the override")
  func madeBefore() throws {
    let diary = try AppContext.require(Diary.self)
    withOverride(of: (any Clock).self, with: StoppedClock(now: 2)) {
      #expect(AppContext.link(Diary.self) === diary)
      #expect(AppContext.link(Library.self)?.diary === diary)
    }
    let library = try AppContext.require(Library.self)
    #expect(library.diary === diary && library.diary.clock.now == 1)
  }

  @Test("Of several overrides, each takes its own along")
  func severalOverrides() throws {
    AppContext.register(Basket.self) { Basket(owner: try $0.require(Int.self)) }
    try withOverride(of: (any Clock).self, with: StoppedClock(now: 2)) {
      let library = try AppContext.require(Library.self)
      withOverride(of: Int.self, with: 5) { #expect(AppContext.link(Basket.self)?.owner == 5) }
      #expect(AppContext.link(Library.self) === library)
      #expect(throws: UDILinkError.self) { try AppContext.require(Basket.self) }
    }
    #expect(AppContext.link(Library.self)?.diary.clock.now == 1)
  }

  @Test("Whatever keeps it: a scope, a user's storage, a set of arguments, its user; and however it was made")
  func lifetimes() async throws {
    let make = { @Sendable (context: UDIContext) in Diary(clock: try context.require()) }
    let root = AppContext
    let scope = try root.makeScope(tag: "scope")
    root.register(Diary.self, named: "scope", lifetime: .scope, make)
    root.register(Diary.self, named: "storage", lifetime: UDILifetime("shelf", storage: .custom { Shelf() }), make)
    root.register(Diary.self, named: "weak", lifetime: .weak, make)
    root.register(Diary.self, named: "with", lifetime: .context) { (context, _: Int) in try make(context) }
    root.register(Diary.self, named: "async") { context in Diary(clock: try await context.obtain()) }
    root.register(Diary.self, named: "below") { context in Diary(clock: try context.require(Diary.self).clock) }
    func all() async throws -> [Diary] {
      let names: [UDIName] = ["scope", "storage", "weak", "async", "below"]
      var all = [try scope.require(Diary.self, named: "with", with: 1)]
      for name in names { all.append(try await scope.obtain(Diary.self, named: name)) }
      return all
    }
    let made = try await withOverride(of: (any Clock).self, with: StoppedClock(now: 2)) { try await all() }
    #expect(made.map(\.clock.now) == [2, 2, 2, 2, 2, 2])
    #expect(try await all().map(\.clock.now) == [1, 1, 1, 1, 1, 1])
    withExtendedLifetime(made) {}
  }

  @Test("If it has to be closed, it is closed with its context, and so is its successor")
  func closed() async throws {
    let closed = Locked<Int>([])
    let context = UDIContext(tag: "context")
    context.register((any Clock).self) { StoppedClock(now: 1) }
    context.register(using: Diary.init(clock:)).onClose { closed.add($0.clock.now) }
    withOverride(of: (any Clock).self, with: StoppedClock(now: 2), in: context) { _ = context.link(Diary.self) }
    #expect(context.link(Diary.self)?.clock.now == 1 && closed.all.isEmpty)
    withOverride(of: (any Clock).self, with: StoppedClock(now: 3), in: context) {
      #expect(context.link(Diary.self)?.clock.now == 1)
    }
    try await context.close()
    #expect(closed.all == [1, 2])
  }

  @Test("The same for what a scope owns")
  func closedInAScope() async throws {
    let closed = Locked<Int>([])
    let context = UDIContext(tag: "context")
    context.register((any Clock).self) { StoppedClock(now: 1) }
    context.register(lifetime: .scope, using: Diary.init(clock:)).onClose { closed.add($0.clock.now) }
    let scope = try context.makeScope(tag: "scope")
    withOverride(of: (any Clock).self, with: StoppedClock(now: 2), in: context) { _ = scope.link(Diary.self) }
    #expect(scope.link(Diary.self)?.clock.now == 1 && closed.all.isEmpty)
    try await scope.close()
    #expect(closed.all == [1, 2])
  }
}

private final class Diary: Sendable {
  let clock: any Clock
  init(clock: any Clock) { self.clock = clock }
}
private final class Library: Sendable {
  let diary: Diary
  init(diary: Diary) { self.diary = diary }
}
