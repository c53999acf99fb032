import Dispatch
import Testing
import UDI

@Suite struct SetUpTests {
  @Test func runsOnceBeforeTheFirstLookup() {
    let runs = Tally()
    let context = UDIContext(tag: "context") { context in
      runs.add()
      context.register((any Alpha).self) { Made() }
    }
    #expect(runs.count == 0)
    #expect(context.link((any Alpha).self) != nil)
    #expect(context.link((any Beta).self) == nil)
    #expect(runs.count == 1)
  }

  @Test func everyKindOfLookupRunsPendingBlocks() throws {
    func make() -> UDIContext {
      UDIContext(tag: "context") { context in
        context.register((any Alpha).self) { Made() }
        context.register((any Alpha).self, named: "n") { Made() }
        context.register((any Beta).self) { (_, number: Int) in Made("\(number)") }
      }
    }
    #expect(make().link((any Alpha).self, named: "n") != nil)
    #expect(make().linkAll((any Alpha).self).count == 2)
    #expect(make().link((any Beta).self, with: 5) != nil)
    #expect(make().registrations(of: (any Alpha).self).count == 2)
    #expect(try make().require((any Alpha).self, search: .local) is Made)
    #expect(Member().attached(to: make()).linkInLine((any Alpha).self) != nil)
    #expect(make().link((any Alpha).self, fresh: true) != nil)
  }

  @Test func lookupsThatComeThroughRunIt() throws {
    let (runs, root) = (Tally(), UDIContext(tag: "root"))
    let middle = try root.makeChild(tag: "middle")
    let bottom = try middle.makeChild(tag: "bottom")
    middle.setUp { context in
      runs.add()
      context.register((any Alpha).self) { Made(context.tag) }
    }
    let own = Plain()
    root.bind(own, as: (any Service).self)
    // The lookup ends before it reaches the block.
    #expect(root.link((any Service).self) === own && runs.count == 0)
    #expect(bottom.link((any Alpha).self, search: .descendants) == nil && runs.count == 0)
    #expect((bottom.link((any Alpha).self) as? Made)?.label == "middle")
    #expect(runs.count == 1)
    bottom.setUp { context in context.register((any Beta).self) { Made(context.tag) } }
    #expect((root.link((any Beta).self) as? Made)?.label == "bottom")
  }

  @Test func aMovedContextIsStillSetUp() throws {
    let root = UDIContext(tag: "root")
    let branch = UDIContext(tag: "branch")
    let leaf = try branch.makeChild(tag: "leaf")
    leaf.setUp { context in context.register((any Alpha).self) { Made() } }
    try root.addChild(branch)
    #expect(root.link((any Alpha).self) != nil)
  }

  @Test func theBlockMayLinkFromItsContext() {
    let context = UDIContext(tag: "context") { context in
      context.register((any Alpha).self, lifetime: .context) { Made() }
      #expect(context.link((any Alpha).self) != nil)
      #expect(context.link((any Beta).self) == nil)
      context.register((any Beta).self) { Made() }
    }
    #expect(context.link((any Beta).self) != nil)
  }

  @Test func threadsWaitForTheBlock() {
    for _ in 0..<20 {
      let (runs, coming) = (Tally(), Meeting(5))
      let context = UDIContext(tag: "context") { context in
        runs.add()
        coming.arrive()
        context.register((any Alpha).self, lifetime: .context) { Made() }
      }
      let first = Locked(true)
      onThreads(8) { _ in
        let isFirst = first.withLock { first in
          defer { first = false }
          return first
        }
        if !isFirst { coming.arrive() }
        #expect(context.link((any Alpha).self) != nil)
      }
      #expect(runs.count == 1)
    }
  }

  @Test func twoBlocksThatNeedEachOtherDoNotHang() throws {
    for _ in 0..<20 {
      let root = UDIContext(tag: "root")
      let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
      let meeting = Meeting(2)
      left.setUp { _ in
        meeting.arrive()
        _ = right.link((any Alpha).self)
      }
      right.setUp { _ in
        meeting.arrive()
        _ = left.link((any Alpha).self)
      }
      onThreads([
        { #expect(left.link((any Beta).self) == nil) }, { #expect(right.link((any Beta).self) == nil) },
      ])
    }
  }

  @Test func blocksAddUp() {
    let journal = Journal()
    let context = UDIContext(tag: "context")
    context.setUp { _ in journal.add("first") }
    context.setUp { _ in journal.add("second") }
    #expect(context.link((any Alpha).self) == nil)
    context.setUp { _ in journal.add("third") }
    #expect(context.link((any Alpha).self) == nil)
    #expect(journal.all == ["first", "second", "third"])
  }

  @MainActor @Test func onTheMainActor() async {
    let context = UDIContext(tag: "context")
    context.setUp { @MainActor context in context.register((any Alpha).self) { Made() } }
    let elsewhere = await Task.detached { context.link((any Alpha).self) == nil }.value
    #expect(elsewhere)
    #expect(context.link((any Alpha).self) != nil)
  }

  @Test func otherThreadsWaitForABlockBelow() throws {
    let root = UDIContext(tag: "root")
    let coming = Meeting(2)
    try root.makeChild(tag: "child").setUp { context in
      coming.arrive()
      context.register((any Alpha).self) { Made() }
    }
    let first = Locked(true)
    onThreads(2) { _ in
      let isFirst = first.withLock { first in
        defer { first = false }
        return first
      }
      if !isFirst { coming.arrive() }
      #expect(root.link((any Alpha).self) != nil)
    }
  }

  private static func registerBeta(_ context: UDIContext) { context.register((any Beta).self) { Made() } }

  /// A thread has run its own block when the main actor begins the last one.
  @MainActor @Test func aThreadDoesNotWaitForTheLastBlockOfTheMainActor() {
    let context = UDIContext(tag: "context")
    let (ownEnded, lastBegun, returned) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    // The block is released after it has run, before its thread looks for another one.
    addBlock(to: context) {
      ownEnded.signal()
      lastBegun.wait()
    }
    context.setUp { @MainActor _ in
      lastBegun.signal()
      // The limit only ends a wait that would be endless.
      #expect(returned.wait(timeout: .now() + 60) == .success)
    }
    onThread {
      _ = context.link((any Service).self)
      returned.signal()
    }
    ownEnded.wait()
    _ = context.link((any Service).self)
  }

  /// Adds a block that may run anywhere, and calls a closure when the block is released.
  private nonisolated func addBlock(to context: UDIContext, _ whenReleased: @escaping @Sendable () -> Void) {
    let captured = Farewell(whenReleased)
    context.setUp { _ in withExtendedLifetime(captured) {} }
  }

  @MainActor @Test func aBlockOfTheMainActorBelowIsNotForgotten() async throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    child.setUp(isolation: nil, Self.registerBeta)
    child.setUp { @MainActor context in context.register((any Alpha).self) { Made() } }
    let elsewhere = await Task.detached {
      (
        root.link((any Alpha).self) == nil, child.link((any Alpha).self, named: "n") == nil,
        root.link((any Beta).self) != nil
      )
    }.value
    #expect(elsewhere == (true, true, true))
    #expect(root.link((any Alpha).self) != nil)
  }

  @Test func aBlockThatIsAddedByABlockRunsAfterIt() {
    let journal = Journal()
    let context = UDIContext(tag: "context") { context in
      context.setUp { _ in journal.add("inner") }
      journal.add("outer")
    }
    _ = context.link((any Alpha).self)
    #expect(journal.all == ["outer", "inner"])
  }

  /// Only the blocks that the lookup reaches.
  @Test func blocksBehindTheAnswerStayPending() throws {
    let runs = Journal()
    let root = UDIContext(tag: "root")
    for tag in ["a", "b"] {
      try root.makeChild(tag: tag).setUp { context in
        runs.add(context.tag)
        context.register((any Alpha).self) { Made(context.tag) }
        context.register((any Beta).self) { (_, number: Int) in Made("\(number)") }
      }
    }
    root.register((any Gamma).self) { (_, number: Int) in Made("\(number)") }
    #expect(root.link((any Gamma).self, with: 1) != nil && runs.all.isEmpty)
    #expect((root.link((any Alpha).self) as? Made)?.label == "a")
    #expect(runs.all == ["a"])
    #expect(root.linkAll((any Alpha).self).count == 2)
    #expect(runs.all == ["a", "b"])
  }

  @Test func namesAndAllAreLookedForAbove() throws {
    func make() throws -> (UDIContext, UDIContext) {
      let root = UDIContext(tag: "root") { context in
        context.register((any Alpha).self, named: "a name that only this test uses") { Made() }
      }
      return (root, try root.makeChild(tag: "child", search: .ancestors))
    }
    let (first, child) = try make()
    #expect(child.link((any Alpha).self, named: "a name that only this test uses") != nil)
    let (second, other) = try make()
    #expect(other.linkAll((any Alpha).self).count == 1)
    withExtendedLifetime((first, second)) {}
  }

  // MARK: What was registered by hand

  /// What a test registers before the block runs is still there afterwards, whatever the block does.
  enum ByHand: CaseIterable {
    case registered, provided, bound, multiBound, boundByItself

    /// - Returns: The objects that the caller has to hold.
    func put(in context: UDIContext) -> AnyObject? {
      let fake = Member("fake")
      switch self {
      case .registered: context.register((any Service).self, lifetime: .context) { Member("fake") }
      case .provided: context.provide(fake, as: (any Service).self)
      case .bound: context.bind(fake, as: (any Service).self)
      case .multiBound: context.multiBind(fake, as: (any Service).self)
      case .boundByItself: return Member("fake") { $0.bind($0, as: (any Service).self) }.attached(to: context)
      }
      return fake
    }
  }

  static let verbs: [@Sendable (UDIContext) -> Member?] = [
    { context in
      context.register((any Service).self, lifetime: .context) { Member("real") }
      return nil
    },
    { context in
      context.register((any Service).self) { _ in
        Member("real")
      } onCreate: { _, _ in
      }
      return nil
    },
    { context in
      context.register((any Service).self) { @MainActor in Member("real") }
      return nil
    },
    { context in
      context.provide(Member("real"), as: (any Service).self)
      return nil
    },
    { context in
      let real = Member("real")
      context.bind(real, as: (any Service).self)
      return real
    },
    { context in
      let real = Member("real")
      context.multiBind(real, as: (any Service).self)
      return real
    },
    { context in Member("real") { $0.bind($0, as: (any Service).self) }.attached(to: context) },
    { context in Member("real") { $0.multiBind($0, as: (any Service).self, in: [context]) }.attached(to: context) },
    { context in
      context.register(Member.self) { Member("real") }.implements((any Service).self)
      return nil
    },
  ]

  @Test(arguments: ByHand.allCases) func blocksDoNotReplaceWhatWasRegisteredByHand(_ byHand: ByHand) {
    for verb in Self.verbs.indices {
      let real = Locked<Member?>(nil)
      let context = UDIContext(tag: "context") { context in
        let made = Self.verbs[verb](context)
        real.withLock { $0 = made }
      }
      let fake = byHand.put(in: context)
      #expect((context.link((any Service).self) as? Member)?.label == "fake", "verb \(verb)")
      #expect(context.registrations(of: (any Service).self).count == 1)
      withExtendedLifetime(fake) {}
    }
  }

  @Test func blocksRegisterWhatIsNotThere() {
    for verb in Self.verbs.indices where verb != 2 {
      let real = Locked<Member?>(nil)
      let context = UDIContext(tag: "context") { context in
        let made = Self.verbs[verb](context)
        real.withLock { $0 = made }
      }
      do {
        // Dead before the block runs.
        let fake = Plain("fake")
        context.bind(fake, as: (any Service).self)
      }
      #expect((context.link((any Service).self) as? Member)?.label == "real", "verb \(verb)")
    }
  }

  @Test func whatABlockRegisteredIsReplacedByItAndByOthersOfTheContext() {
    let context = UDIContext(tag: "context") { context in
      context.register((any Alpha).self) { Made("1") }
      context.register((any Alpha).self) { Made("2") }
    }
    #expect((context.link((any Alpha).self) as? Made)?.label == "2")
    context.setUp { context in context.register((any Alpha).self) { Made("3") } }
    #expect((context.link((any Alpha).self) as? Made)?.label == "3")
    // Registering by hand replaces everything, and the block no longer replaces that.
    context.register((any Alpha).self) { Made("4") }
    #expect((context.link((any Alpha).self) as? Made)?.label == "4")
    context.setUp { context in context.register((any Alpha).self) { Made("5") } }
    #expect((context.link((any Alpha).self) as? Made)?.label == "4")
  }

  /// What is chained to a registration that was not accepted applies to the registration that stays.
  @Test func otherTypesAreServedFromWhatStays() {
    let context = UDIContext(tag: "context") { context in
      let registration = context.register(Made.self, lifetime: .context, metadata: "real") { Made("real") }
        .implements((any Alpha).self)
        .implements((any Beta).self) { $0 }
      #expect(registration.metadata as? String == "fake" && registration.context === context)
    }
    context.register(Made.self, lifetime: .context, metadata: "fake") { Made("fake") }
    let made = context.link(Made.self)
    #expect(made?.label == "fake")
    #expect(context.link((any Alpha).self) === made && context.link((any Beta).self) === made)
  }

  /// By hand, the two types were registered the other way round.
  @Test func aTypeThatStaysIsNotServedFromItself() {
    let context = UDIContext(tag: "context") { context in
      context.register((any Alpha).self) { Made("real") }.implements(Made.self) { _ in Made("converted") }
    }
    context.register(Made.self) { Made("fake") }.implements((any Alpha).self)
    #expect(context.link(Made.self)?.label == "fake")
    #expect((context.link((any Alpha).self) as? Made)?.label == "fake")
  }

  /// A binding cannot serve another type.
  @Test func nothingIsServedFromABindingThatStays() {
    let context = UDIContext(tag: "context") { context in
      let registration = context.register(Made.self) { Made("real") }.implements((any Alpha).self)
      #expect(registration.context == nil && registration.link() == nil && !registration.unregister())
    }
    let fake = Made("fake")
    context.bind(fake, as: Made.self)
    #expect(context.link(Made.self) === fake && context.link((any Alpha).self) == nil)
  }

  @Test func modulesInABlockCountAsTheBlock() {
    let context = UDIContext(tag: "context") { context in context.install(Letters()) }
    context.register((any Beta).self) { Made("fake") }
    #expect((context.link((any Beta).self) as? Made)?.label == "fake")
    #expect((context.link((any Alpha).self) as? Made)?.label == "alpha")
  }

  /// Only in the context of the block, and only on the block's thread.
  @Test func whatBlocksDoElsewhereReplaces() throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    root.register((any Alpha).self) { Made("fake") }
    child.setUp { [root] context in
      context.register((any Alpha).self) { Made("child") }
      root.register((any Alpha).self) { Made("real") }
    }
    #expect((child.link((any Alpha).self) as? Made)?.label == "child")
    #expect((root.link((any Alpha).self) as? Made)?.label == "real")

    let (begun, goOn) = (Meeting(2), Meeting(2))
    let context = UDIContext(tag: "context") { context in
      context.register((any Alpha).self) { Made("real") }
      begun.arrive()
      goOn.arrive()
      // By now it belongs to somebody else.
      context.register((any Alpha).self) { Made("real again") }
    }
    onThreads([
      { #expect((context.link((any Alpha).self) as? Made)?.label == "by hand") },
      {
        begun.arrive()
        context.register((any Alpha).self) { Made("by hand") }
        goOn.arrive()
      },
    ])
  }

  @MainActor @Test func blocksOfTheMainActorDoNotReplaceEither() {
    let context = UDIContext(tag: "context")
    context.setUp { @MainActor context in context.register((any Alpha).self) { Made("real") } }
    context.register((any Alpha).self) { Made("fake") }
    #expect((context.link((any Alpha).self) as? Made)?.label == "fake")
    #expect((context.link((any Alpha).self) as? Made)?.label == "fake")
  }

  /// A value that is not accepted is not attached, either.
  @Test func whatIsNotTakenIsLeftAlone() {
    let real = Member("real") { _ in Issue.record("attached") }
    let context = UDIContext(tag: "context") { context in context.provide(real, as: (any Service).self) }
    let fake = Plain("fake")
    context.bind(fake, as: (any Service).self)
    #expect(context.link((any Service).self) === fake)
    #expect(real.attachedContext == nil)
  }

  /// Whether a value is accepted is decided before its object is attached. What is registered by hand after that
  /// replaces it.
  @Test func whatIsRegisteredByHandMeanwhile() {
    let context = UDIContext(tag: "context") { context in
      let real = Member("real") { [context] _ in
        onThreads(1) { _ in context.provide(Plain("by hand"), as: (any Service).self, metadata: "by hand") }
      }
      let registration = context.provide(real, as: (any Service).self, metadata: "real")
      #expect(registration.metadata as? String == "real")
    }
    #expect((context.link((any Service).self) as? Plain)?.label == "by hand")
  }

  // MARK: Modules, inert contexts

  struct Letters: UDIModule {
    func register(in context: UDIContext) {
      context.register((any Alpha).self) { Made("alpha") }
      context.install(Greek())
    }
  }

  struct Greek: UDIModule {
    func register(in context: UDIContext) { context.register((any Beta).self) { Made("beta") } }
  }

  @Test func modulesGroupRegistrations() {
    let context = UDIContext(tag: "context")
    context.install(Letters(), Greek())
    #expect(context.link((any Alpha).self) != nil && context.link((any Beta).self) != nil)
  }

  @Test func nothingIsRegisteredInAnInertContext() throws {
    let inert = UDIContext.makeInert()
    let plain = Plain()
    try withAppContext(inert) {
      let child = try AppContext.makeChild(tag: "child")
      for context in [AppContext, child, try child.makeChild(tag: "grandchild")] {
        context.bind(plain, as: (any Service).self)
        context.register((any Alpha).self) { Made() }.implements((any Beta).self)
        #expect(context.link((any Service).self) == nil && context.link((any Alpha).self) == nil)
        #expect(context.link((any Beta).self) == nil)
      }
      let member = Member()
      member.bind(member, as: (any Service).self)
      #expect(member.linkInLine((any Service).self) == nil)
    }
    #expect(UDIContext.makeInert() != inert)
  }
}
