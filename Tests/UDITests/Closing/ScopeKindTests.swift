import Testing
import UDI
import UDIInspector

/// The kinds of scopes, and the lifetime that names one.
@Suite(.unlessItHangs) struct ScopeKindTests {
  let root = UDIContext(tag: "root")
  let census = Census()

  private func register(_ kind: String, in context: UDIContext? = nil, closing journal: Journal? = nil) {
    let registration = (context ?? root).register((any Alpha).self, named: UDIName(kind), lifetime: .scope(kind)) {
      [census] context in
      Made(context.fullPath.dropFirst().joined(separator: "/"), census)
    }
    if let journal { registration.onClose { journal.add("\(kind): \(($0 as? Made)?.label ?? "")") } }
  }

  private func label(_ kind: String, from context: UDIContext) -> String? {
    (context.link((any Alpha).self, named: UDIName(kind)) as? Made)?.label
  }

  // MARK: What the kind is

  @Test func theTagThatWasAskedForIsTheKind() async throws {
    let rooms = try (0..<3).map { _ in try root.makeScope(tag: "room") }
    #expect(rooms.map(\.scopeKind) == ["room", "room", "room"] && Set(rooms.map(\.tag)).count == 3)
    #expect(try root.makeScope(tag: "42", kind: "room").scopeKind == "room")
    #expect(try root.makeScope(tag: "42", kind: "room").scopeKind == "room")
    #expect(try root.makeChild(tag: "child").scopeKind == nil && root.scopeKind == nil)
    #expect(try await root.makeScope(tag: "43", kind: "room") { _ in }.scopeKind == "room")
    try await root.withScope(tag: "44", kind: "room") { #expect($0.scopeKind == "room") }
    func synchronous() { root.withScope(tag: "45", kind: "room") { #expect($0.scopeKind == "room") } }
    synchronous()
    let closed = UDIContext(tag: "closed")
    try await closed.close()
    func late() {
      closed.withScope(tag: "46", kind: "room") { #expect($0.scopeKind == "room") }
      closed.withScope(tag: "room") { #expect($0.scopeKind == "room") }
    }
    withReporter(.silent, operation: late)
  }

  @Test func theKindStaysWithTheScope() async throws {
    let scope = try root.makeScope(tag: "7", kind: "room")
    let other = try root.makeChild(tag: "other")
    try other.addChild(scope)
    #expect(scope.scopeKind == "room")
    scope.removeFromParent()
    #expect(scope.scopeKind == "room")
    try await scope.close()
    #expect(scope.scopeKind == "room")
  }

  // MARK: Who makes it

  @Test func theNearestScopeOfTheKindMakesAndOwnsIt() throws {
    for kind in ["session", "room", "call"] { register(kind) }
    let session = try root.makeScope(tag: "session")
    let room = try session.makeChild(tag: "window").makeScope(tag: "1", kind: "room")
    let call = try room.makeScope(tag: "call")
    let inner = try call.makeChild(tag: "inner")
    #expect(label("session", from: inner) == "session")
    #expect(label("room", from: inner) == "session/window/1")
    #expect(label("call", from: inner) == "session/window/1/call")
    #expect(label("room", from: room) == "session/window/1" && label("session", from: session) == "session")
    #expect(census.everBorn == 3)
    let inside = try inner.makeScope(tag: "room")
    #expect(label("room", from: inside) == "session/window/1/call/inner/room" && census.everBorn == 4)
  }

  /// Every order in which three scopes inside one another can be closed, with what each owns.
  @Test(arguments: [
    ["session"], ["room", "session"], ["call", "session"], ["call", "room", "session"], ["room"], ["call"],
  ])
  func eachScopeClosesItsOwn(_ order: [String]) async throws {
    let journal = Journal()
    let kinds = ["session", "room", "call"]
    for kind in kinds { register(kind, closing: journal) }
    var scopes: [String: UDIContext] = [:]
    var context = root
    for kind in kinds {
      context = try context.makeScope(tag: kind)
      scopes[kind] = context
    }
    for kind in kinds.shuffled() { #expect(label(kind, from: context) != nil) }
    var open = kinds
    for kind in order {
      let closed = open[(open.firstIndex(of: kind) ?? 0)...]
      let before = journal.all.count
      try await scopes[kind]?.close()
      #expect(
        journal.all.dropFirst(before).map { $0.prefix { $0 != ":" } }
          == closed.reversed().map { $0.prefix { _ in true } })
      open.removeLast(closed.count)
      #expect(census.alive == open.count)
    }
    try await root.close()
  }

  @Test func aScopeThatMovesTakesItsOwnAlong() throws {
    for kind in ["session", "room"] { register(kind) }
    let (one, other) = (try root.makeScope(tag: "session"), try root.makeScope(tag: "session"))
    let room = try one.makeScope(tag: "room")
    let mine = room.link((any Alpha).self, named: "room")
    let session = room.link((any Alpha).self, named: "session")
    try other.addChild(room)
    #expect(room.link((any Alpha).self, named: "room") === mine)
    #expect(room.link((any Alpha).self, named: "session") !== session)
    #expect(room.link((any Alpha).self, named: "session") === other.link((any Alpha).self, named: "session"))
  }

  @Test func theDefaultLifetimeMayNameAKind() throws {
    root.defaultLifetime = .scope("room")
    root.register((any Alpha).self) { [census] in Made("a", census) }
    let room = try root.makeScope(tag: "room")
    let inner = try room.makeScope(tag: "inner")
    #expect(inner.link((any Alpha).self) === room.link((any Alpha).self) && census.everBorn == 1)
    room.reset(.scope)
    room.reset(.scope("session"))
    #expect(census.alive == 1)
    room.reset(.scope("room"))
    #expect(census.alive == 0)
  }

  @Test func lifetimesOfOneKindAreEqual() {
    #expect(UDILifetime.scope("a") == .scope("a") && UDILifetime.scope("a") != .scope("b"))
    #expect(UDILifetime.scope("a") != .scope && UDILifetime.scope("a") != UDILifetime("scope(\"a\")"))
    #expect(UDILifetime.scope("a").description == "scope(\"a\")")
  }

  // MARK: Who cannot own it

  @Test func aMissSaysWhichKindsThereAre() async throws {
    register("room")
    let scope = try root.makeScope(tag: "session").makeScope(tag: "1", kind: "call")
    let error = #expect(throws: UDILinkError.self) { try scope.require((any Alpha).self, named: "room") }
    #expect(error?.cause == .noScope(kind: "room", present: ["session", "call"]))
    #expect(scope.explain((any Alpha).self, named: "room").cause == error?.cause)
    let text = error?.description ?? ""
    #expect(text.contains("in each scope of the kind \"room\", but there is only \"call\" in \"session\" around"))
    let waiting = await #expect(throws: UDILinkError.self) { try await scope.obtain((any Alpha).self, named: "room") }
    #expect(waiting?.cause == error?.cause)
    let outside = #expect(throws: UDILinkError.self) { try root.require((any Alpha).self, named: "room") }
    #expect(outside?.cause == .noScope(kind: "room", present: []))
    #expect(outside?.description.contains("of the kind \"room\", but there is no scope around \"root\"") == true)
  }

  /// A hundred tabs that register the same for the session around leave nothing there.
  @Test func theOwnerIsNeverAboveTheRegistration() async throws {
    let session = try root.makeScope(tag: "session")
    for number in 0..<100 {
      let tab = try session.makeChild(tag: "tab \(number)")
      tab.register((any Alpha).self, lifetime: .scope) { [census] in Made("a", census) }
      let error = #expect(throws: UDILinkError.self) { try tab.require((any Alpha).self) }
      #expect(error?.cause == .scopeIsAbove(scopePath: ["root", "session"]))
      #expect(throws: UDILinkError.self) { try session.require((any Alpha).self) }
      await #expect(throws: UDILinkError.self) { try await tab.obtain((any Alpha).self) }
      try await session.warmUp()
      #expect(tab.explain((any Alpha).self).description.contains("Register it as `.context`"))
      #expect(try tab.makeScope(tag: "inside").require((any Alpha).self) as? Made != nil)
      try await tab.close()
    }
    #expect(census.everBorn == 100 && census.alive == 0)
  }

  /// A context below a closed scope finds what is above it, but no instance of an outer scope in place of its own.
  @Test(arguments: [nil, "room"]) func noOuterScopeTakesThePlaceOfAClosedOne(_ kind: String?) async throws {
    root.register((any Alpha).self, lifetime: kind.map { .scope($0) } ?? .scope) { [census] in Made("a", census) }
    root.register((any Alpha).self, named: "house", lifetime: .scope("house")) { [census] in Made("b", census) }
    let outer = try root.makeScope(tag: "house").makeScope(tag: "room")
    let (inner, other) = (try outer.makeScope(tag: "room"), try outer.makeScope(tag: "other", kind: "box"))
    let (child, plain) = (try inner.makeChild(tag: "child"), try other.makeChild(tag: "plain"))
    let deep = try child.makeChild(tag: "deep")
    try await child.close()
    #expect(child.link((any Alpha).self) === inner.link((any Alpha).self))
    try await inner.close()
    try await other.close()
    for context in [child, deep] {
      let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
      guard case .contextClosed = error?.cause else { return #expect(error == nil, "another cause") }
      #expect(context.explain((any Alpha).self).cause == error?.cause)
      let all = withReporter(.silent) { context.linkAll((any Alpha).self) }
      #expect(all.map { ($0 as? Made)?.label } == ["b"])
      await #expect(throws: UDILinkError.self) { try await context.obtain((any Alpha).self) }
    }
    #expect(withReporter(.silent) { plain.link((any Alpha).self) == nil } == (kind == nil))
    let house = child.link((any Alpha).self, named: "house")
    #expect(house != nil && house === outer.link((any Alpha).self, named: "house"))
  }

  /// A scope that is dropped, and not closed, leaves no trace below it.
  @Test func aDroppedScopeMayBeReplacedByAnotherOne() async throws {
    root.register((any Alpha).self, lifetime: .scope) { [census] in Made("a", census) }
    var scope: UDIContext? = try root.makeScope(tag: "room")
    let child = try #require(try scope?.makeChild(tag: "child"))
    scope?.removeFromParent()
    scope = nil
    try root.makeScope(tag: "room").addChild(child)
    let made = child.link((any Alpha).self)
    #expect(made != nil)
    try await child.close()
    #expect(child.link((any Alpha).self) === made)
  }

  @Test func theRegisteringScopeMayBeTheOwner() throws {
    let scope = try root.makeScope(tag: "room")
    register("room", in: scope)
    #expect(label("room", from: try scope.makeScope(tag: "inner")) == "room")
  }

  /// A scope of another kind between the registration and the owner makes no difference.
  @Test func aRegistrationInAnInnerScopeIsBelowTheOuterOne() throws {
    let inner = try root.makeScope(tag: "session").makeScope(tag: "room")
    register("session", in: inner)
    let error = #expect(throws: UDILinkError.self) { try inner.require((any Alpha).self, named: "session") }
    #expect(error?.cause == .scopeIsAbove(scopePath: ["root", "session"]))
  }

  // MARK: Warming up

  @Test func aWarmUpMakesWhatBelongsToTheKind() async throws {
    for kind in ["session", "room"] { register(kind) }
    root.register((any Beta).self, lifetime: .scope) { [census] in Made("of each", census) }
    root.register((any Gamma).self, lifetime: .scope("room")) { context in
      Made("needs a guest", parts: [try context.require((any Other).self)])
    }
    let session = try root.makeScope(tag: "session")
    try await session.warmUp()
    #expect(census.everBorn == 2 && label("session", from: session) == "session" && census.everBorn == 2)
    let room = try session.makeScope(tag: "room")
    let error = await #expect(throws: UDIWarmUpError.self) { try await room.warmUp() }
    #expect(error?.failures.map(\.typeName) == ["UDITests.Gamma"])
    let guest = Made("guest")
    room.bind(guest, as: (any Other).self)
    try await room.warmUp()
    #expect(census.everBorn == 4)
    try await root.warmUp()
    #expect(census.everBorn == 4)
  }

  // MARK: What is missing outside

  @Test func whatOnlyTheAskingScopeHasNamesTheLifetime() async throws {
    root.register((any Beta).self) { Made("b", parts: [try $0.require((any Alpha).self)]) }
    root.register((any Gamma).self) { Made("c", parts: [try $0.require((any Beta).self)]) }
    // Many others, so that a search for scopes would not get there.
    for number in 0..<1_200 { try root.makeScope(tag: "\(number)") }
    let scope = try root.makeScope(tag: "asks")
    let alpha = Made("a")
    scope.bind(alpha, as: (any Alpha).self)
    let inner = try scope.makeChild(tag: "inner")
    func check(_ error: UDILinkError?) {
      guard case .inScope(let place, ["root", "asks"])? = error?.cause else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(place.fullPath == ["root", "asks"])
      #expect(error?.description.contains("Register what needs UDITests.Alpha with `lifetime: .scope`") == true)
    }
    check(#expect(throws: UDILinkError.self) { try inner.require((any Beta).self) })
    check(#expect(throws: UDILinkError.self) { try inner.require((any Gamma).self) })
    check(await #expect(throws: UDILinkError.self) { try await inner.obtain((any Gamma).self) })
    let (_, reports) = MisuseLog.during { inner.link((any Gamma).self) }
    #expect(reports.count == 1 && reports.allSatisfy { $0.message.contains("with `lifetime: .scope`") })
    // Nobody who asks has it.
    let outside = #expect(throws: UDILinkError.self) { try root.require((any Gamma).self) }
    if case .inScope = outside?.cause { Issue.record("\(String(describing: outside))") }
    root.register((any Beta).self, lifetime: .scope, replaces: true) {
      Made("b", parts: [try $0.require((any Alpha).self)])
    }
    root.register((any Gamma).self, lifetime: .scope, replaces: true) {
      Made("c", parts: [try $0.require((any Beta).self)])
    }
    #expect(inner.link((any Gamma).self) != nil)
  }

  // MARK: What is seen

  @Test func needsAreCheckedInScopesOfTheKind() throws {
    final class OfRoom: Sendable { init(_ ofSession: OfSession) {} }
    final class OfSession: Sendable {}
    final class Captive: Sendable { init(_ ofRoom: OfRoom) {} }
    root.register(OfSession.self, lifetime: .scope("session")) { OfSession() }
    root.register(OfRoom.self, lifetime: .scope("room"), using: OfRoom.init)
    #expect(root.unmetNeeds().failures.isEmpty)
    // One of the kinds may be misspelt.
    #expect(root.unmetNeeds().withoutScope.map(\.finding.key).count == 2)
    let text = root.unmetNeeds().description
    #expect(text.contains("No scope below is of the kind of:\n  ") && text.contains("OfRoom in \"root\", at "))
    root.register(Captive.self, lifetime: .scope("session"), using: Captive.init)
    let session = try root.makeScope(tag: "session")
    let unmet = root.unmetNeeds().failures.map { ($0.error as? UDILinkError)?.cause }
    #expect(unmet == [.noScope(kind: "room", present: ["session"])])
    #expect(session.unmetNeeds().failures.count == 1)
    root.unregister(Captive.self)
    let room = try session.makeScope(tag: "room")
    #expect(root.unmetNeeds().failures.isEmpty && room.unmetNeeds().failures.isEmpty)
    #expect(root.unmetNeeds().withoutScope.isEmpty)
    // A room outside all sessions.
    try root.makeScope(tag: "room")
    #expect(root.unmetNeeds().failures.map(\.fullPath) == [["root", "room"]])
  }

  @Test func snapshotsShowTheKind() throws {
    register("room")
    let room = try root.makeScope(tag: "7", kind: "room")
    #expect(label("room", from: room) == "7")
    let snapshot = root.snapshot()
    #expect(snapshot.contexts.map(\.scopeKind) == [nil, "room"])
    #expect(snapshot.description.contains("▸ 7 (scope \"room\")\n"))
    #expect(snapshot.contexts[1].entries.map(\.lifetime) == ["scope(\"room\")"])
    try root.makeScope(tag: "room")
    #expect(root.snapshot().description.contains("▸ room (scope)"))
  }
}
