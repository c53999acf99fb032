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

  @Test func everyKindOfLookupWakes() throws {
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
    #expect(make().linkFresh((any Alpha).self) != nil)
  }

  @Test func lookupsThatComeThroughWakeIt() throws {
    let (runs, root) = (Tally(), UDIContext(tag: "root"))
    let middle = try root.makeChild(tag: "middle")
    let bottom = try middle.makeChild(tag: "bottom")
    middle.setUp { context in
      runs.add()
      context.register((any Alpha).self) { Made(context.tag) }
    }
    let own = Plain()
    root.bind(own, as: (any Service).self)
    // Does not come through.
    #expect(root.link((any Service).self) === own && bottom.link((any Alpha).self) == nil && runs.count == 0)
    #expect((bottom.link((any Alpha).self, search: .ancestors) as? Made)?.label == "middle")
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
      onThreads([{ _ = left.link((any Beta).self) }, { _ = right.link((any Beta).self) }])
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
    context.setUpOnMainActor { context in context.register((any Alpha).self) { Made() } }
    let elsewhere = await Task.detached { context.link((any Alpha).self) == nil }.value
    #expect(elsewhere)
    #expect(context.link((any Alpha).self) != nil)
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
    let inert = UDIContext.inert
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
    #expect(UDIContext.inert != inert)
  }
}
