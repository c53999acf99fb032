import Testing
import UDIInspector

@testable import UDI

/// What objects have bound in other contexts than their own goes when their own context ends.
@Suite struct BindingsElsewhereTests {
  private let home = UDIContext(tag: "home")

  /// Binds itself in the contexts that it is attached to and in others.
  private func member(_ label: String = "member", in others: [UDIContext]) -> Member {
    Member(label) { member in
      member.bind(member, as: (any Service).self)
      member.multiBind(member, as: (any Service).self, in: others)
    }
  }

  // MARK: Closing

  /// Lifetimes: held. For those that are dropped, or referred to only weakly, see below.
  @Test func closingAContextWithdrawsWhatItsObjectsHaveBoundElsewhere() async throws {
    let (scope, sibling) = (try home.makeScope(tag: "scope"), try home.makeChild(tag: "sibling"))
    let helper = Plain("helper")
    let session = member(in: [home, sibling]).attached(to: scope)
    session.multiBind(helper, as: (any Other).self, named: "helper", in: [home])
    #expect(home.link((any Service).self) === session && sibling.link((any Service).self) === session)
    #expect(home.link((any Other).self, named: "helper") === helper)
    try await scope.close()
    #expect(boundHere(home).isEmpty && boundHere(sibling).isEmpty)
    #expect(session.attachedContext === scope, "its verbs still say that the context is closed")
    withExtendedLifetime((session, helper)) {}
  }

  @Test func theSameForContextsBelow() async throws {
    let scope = try home.makeScope(tag: "scope")
    let child = try scope.makeChild(tag: "child")
    let inChild = member(in: [home]).attached(to: child)
    // Closers make the closing take its time; without them it happens at once.
    scope.provide(1).onClose { _ in }
    try await scope.close()
    #expect(boundHere(home).isEmpty)
    withExtendedLifetime(inChild) {}
  }

  @Test("While recording is on, an explanation says that the binding ended with the context", arguments: [false, true])
  func theEndIsExplained(isHeld: Bool) async throws {
    let scope = try home.makeScope(tag: "scope")
    var session: Member? = Member { [home] in $0.multiBind($0, as: (any Service).self, in: [home]) }
    scope.provide(try #require(session))
    if !isHeld { session = nil }
    #expect(home.link((any Service).self) != nil)
    try await scope.close()
    let explanation = home.explain((any Service).self)
    guard case .withdrawn(let place) = explanation.cause else {
      Issue.record("\(explanation)")
      return
    }
    #expect(place.fullPath == ["home"] && place.finding.isAlive == isHeld && place.finding.endFileID == nil)
    #expect(explanation.summary.contains("Member, withdrawn when the context that it was attached to ended"))
    #expect(explanation.advice?.contains("ends with the context that the object is attached to") == true)
    #expect(home.snapshot().contexts[0].removedBindings.map(\.kind) == [.withdrawn])
    withExtendedLifetime(session) {}
  }

  @Test("The contexts that bindings end with keep no trace of bindings that are gone")
  func noTraceIsLeft() throws {
    let (scope, other) = (try home.makeScope(tag: "scope"), try home.makeScope(tag: "other"))
    func count(_ context: UDIContext) -> Int {
      context.change { node, _ in node.treeLocked.extras?.bindingsElsewhere.count ?? 0 }
    }
    let first = member("first", in: [home]).attached(to: scope)
    #expect(count(scope) == 1)
    first.attachedContext = other
    #expect(count(scope) == 0 && count(other) == 1)
    first.unbind((any Service).self)
    #expect(count(other) == 0)
    first.attachedContext = scope
    do {
      let second = member("second", in: [home]).attached(to: other)
      #expect(count(scope) == 0 && count(other) == 1, "replaced")
      withExtendedLifetime(second) {}
    }
    #expect(count(other) == 0, "dead")
    first.attachedContext = scope
    first.attachedContext = nil
    #expect(count(scope) == 0 && boundHere(home).isEmpty)
  }

  @Test func whatOthersHaveBoundStays() async throws {
    let (scope, other) = (try home.makeScope(tag: "scope"), try home.makeScope(tag: "other"))
    let (first, second) = (Member("first").attached(to: scope), Member("second").attached(to: other))
    home.bind(first, as: (any Other).self)
    second.multiBind(second, as: (any Service).self, in: [home])
    second.multiBind(first, as: (any Service).self, named: "by the second", in: [home])
    try await scope.close()
    #expect(home.link((any Other).self) === first && home.link((any Service).self) === second)
    #expect(home.link((any Service).self, named: "by the second") === first)
    try await other.close()
    #expect(boundHere(home).count == 1 && home.link((any Other).self) === first)
    withExtendedLifetime(second) {}
  }

  @Test func aSuccessorStays() async throws {
    let (scope, next) = (try home.makeScope(tag: "scope"), try home.makeScope(tag: "next"))
    let first = member("first", in: [home]).attached(to: scope)
    let second = member("second", in: [home]).attached(to: next)
    try await scope.close()
    #expect(home.link((any Service).self) === second)
    withExtendedLifetime(first) {}
  }

  @Test func itIsFoundUntilTheContextHasEnded() async throws {
    let (home, scope, journal) = (home, try home.makeScope(tag: "scope"), Journal())
    let session = member(in: [home]).attached(to: scope)
    scope.provide(1).onClose { _ in journal.add("found: \(home.link((any Service).self) === session)") }
    try await scope.close()
    #expect(journal.all == ["found: true"] && home.link((any Service).self) == nil)
  }

  @Test @MainActor func whoFollowsItIsTold() async throws {
    let scope = try home.makeScope(tag: "scope")
    let follower = Follower(home.updates(of: (any Service).self))
    let task = Task { [home] in
      try await home.whileAvailable((any Service).self) { service in
        // The operation holds the service, so this does not go because everybody else lets go of it.
        await Signal().wait()
        withExtendedLifetime(service) {}
      }
    }
    await settle([home])
    scope.provide(member("session", in: [home]))
    await settle([home])
    try await scope.close()
    await settle([home])
    #expect(follower.seen == [nil, "session", nil] && follower.last == nil, "the operation has let go of it")
    task.cancel()
    _ = await task.result
    await follower.end()
  }

  // MARK: Dropped, or referred to only weakly

  @Test func anObjectThatDiesFirstLeavesNothingToWithdraw() async throws {
    let scope = try home.makeScope(tag: "scope")
    do { _ = member(in: [home]).attached(to: scope) }
    #expect(boundHere(home).isEmpty)
    let next = member(in: [home]).attached(to: UDIContext(tag: "elsewhere"))
    try await scope.close()
    #expect(home.link((any Service).self) === next)
  }

  @Test func whatTheContextOwnsGoesWithIt() async throws {
    let scope = try home.makeScope(tag: "scope")
    scope.provide(member(in: [home]))
    #expect(home.link((any Service).self) != nil)
    try await scope.close()
    #expect(boundHere(home).isEmpty)
  }

  @Test func whatTheContextOwnsGoesEvenIfSomebodyHoldsIt() async throws {
    let scope = try home.makeScope(tag: "scope")
    scope.provide(member(in: [home]))
    let held = try home.require((any Service).self)
    try await scope.close()
    #expect(boundHere(home).isEmpty)
    withExtendedLifetime(held) {}
  }

  /// The object holds its context only weakly, because the context owns it.
  @Test func theSameIfTheContextIsReleased() throws {
    var held: Member?
    do {
      let scope = try home.makeScope(tag: "scope")
      scope.provide(member(in: [home]))
      held = home.link((any Service).self) as? Member
      scope.removeFromParent()
      #expect(home.link((any Service).self) === held, "as long as the context exists")
    }
    #expect(held != nil && boundHere(home).isEmpty)
    let (_, complaints) = MisuseLog.during {
      held?.multiBind(Plain(), as: (any Service).self, in: [UDIContext(tag: "other"), home])
    }
    #expect(complaints.map(\.kind) == [.contextGone] && boundHere(home).isEmpty)
  }

  @Test func aContextThatIsOnlyRemovedKeepsThem() throws {
    let scope = try home.makeScope(tag: "scope")
    let session = member(in: [home]).attached(to: scope)
    scope.removeFromParent()
    #expect(home.link((any Service).self) === session)
  }

  // MARK: Attaching

  @Test func theContextThatCountsIsTheOneThatTheObjectIsAttachedTo() async throws {
    let contexts = try (0..<4).map { try home.makeScope(tag: "\($0)") }
    let session = Member()
    session.multiBind(session, as: (any Service).self, in: [home])
    for context in contexts { session.attachedContext = context }
    session.multiBind(session, as: (any Other).self)
    session.attachedContext = contexts[0]
    for context in contexts[1...2] { try await context.close() }
    #expect(home.link((any Service).self) === session && boundHere(contexts[3]).count == 1)
    try await contexts[0].close()
    #expect(boundHere(home).isEmpty && boundHere(contexts[3]).isEmpty)
  }

  @Test func aClosedContextTakesThemToo() async throws {
    let (scope, closed) = (try home.makeScope(tag: "scope"), UDIContext(tag: "closed"))
    try await closed.close()
    let session = Member().attached(to: scope)
    session.multiBind(session, as: (any Service).self, in: [home])
    session.attachedContext = closed
    #expect(boundHere(home).isEmpty)
  }

  @Test func whatHasBeenWithdrawnOrReplacedBeforeIsLeftAlone() async throws {
    let scope = try home.makeScope(tag: "scope")
    let (session, other) = (Member().attached(to: scope), Plain())
    for key in 0..<5 { session.multiBind(session, as: (any Service).self, named: UDIName(key), in: [home]) }
    session.unbind((any Service).self, named: UDIName(0))
    home.unbind((any Service).self, named: UDIName(1))
    home.bind(other, as: (any Service).self, named: UDIName(2))
    home.bind(session, as: (any Service).self, named: UDIName(3))
    session.multiBind(session, as: (any Service).self, named: UDIName(4), in: [home])
    session.attachedContext = nil
    session.attachedContext = scope
    session.multiBind(session, as: (any Service).self, named: UDIName(1), in: [home])
    try await scope.close()
    #expect(home.link((any Service).self, named: UDIName(2)) === other)
    #expect(home.link((any Service).self, named: UDIName(3)) === session, "the context has bound this one")
    #expect(boundHere(home).count == 2)
  }

  // MARK: Afterwards

  @Test func anObjectOfAClosedContextBindsNowhere() async throws {
    let (scope, other) = (try home.makeScope(tag: "scope"), Plain())
    let session = Member().attached(to: scope)
    home.bind(other, as: (any Service).self)
    try await scope.close()
    let (_, complaints) = MisuseLog.during { session.multiBind(session, as: (any Service).self, in: [home]) }
    #expect(complaints.map(\.kind) == [.contextClosed], "\(complaints)")
    #expect(complaints.first?.message.contains("multiBind did nothing for UDITests.Service") == true)
    #expect(home.link((any Service).self) === other, "nothing was replaced")
    session.attachedContext = home
    session.multiBind(session, as: (any Service).self, in: [home])
    #expect(home.link((any Service).self) === session)
  }

  @Test func norWhileItsContextIsBeingClosed() async throws {
    let (home, scope) = (home, try home.makeScope(tag: "scope"))
    let session = Member().attached(to: scope)
    scope.provide(1).onClose { _ in session.multiBind(session, as: (any Service).self, in: [home]) }
    let (_, complaints) = try await MisuseLog.during { try await scope.close() }
    #expect(complaints.map(\.kind) == [.contextClosed] && boundHere(home).isEmpty)
  }

  // MARK: Threads

  /// Whatever happens first, nothing of an object is left whose context is closed.
  @Test func threads() throws {
    let home = home
    for round in 0..<20 {
      let scopes = try (0..<4).map { try home.makeScope(tag: "\(round) \($0)") }
      let members = (0..<4).map { Member("\($0)") }
      let meeting = Meeting(5)
      onThreads(5) { thread in
        meeting.arrive()
        withReporter(.silent) {
          guard thread < 4 else { return scopes.forEach { #expect($0.closeAtOnce()) } }
          for turn in 0..<46 {
            let name = UDIName("\(thread) \(turn % 3)")
            switch turn % 8 {
            case 6: members[thread].attachedContext = nil
            case 0, 3, 7: members[thread].attachedContext = scopes[(thread + turn) % 4]
            default: members[thread].multiBind(members[thread], as: (any Service).self, named: name, in: [home])
            }
          }
        }
      }
      #expect(boundHere(home).isEmpty)
      withExtendedLifetime(members) {}
    }
  }
}
