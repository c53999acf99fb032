import Testing
import UDI
import UDIInspector

/// While a factory runs, lookups through the context that it was given go up, unless they name a search.
@Suite struct MakingLooksUpTests {
  let root = UDIContext(tag: "root")
  let child: UDIContext
  private let below = Plain("below")

  init() throws {
    child = try root.makeChild(tag: "child")
    child.bind(below, as: (any Other).self)
  }

  /// What a factory, or code that it calls, finds through a context.
  private func expectNothing(from context: UDIContext) {
    #expect(context.link((any Other).self) == nil)
    #expect(context.link(UDIKey((any Other).self)) == nil)
    #expect(context.linkAll((any Other).self).isEmpty)
    #expect(context.registrations(of: (any Other).self).isEmpty)
    #expect(throws: UDILinkError.self) { try context.require((any Other).self) }
    #expect(context.link((any Other).self, search: .lineage) === below)
    #expect(context.link((any Other).self, search: .descendants) === below)
    #expect(context.linkAll((any Other).self, search: .lineage).count == 1)
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context])
  func factoriesLookUp(_ lifetime: UDILifetime) throws {
    root.register((any Service).self, lifetime: lifetime) { context in
      expectNothing(from: context)
      return Plain("made")
    }
    root.register((any Service).self, named: "number", lifetime: lifetime) { (context, _: Int) in
      expectNothing(from: context)
      return Plain("made")
    }
    #expect(root.link((any Service).self) != nil)
    #expect(root.link((any Service).self, named: "number", with: 1) != nil)
    #expect(root.link((any Other).self) === below, "the factory has ended")
  }

  /// Whatever search the context has: finding and making are different things.
  @Test(arguments: UDISearch.allCases)
  func whateverTheContextsSearchIs(_ search: UDISearch) throws {
    let above = Plain("above")
    root.bind(above, as: (any Loose).self)
    let middle = try root.makeChild(tag: "middle", search: search)
    try middle.addChild(child)
    middle.register((any Service).self) { context in
      #expect(context.link((any Other).self) == nil)
      #expect(context.link((any Loose).self)?.label == "above")
      return Plain("made")
    }
    #expect(middle.link((any Service).self) != nil)
  }

  @Test func linksWithArgumentsAndFreshOnesLookUpToo() {
    child.register((any Other).self, named: "fresh") { Plain("fresh") }
    child.register((any Other).self, named: "number") { (_, _: Int) in Plain("number") }
    root.register((any Service).self) { context in
      #expect(context.link((any Other).self, named: "number", with: 1) == nil)
      #expect(context.link((any Other).self, named: "number", fresh: true, with: 1) == nil)
      #expect(context.link((any Other).self, named: "fresh", fresh: true) == nil)
      #expect(context.link((any Other).self, named: "number", search: .lineage, with: 1) != nil)
      return Plain("made")
    }
    #expect(root.link((any Service).self) != nil)
    #expect(root.link((any Other).self, named: "number", with: 1) != nil, "the factory has ended")
  }

  @Test func hooksOfWhatIsMadeAndCompletionsLookUpToo() {
    root.register((any Service).self, lifetime: .graph) {
      Member { #expect($0.linkInLine((any Other).self) == nil) }
    }.onCreate { context, _ in
      #expect(context.link((any Other).self) == nil)
    }
    #expect(root.link((any Service).self) != nil)
  }

  @Test func wrappersLookUpWhileAFactoryRuns() {
    final class Consumer: UDIObject {
      let _attachedContext = UDIAttachment()
      @Linked(keeps: .never) var inLine: (any Other)?
      @Linked(search: .lineage, keeps: .never) var down: (any Other)?
      func didAttachContext() {}
    }
    root.register((any Service).self) { context in
      let consumer = Consumer().attached(to: context)
      #expect(consumer.inLine == nil && consumer.down != nil)
      return Plain("made")
    }
    #expect(root.link((any Service).self) != nil)
    #expect(Consumer().attached(to: root).inLine != nil)
  }

  /// Only in contexts that factories were given: lookups in others are not affected.
  @Test func otherContextsAreSearchedAsEver() {
    let (root, child) = (root, child)
    let elsewhere = UDIContext(tag: "elsewhere")
    elsewhere.register((any Service).self) { context in
      #expect(root.link((any Other).self) != nil)
      return Plain("made")
    }
    #expect(elsewhere.link((any Service).self) != nil)
    // If a factory of a context above is called from below, it is given the context that asks.
    root.register((any Service).self, lifetime: .unique) { context in
      #expect(context === child && context.link((any Other).self) != nil)
      return Plain("made")
    }
    #expect(child.link((any Service).self) != nil)
  }

  /// All factories that run count, not only the innermost one.
  @Test func factoriesFurtherOutCount() {
    let (root, child) = (root, child)
    // The factory belongs to `child`, so it is given `child`: only the outer factory was given `root`.
    child.register((any Alpha).self, lifetime: .context) { context in
      #expect(context === child)
      #expect(root.link((any Other).self) == nil)
      return Made("inner")
    }
    root.register((any Service).self) { context in
      #expect(context.link((any Alpha).self, search: .descendants) != nil)
      return Plain("outer")
    }
    #expect(root.link((any Service).self) != nil)
  }

  /// A lookup withdraws the dead binding that it meets above, although something is alive further down.
  @Test(.unlessItHangs) func whatIsDeadAboveIsWithdrawn() throws {
    let root = root
    let middle = try root.makeChild(tag: "middle")
    try middle.addChild(child)
    do { root.bind(Plain("dead"), as: (any Other).self) }
    #expect(root.snapshot().contexts[0].entries.filter { !$0.isProvider }.map(\.kind) == [.dead])
    middle.register((any Service).self) { context in
      #expect(context.link((any Other).self) == nil)
      return Plain("made")
    }
    #expect(middle.link((any Service).self) != nil)
    #expect(root.snapshot().contexts[0].entries.allSatisfy { $0.isProvider })
    #expect(middle.link((any Other).self) === below)
  }

  @Test func aThrowingFactoryLeavesNothingBehind() {
    root.register((any Service).self) { _ in throw OutOfOrder() }
    #expect(throws: OutOfOrder.self) { try root.require((any Service).self) }
    #expect(root.link((any Other).self) === below)
  }

  /// Another thread runs no factory, whatever this thread does.
  @Test func otherThreadsLookAsEver() {
    root.register((any Service).self) { context in
      onThreads(1) { _ in #expect(context.link((any Other).self) === below) }
      return Plain("made")
    }
    #expect(root.link((any Service).self) != nil)
  }

  @Test func theErrorSaysWhereToLook() throws {
    root.register((any Service).self) { context -> any Service in
      _ = try context.require((any Other).self)
      return Plain("made")
    }
    let error = try #require(throws: UDILinkError.self) { try root.require((any Service).self) }
    #expect(error.explanation.isInFactory && error.explanation.search == .ancestors)
    #expect(error.description.contains("While a factory runs, lookups from its context go up"))
    #expect(!root.explain((any Other).self).isInFactory)
  }

  @Test(arguments: [UDILifetime.unique, .context], [false, true])
  func theErrorSaysWhereToRegister(_ lifetime: UDILifetime, _ isInScope: Bool) async throws {
    let root = UDIContext(tag: "root")
    let below = isInScope ? try root.makeScope(tag: "scope") : try root.makeChild(tag: "child")
    below.provide(Plain(), as: (any Other).self)
    root.register((any Service).self, lifetime: lifetime) { context -> any Service in
      _ = try context.require((any Other).self)
      return Plain("made")
    }
    root.register((any Loose).self, lifetime: lifetime) { context -> any Loose in
      await Task.yield()
      _ = try context.require((any Other).self)
      return Plain("made")
    }
    let advice =
      isInScope
      ? "Register what needs UDITests.Other with `lifetime: .scope`, or `.scope(\"kind\")` if only scopes of one kind"
      : "Register UDITests.Other further up, or what needs it further down"
    let error = try #require(throws: UDILinkError.self) { try root.require((any Service).self) }
    #expect(error.description.contains(advice), "\(error)")
    let other = try await #require(throws: UDILinkError.self) { try await root.obtain((any Loose).self) }
    #expect(other.description.contains(advice), "\(other)")
  }
}

/// An instance that is kept has a graph of its own, so nothing in it was made for the context that happened to ask
/// first.
@Suite struct GraphsOfWhatIsKeptTests {
  let root = UDIContext(tag: "root")

  /// An owned instance that is made during a session's link does not get what that link has made for the session.
  @Test(arguments: [UDILifetime.context, .weak])
  func whatIsKeptTakesNoPartInTheGraphOfWhoAsks(_ lifetime: UDILifetime) throws {
    let (ann, bob) = (try root.makeScope(tag: "Ann"), try root.makeScope(tag: "Bob"))
    for session in [ann, bob] { session.provide(session.tag) }
    root.register((any Alpha).self, lifetime: .graph) { Made($0.link(String.self) ?? "nobody") }
    root.register((any Beta).self, lifetime: lifetime) { try Made("kept", parts: [$0.require((any Alpha).self)]) }
    root.register((any Gamma).self, lifetime: .unique) { context in
      let own = try context.require((any Alpha).self)
      let kept = try context.require((any Beta).self)
      let again = try context.require((any Alpha).self)
      return Made("asking", parts: [own, kept, again])
    }
    let asking = try #require(try ann.require((any Gamma).self) as? Made)
    let label = { (part: any Sendable) in (part as? Made)?.label }
    #expect(label(asking.parts[0]) == "Ann" && (asking.parts[0] as? Made) === (asking.parts[2] as? Made))
    let kept = try #require(bob.link((any Beta).self) as? Made)
    #expect(kept === asking.parts[1] as? Made && label(kept.parts[0]) == "nobody")
  }

  /// Its own parts share instances with one another, also those that arguments distinguish, and in `onCreate`.
  @Test func withinItThingsAreShared() throws {
    let completed = Locked<[Bool]>([])
    root.register((any Alpha).self, lifetime: .graph) {
      Made("part")
    }.onCreate { context, part in
      let other = context.link((any Gamma).self) as? Made
      completed.withLock { $0.append(other?.parts.first as? Made === part as? Made) }
    }
    root.register((any Alpha).self, named: "number", lifetime: .graph) { (_, number: Int) in Made("\(number)") }
    root.register((any Gamma).self, lifetime: .graph) { try Made("pair", parts: [$0.require((any Alpha).self)]) }
    root.register((any Beta).self, lifetime: .context) { context in
      let numbers = try [1, 1, 2].map { try context.require((any Alpha).self, named: "number", with: $0) }
      return try Made("kept", parts: [context.require((any Alpha).self), context.require((any Gamma).self)] + numbers)
    }
    root.register((any Service).self, lifetime: .unique) {
      try Made("asking", parts: [$0.require((any Alpha).self), $0.require((any Beta).self)])
    }
    let asking = try #require(root.link((any Service).self) as? Made)
    let kept = try #require(asking.parts[1] as? Made)
    let parts = kept.parts.map { $0 as? Made }
    #expect(parts[1]?.parts.first as? Made === parts[0] && parts[0] !== asking.parts[0] as? Made)
    #expect(parts[2] === parts[3] && parts[3] !== parts[4])
    #expect(completed.withLock { $0 } == [true, true])
  }

  /// If a factory fails, the graph of whoever asked is restored.
  @Test func afterAFailureTheGraphIsThatOfWhoAsks() throws {
    root.register((any Alpha).self, lifetime: .graph) { Made("part") }
    root.register((any Beta).self, lifetime: .context) { context -> any Beta in
      _ = try context.require((any Alpha).self)
      throw OutOfOrder()
    }
    root.register((any Gamma).self, lifetime: .unique) { context in
      let part = try context.require((any Alpha).self)
      #expect(throws: OutOfOrder.self) { try context.require((any Beta).self) }
      return try Made("asking", parts: [part, context.require((any Alpha).self)])
    }
    let asking = try #require(root.link((any Gamma).self) as? Made)
    #expect(asking.parts[0] as? Made === asking.parts[1] as? Made)
  }
}

/// What surprised people who tried the library with sessions and windows as child contexts.
@Suite struct AccidentTests {
  let root = UDIContext(tag: "App")

  @Test func aChildFindsItsParentsServiceUnasked() throws {
    let clock = Plain("clock")
    root.bind(clock, as: (any Service).self)
    let session = try root.makeChild(tag: "session")
    #expect(session.link((any Service).self) === clock)
    #expect(Member().attached(to: session).linkInLine((any Service).self) === clock)
  }

  @Test func aSessionsValueIsNotFoundFromTheRoot() throws {
    for name in ["Ann", "Bob"] { try root.makeScope(tag: name).provide(name) }
    #expect(root.link(String.self) == nil && root.linkAll(String.self).isEmpty)
    #expect(root.child(tag: "Bob")?.link(String.self) == "Bob")
  }

  /// Not even with sessions as ordinary children, which can be seen from above.
  @Test func aServiceOfTheRootIsMadeWithoutWhatStandsBelow() throws {
    let session = try root.makeChild(tag: "session")
    let user = Plain("user")
    session.bind(user, as: (any Other).self)
    root.register((any Service).self, lifetime: .context) {
      Plain($0.link((any Other).self) == nil ? "clean" : "captive")
    }
    #expect((session.link((any Service).self) as? Plain)?.label == "clean")
    #expect((root.link((any Service).self) as? Plain)?.label == "clean")
  }

  @Test func aPanelFindsItsWindowsTheme() throws {
    let window = try root.makeScope(tag: "window")
    let theme = Plain("theme")
    window.bind(theme, as: (any Service).self)
    let panel = try window.makeChild(tag: "panel")
    #expect(panel.link((any Service).self) === theme)
  }

  @Test func aClosedTabsPlayerIsNobodysPlayer() throws {
    let window = try root.makeScope(tag: "window")
    let tabs = try ["first", "second"].map { try window.makeScope(tag: $0) }
    for tab in tabs { tab.provide(Plain(tab.tag) as any Service) }
    #expect(window.link((any Service).self) == nil)
    window.removeChild(tabs[0])
    #expect(window.link((any Service).self) == nil && root.link((any Service).self) == nil)
    #expect((tabs[1].link((any Service).self) as? Plain)?.label == "second")
  }
}
