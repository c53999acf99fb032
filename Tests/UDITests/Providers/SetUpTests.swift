import Testing
import UDI

/// The block of a new context, registrations that leave what is there, and inert contexts.
struct SetUpTests {
  private let context = UDIContext(tag: "context")

  @Test func theBlockOfANewContextRunsAtOnce() {
    let runs = Tally()
    let context = UDIContext(tag: "context") { context in
      runs.add()
      context.register((any Alpha).self) { Made() }
      #expect(context.link((any Alpha).self) != nil)
    }
    #expect(runs.count == 1 && context.link((any Alpha).self) != nil)
  }

  @Test func whatTheBlockThrowsIsThrown() {
    struct Failure: Error {}
    #expect(throws: Failure.self) { try UDIContext(tag: "context") { _ in throw Failure() } }
  }

  // MARK: Leaving what is there

  @Test func aProviderStays() {
    let made = Tally()
    let fake = context.register((any Alpha).self, lifetime: .context) { Made("fake") }
    let other = context.register((any Alpha).self, replaces: false) {
      made.add()
      return Made("other")
    }
    #expect(context.require((any Alpha).self, says: "fake") && made.count == 0)
    #expect(!other.unregister() && fake.unregister())
  }

  @Test func whatAProviderHasMadeStays() {
    context.register((any Alpha).self, lifetime: .context) { Made("fake") }
    let first = context.link((any Alpha).self)
    context.provide(Made("other"), as: (any Alpha).self, replaces: false)
    #expect(context.link((any Alpha).self) === first)
  }

  @Test func aLiveBindingStays() {
    let plain = Plain("bound")
    context.bind(plain, as: (any Service).self)
    context.register((any Service).self, replaces: false) { Plain("made") }
    context.unbind((any Service).self)
    #expect(context.link((any Service).self) == nil)
    withExtendedLifetime(plain) {}
  }

  @Test func whatIsDeadOrElsewhereOrOfAnotherNameDoesNotCount() throws {
    do { context.bind(Plain("dead"), as: (any Service).self) }
    context.register((any Service).self, named: "other") { Plain("named") }
    try context.makeChild(tag: "child").register((any Service).self) { Plain("below") }
    context.register((any Service).self, replaces: false) { Plain("made") }.metadata(5)
    #expect((context.link((any Service).self) as? Plain)?.label == "made")
    #expect(context.registrations(of: (any Service).self).count { $0.metadata as? Int == 5 } == 1)
  }

  /// Asynchronous factories, those with arguments, and initialisers.
  @Test func everyFormLeavesWhatIsThere() async throws {
    context.provide(1)
    context.register((any Alpha).self) { Made("fake") }
    context.register((any Beta).self) { (_, _: Int) in Made("fake") }
    context.register((any Alpha).self, replaces: false) {
      await Task.yield()
      return Made("other")
    }
    context.register((any Alpha).self, replaces: false, using: { (_: Int) in Made("other") })
    context.register((any Beta).self, replaces: false) { (_, _: Int) in Made("other") }
    #expect(context.require((any Alpha).self, says: "fake"))
    #expect((context.link((any Beta).self, with: 1) as? Made)?.label == "fake")
  }

  @Test func whatIsNotTakenIsNeitherAttachedNorClosed() async throws {
    context.register(Member.self, lifetime: .context) { Member() }
    weak var observed: Member?
    do {
      let member = Member()
      observed = member
      let (_, complaints) = MisuseLog.during {
        context.provide(member, replaces: false).onClose { _ in Issue.record("it was not taken") }
      }
      #expect(member.attachedContext == nil && complaints.isEmpty)
    }
    #expect(observed == nil)
    try await context.close()
  }

  @Test func otherTypesAreNotServedFromWhatIsNotTaken() {
    context.register((any Alpha).self) { Made("fake") }
    context.register((any Alpha).self, replaces: false) { Made("other") }.implements((any Beta).self)
    #expect(context.link((any Beta).self) == nil)
  }

  // MARK: Inert contexts

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

extension UDIContext {
  fileprivate func require(_ type: (any Alpha).Type, says label: String) -> Bool {
    (link(type) as? Made)?.label == label
  }
}
