import Testing
import UDI
import UDIInspector

private struct Failed: Error {}

/// The lifetime `.scope`: registered once, one instance for each scope that asks.
@Suite(.unlessItHangs) struct ScopeLifetimeTests {
  let root = UDIContext(tag: "root")
  let census = Census()

  private func register(_ label: String = "a", in context: UDIContext? = nil) {
    (context ?? root).register((any Alpha).self, lifetime: .scope) { [census] in Made(label, census) }
  }

  // MARK: Which scope

  @Test func eachScopeHasItsOwn() throws {
    register()
    let (one, other) = (try root.makeScope(tag: "one"), try root.makeScope(tag: "other"))
    let first = try one.require((any Alpha).self)
    #expect(one.link((any Alpha).self) === first && other.link((any Alpha).self) !== first)
    #expect(census.everBorn == 2)
  }

  @Test func theNearestScopeAroundAsks() throws {
    register()
    let outer = try root.makeScope(tag: "outer")
    let inner = try outer.makeChild(tag: "middle").makeScope(tag: "inner")
    let child = try inner.makeChild(tag: "child").makeChild(tag: "grandchild")
    let ofOuter = try outer.require((any Alpha).self)
    let ofChild = try child.require((any Alpha).self)
    #expect(inner.link((any Alpha).self) === ofChild && ofChild !== ofOuter)
    #expect(outer.child(tag: "middle")?.link((any Alpha).self) === ofOuter)
  }

  @Test func theScopeItselfMayHaveTheProvider() throws {
    let scope = try root.makeScope(tag: "scope")
    register(in: scope)
    let inner = try scope.makeScope(tag: "inner")
    let (own, ofInner) = (try scope.require((any Alpha).self), try inner.require((any Alpha).self))
    #expect(own !== ofInner && scope.link((any Alpha).self) === own && inner.link((any Alpha).self) === ofInner)
  }

  @Test func aProviderBesideTheScopeServesIt() throws {
    let child = try root.makeChild(tag: "child")
    register(in: child)
    let scope = try root.makeScope(tag: "scope", search: .lineage)
    #expect(scope.link((any Alpha).self) == nil)
    let inner = try child.makeScope(tag: "inner")
    #expect(inner.link((any Alpha).self) != nil)
    #expect(child.explain((any Alpha).self).cause == .noScope(kind: nil, present: []))
  }

  @Test func aContextThatMovesAsksItsNewScope() throws {
    register()
    let (one, other) = (try root.makeScope(tag: "one"), try root.makeScope(tag: "other"))
    let child = try one.makeChild(tag: "child")
    let first = child.link((any Alpha).self)
    try other.addChild(child)
    #expect(child.link((any Alpha).self) !== first && child.link((any Alpha).self) === other.link((any Alpha).self))
  }

  @Test func aScopeThatMovesKeepsItsOwn() throws {
    register()
    let (home, scope) = (try root.makeChild(tag: "home"), try root.makeScope(tag: "scope"))
    let made = try scope.require((any Alpha).self)
    try home.addChild(scope)
    #expect(scope.link((any Alpha).self) === made)
  }

  @Test func aScopeThatMovesToAnotherTreeUsesItsProvider() throws {
    register("here")
    let elsewhere = UDIContext(tag: "elsewhere")
    register("there", in: elsewhere)
    let scope = try root.makeScope(tag: "scope")
    #expect((scope.link((any Alpha).self) as? Made)?.label == "here")
    try elsewhere.addChild(scope)
    #expect((scope.link((any Alpha).self) as? Made)?.label == "there")
  }

  /// What a lookup finds does not depend on whether the scope has made something before.
  @Test(arguments: UDISearch.allCases) func theWayIsTheSameAfterwards(_ search: UDISearch) throws {
    register()
    let scope = try root.makeScope(tag: "scope")
    func found() -> [Bool] {
      [scope.link((any Alpha).self, search: search) != nil, scope.linkAll((any Alpha).self, search: search).count == 1]
    }
    let before = found()
    _ = scope.link((any Alpha).self, search: .ancestors)
    #expect(found() == before && before == Array(repeating: search == .lineage || search == .ancestors, count: 2))
  }

  @Test func aNearerDependencyTakesPrecedence() throws {
    register()
    let scope = try root.makeChild(tag: "home").makeScope(tag: "scope")
    let made = scope.link((any Alpha).self)
    let nearer = Made("nearer")
    root.child(tag: "home")?.bind(nearer, as: (any Alpha).self)
    #expect(scope.link((any Alpha).self) === nearer)
    root.child(tag: "home")?.unbind((any Alpha).self)
    #expect(scope.link((any Alpha).self) === made)
  }

  @Test func eachThreadGetsTheSame() throws {
    let scope = try root.makeScope(tag: "scope")
    let (coming, linked) = (Meeting(9), Collected())
    root.register((any Alpha).self, lifetime: .scope) { [census] in
      coming.arrive()
      return Made("a", census)
    }
    onThreads(16) { _ in
      if !linked.isFirst() { coming.arrive() }
      linked.add(scope.link((any Alpha).self))
    }
    #expect(census.everBorn == 1 && linked.all.allSatisfy { $0 === linked.all[0] })
  }

  @Test func twoScopesDoNotWaitForEachOther() throws {
    let (one, other) = (try root.makeScope(tag: "one"), try root.makeScope(tag: "other"))
    let meeting = Meeting(2)
    root.register((any Alpha).self, lifetime: .scope) {
      meeting.arrive()
      return Made()
    }
    onThreads([
      { #expect(one.link((any Alpha).self) != nil) }, { #expect(other.link((any Alpha).self) != nil) },
    ])
  }

  // MARK: What it is made of

  @Test func itIsMadeOfWhatTheScopeSees() throws {
    root.register((any Alpha).self, lifetime: .scope) { context in
      Made(context.tag, parts: [try context.require((any Beta).self)])
    }
    let scope = try root.makeScope(tag: "scope")
    let beta = Made("own")
    scope.bind(beta, as: (any Beta).self)
    let child = try scope.makeChild(tag: "child")
    let below = Made("below")
    child.bind(below, as: (any Beta).self)
    let made = try #require(child.require((any Alpha).self) as? Made)
    #expect(made.label == "scope" && made.parts.first as? Made === beta)
  }

  @Test func partsAreOfTheSameScope() throws {
    root.register((any Beta).self, lifetime: .scope) { Made("b") }
    root.register((any Gamma).self, lifetime: .unique) { context in
      Made("c", parts: [try context.require((any Beta).self)])
    }
    root.register((any Alpha).self, lifetime: .scope) { context in
      Made("a", parts: [try context.require((any Beta).self), try context.require((any Gamma).self)])
    }
    let scope = try root.makeScope(tag: "scope")
    let made = try #require(scope.require((any Alpha).self) as? Made)
    let beta = scope.link((any Beta).self)
    #expect(made.parts[0] as? Made === beta && (made.parts[1] as? Made)?.parts[0] as? Made === beta)
  }

  @Test func nothingOutsideIsMadeOfIt() throws {
    register()
    root.register((any Beta).self, lifetime: .context) { context in
      Made("b", parts: [try context.require((any Alpha).self)])
    }
    let scope = try root.makeScope(tag: "scope")
    let error = #expect(throws: UDILinkError.self) { try scope.require((any Beta).self) }
    #expect(error?.cause == .noScope(kind: nil, present: []))
    let text = error?.description ?? ""
    #expect(text.contains("UDITests.Alpha is made once in each scope, but there is no scope around \"root\""))
    #expect(text.contains("UDITests.Beta") && text.contains("as `.scope`, too"))
    #expect(census.everBorn == 0)
  }

  /// What is registered without a lifetime, its context owns.
  @Test func aForgottenLifetimeIsAnErrorIfSomethingOfTheScopeIsNeeded() throws {
    root.register((any Alpha).self) { context in Made("a", parts: [try context.require((any Beta).self)]) }
    let scope = try root.makeScope(tag: "scope")
    scope.provide(Made("b") as any Beta, as: (any Beta).self)
    let error = #expect(throws: UDILinkError.self) { try scope.require((any Alpha).self) }
    #expect(error?.description.contains("UDITests.Beta is in the scope \"root / scope\"") == true)
  }

  @Test func withoutAScopeALookupIsAMiss() throws {
    register()
    let child = try root.makeChild(tag: "child")
    let error = #expect(throws: UDILinkError.self) { try child.require((any Alpha).self) }
    #expect(error?.cause == .noScope(kind: nil, present: []) && child.explain((any Alpha).self).cause == error?.cause)
    let (found, reports) = MisuseLog.during { (child.link((any Alpha).self), child.linkAll((any Alpha).self)) }
    #expect(found.0 == nil && found.1.isEmpty)
    #expect(reports.map(\.kind) == [.notMade, .notMade])
    #expect(reports.first?.message.contains("there is no scope around the context that asks") == true)
  }

  @Test func twoThatNeedEachOtherAreACycle() throws {
    root.register((any Alpha).self, lifetime: .scope) { Made("a", parts: [try $0.require((any Beta).self)]) }
    root.register((any Beta).self, lifetime: .scope) { Made("b", parts: [try $0.require((any Alpha).self)]) }
    let scope = try root.makeScope(tag: "scope")
    let error = #expect(throws: UDILinkError.self) { try scope.require((any Alpha).self) }
    #expect(error?.cause == .cycle(["UDITests.Alpha", "UDITests.Beta", "UDITests.Alpha"]))
  }

  /// The outer scope's instance is another one, so this is no cycle.
  @Test func anInnerScopeMayMakeItsInstanceOfTheOuterOnes() throws {
    root.register((any Alpha).self, lifetime: .scope) { context in
      let above = context.parent.flatMap { $0.isScope ? $0.link((any Alpha).self) as? Made : nil }
      return Made(context.tag, parts: above.map { [$0] } ?? [])
    }
    let inner = try root.makeScope(tag: "outer").makeScope(tag: "inner")
    let made = try #require(inner.require((any Alpha).self) as? Made)
    #expect(made.label == "inner" && (made.parts.first as? Made)?.label == "outer")
  }

  @Test func completionsRunWithTheScope() throws {
    let journal = Journal()
    root.register((any Alpha).self, lifetime: .scope) {
      Made("a")
    }.onCreate { context, _ in
      journal.add(context.tag)
    }
    _ = try root.makeScope(tag: "scope").makeChild(tag: "child").require((any Alpha).self)
    #expect(journal.all == ["scope"])
  }

  @Test func objectsAreAttachedToTheScope() throws {
    root.register((any Service).self, lifetime: .scope) { Member() }
    let scope = try root.makeScope(tag: "scope")
    let member = scope.link((any Service).self) as? Member
    #expect(member?.attachedContext === scope)
  }

  // MARK: Names, arguments, other types, values

  @Test func namesAndArguments() throws {
    for name in ["x", "y"] {
      root.register((any Alpha).self, named: UDIName(name), lifetime: .scope) { Made(name) }
    }
    root.register((any Beta).self, lifetime: .scope) { [census] (context, number: Int) in
      Made("\(context.tag) \(number)", census)
    }
    let (one, other) = (try root.makeScope(tag: "one"), try root.makeScope(tag: "other"))
    #expect((one.link((any Alpha).self, named: "y") as? Made)?.label == "y")
    #expect(one.linkAll((any Alpha).self).count == 2)
    let five = try one.require((any Beta).self, with: 5) as? Made
    #expect(five?.label == "one 5" && one.link((any Beta).self, with: 5) === five)
    #expect(one.link((any Beta).self, with: 6) !== five)
    #expect((other.link((any Beta).self, with: 5) as? Made)?.label == "other 5" && census.everBorn == 3)
    #expect(one.explain((any Beta).self, with: 5).cause.isFound)
  }

  @Test func anotherTypeServesTheSameInstance() throws {
    root.register((any Alpha).self, lifetime: .scope) { [census] in Made("a", census) }
      .implements((any Beta).self).implements((any Alpha).self, named: "too")
    let scope = try root.makeScope(tag: "scope")
    let beta = try scope.require((any Beta).self)
    #expect(
      scope.link((any Alpha).self) === beta as? Made && scope.link((any Alpha).self, named: "too") === beta as? Made)
    #expect(scope.linkAll((any Alpha).self).count == 2 && census.everBorn == 1)
    #expect(
      root.explain((any Beta).self).cause == .noScope(kind: nil, present: [])
        && scope.explain((any Beta).self).cause.isFound)
  }

  @Test func valuesAreKept() throws {
    let count = Tally()
    root.register(Int.self, lifetime: .scope) {
      count.add()
      return count.count
    }
    let (one, other) = (try root.makeScope(tag: "one"), try root.makeScope(tag: "other"))
    #expect([one.link(Int.self), other.link(Int.self), one.link(Int.self)] == [1, 2, 1])
  }

  @Test func aFreshOneIsNotKept() throws {
    register()
    let scope = try root.makeScope(tag: "scope")
    let kept = scope.link((any Alpha).self)
    #expect(scope.link((any Alpha).self, fresh: true) !== kept && scope.link((any Alpha).self) === kept)
  }

  @Test func theDefaultLifetimeMayBeScope() throws {
    root.defaultLifetime = .scope
    root.register((any Alpha).self) { [census] in Made("a", census) }
    let scope = try root.makeScope(tag: "scope")
    #expect(scope.link((any Alpha).self) === scope.link((any Alpha).self) && census.everBorn == 1)
    #expect(root.registrations(of: (any Alpha).self).first?.lifetime == .scope)
  }

  /// Who lists registrations in a scope links them as the scope does.
  @Test func aRegistrationIsLinkedForTheContextThatListedIt() async throws {
    register()
    let scope = try root.makeScope(tag: "scope")
    let child = try scope.makeChild(tag: "child")
    let linked = try #require(child.registrations(of: (any Alpha).self).first?.link())
    #expect(linked === scope.link((any Alpha).self) && census.everBorn == 1)
    #expect(try await scope.registrations(of: (any Alpha).self).first?.obtain() === linked)
    // The root has no scope around it.
    let registration = try #require(root.registrations(of: (any Alpha).self).first)
    let (none, misuse) = MisuseLog.during { registration.link() }
    #expect(none == nil && misuse.map(\.kind) == [.notMade])
    await #expect(throws: UDILinkError.self) { try await registration.obtain() }
    // Nor does the registration keep the scope.
    let lost = try await root.withScope(tag: "lost") { $0.registrations(of: (any Alpha).self)[0] }
    #expect(MisuseLog.during { lost.link() }.0 == nil && lost.context === root)
  }

  /// So is what is made anew for each lookup.
  @Test(arguments: [UDILifetime.unique, .graph])
  func whatIsUniqueIsMadeForTheContextThatListedIt(_ lifetime: UDILifetime) async throws {
    root.register((any Beta).self, lifetime: lifetime) { context in
      Made("b", parts: [try context.require((any Alpha).self)])
    }
    let scope = try root.makeScope(tag: "scope")
    scope.provide(Made("a"), as: (any Alpha).self)
    let registration = try #require(scope.registrations(of: (any Beta).self).first)
    #expect((registration.link() as? Made)?.parts.count == 1)
    #expect((try await registration.obtain() as? Made)?.parts.count == 1)
  }

  // MARK: How long it lives

  @Test func itLivesAsLongAsItsScope() async throws {
    register()
    let scope = try root.makeScope(tag: "scope")
    _ = scope.link((any Alpha).self)
    #expect(census.alive == 1)
    scope.removeFromParent()
    #expect(scope.link((any Alpha).self) == nil && census.alive == 1)
    try await scope.close()
    #expect(census.alive == 0)
    _ = try root.makeScope(tag: "scope").link((any Alpha).self)
    root.removeChild(tag: "scope")
    #expect(census.everBorn == 2 && census.alive == 0)
  }

  @Test func aResetOfTheScopeReleasesIt() throws {
    register()
    let scope = try root.makeScope(tag: "scope")
    _ = scope.link((any Alpha).self)
    root.reset()
    #expect(census.alive == 1)
    scope.reset(.context)
    #expect(census.alive == 1)
    scope.reset(.scope)
    #expect(census.alive == 0)
    _ = scope.link((any Alpha).self)
    #expect(census.everBorn == 2)
    scope.reset()
    #expect(census.alive == 0)
  }

  enum Outcome: CaseIterable { case made, madeWithArguments, nothing, failed, asynchronousFailure }

  /// What a factory captures is released with its registration, although a scope has asked for it; but for what the
  /// scope owns, which it releases with a reset.
  @Test(arguments: Outcome.allCases) func aRegistrationThatIsTakenBackLeavesNothing(_ outcome: Outcome) async throws {
    let scope = try root.makeScope(tag: "scope")
    do {
      let captured = Made("captured", census)
      switch outcome {
      case .made: root.register((any Alpha).self, lifetime: .scope) { Made(captured.label) }
      case .madeWithArguments:
        root.register((any Alpha).self, lifetime: .scope) { (_, label: String) in Made(label + captured.label) }
      case .nothing: root.register((any Alpha).self, lifetime: .scope) { captured.label.isEmpty ? captured : nil }
      case .failed:
        root.register((any Alpha).self, lifetime: .scope) {
          if !captured.label.isEmpty { throw Failed() }
          return captured
        }
      case .asynchronousFailure:
        root.register((any Alpha).self, lifetime: .scope) { () async throws in
          if !captured.label.isEmpty { throw Failed() }
          return captured
        }
      }
    }
    switch outcome {
    case .made: _ = try scope.require((any Alpha).self)
    case .madeWithArguments: _ = try scope.require((any Alpha).self, with: "label")
    case .nothing: #expect(scope.link((any Alpha).self) == nil)
    case .failed: #expect(throws: (any Error).self) { try scope.require((any Alpha).self) }
    case .asynchronousFailure:
      await #expect(throws: (any Error).self) { try await scope.obtain((any Alpha).self) }
    }
    root.unregister((any Alpha).self)
    if outcome == .made || outcome == .madeWithArguments {
      #expect(census.alive == 1)
      scope.reset()
    }
    // An asynchronous factory's task may end a moment later.
    while census.alive > 0 { await Task.yield() }
  }

  @Test func anotherRegistrationIsAnotherInstance() async throws {
    let journal = Journal()
    func register(_ label: String) {
      root.register((any Alpha).self, lifetime: .scope) { [census] in
        Made(label, census)
      }.onClose { _ in
        journal.add(label)
      }
    }
    register("old")
    let scope = try root.makeScope(tag: "scope")
    _ = scope.link((any Alpha).self)
    register("new")
    #expect((scope.link((any Alpha).self) as? Made)?.label == "new" && census.alive == 2)
    root.unregister((any Alpha).self)
    #expect(scope.link((any Alpha).self) == nil)
    try await scope.close()
    #expect(journal.all == ["new", "old"] && census.alive == 0)
  }

  // MARK: Closing

  @Test func aScopeClosesWhatItHasMade() async throws {
    let journal = Journal()
    for (name, label) in [("1", "first"), ("2", "second")] {
      root.register((any Alpha).self, named: UDIName(name), lifetime: .scope) { context in
        Made("\(context.tag) \(label)")
      }.onClose { made in
        journal.add((made as? Made)?.label ?? "")
      }
    }
    try await root.withScope(tag: "a") { scope in
      _ = try scope.require((any Alpha).self, named: "2")
      try await root.withScope(tag: "b") { scope in _ = scope.link((any Alpha).self, named: "1") }
      _ = try scope.require((any Alpha).self, named: "1")
    }
    #expect(journal.all == ["b first", "a second", "a first"])
    try await root.close()
    #expect(journal.all.count == 3)
  }

  @Test func aScopeThatIsClosedMakesNone() async throws {
    register()
    root.register((any Beta).self, lifetime: .scope) {
      Made("b")
    }.onClose { _ in
    }
    let outer = try root.makeScope(tag: "outer")
    let scope = try outer.makeScope(tag: "scope")
    let late = Journal()
    root.register((any Gamma).self, lifetime: .scope) {
      Made("c")
    }.onClose { [scope] _ in
      // What was made is there until it has been closed; nothing new is made.
      late.add(scope.link((any Beta).self) == nil ? "no beta" : "beta")
      do { _ = try scope.require((any Alpha).self) } catch {
        late.add(
          (error as? UDILinkError)?.cause == .contextClosed(fullPath: ["root", "outer", "scope"]) ? "closed" : "?")
      }
    }
    _ = scope.link((any Beta).self)
    _ = scope.link((any Gamma).self)
    try await scope.close()
    #expect(late.all == ["beta", "closed"])
    let error = #expect(throws: UDILinkError.self) { try scope.require((any Alpha).self) }
    #expect(
      error?.cause == .contextClosed(fullPath: ["scope"]) && scope.explain((any Alpha).self).cause == error?.cause)
    #expect(outer.link((any Alpha).self) != nil && census.everBorn == 1)
  }

  @Test func closingWaitsForWhatIsBeingMade() async throws {
    let (begun, go, journal) = (Meeting(2), Meeting(2), Journal())
    root.register((any Alpha).self, lifetime: .scope) {
      begun.arrive()
      go.arrive()
      return Made("a")
    }.onClose { _ in
      journal.add("closed")
    }
    let scope = try root.makeScope(tag: "scope")
    async let found: Bool = withCheckedContinuation { continuation in
      onThread { continuation.resume(returning: scope.link((any Alpha).self) != nil) }
    }
    await withCheckedContinuation { continuation in
      onThread {
        begun.arrive()
        continuation.resume()
      }
    }
    async let closed: Void = scope.close()
    onThread { go.arrive() }
    try await closed
    #expect(await found && journal.all == ["closed"])
  }

  @Test func whatAResetDropsWhileItIsMadeIsClosed() async throws {
    let (begun, go, journal) = (Latch(), Latch(), Journal())
    root.register((any Alpha).self, lifetime: .scope) { (_: UDIContext, label: String) async in
      begun.arrive()
      await go.wait()
      return Made(label)
    }.onClose { _ in
      journal.add("closed")
    }
    let scope = try root.makeScope(tag: "scope")
    let asking = Task { try await scope.obtain((any Alpha).self, with: "a") }
    await begun.wait()
    scope.reset()
    let closing = Task { try await scope.close() }
    while scope.isOpen { await Task.yield() }
    go.arrive()
    try await closing.value
    _ = try? await asking.value
    #expect(journal.all == ["closed"])
  }

  @Test func whatIsDroppedWithoutClosingIsReported() throws {
    root.register((any Alpha).self, lifetime: .scope) {
      Made("a")
    }.onClose { _ in
    }
    let scope = try root.makeScope(tag: "scope")
    _ = scope.link((any Alpha).self)
    #expect(MisuseLog.during { scope.reset() }.1.map(\.kind) == [.unclosed])
  }

  // MARK: Asynchronous factories, warming up

  @Test func asynchronousFactories() async throws {
    let journal = Journal()
    root.register((any Alpha).self, lifetime: .scope) { [census] context async throws in
      await Task.yield()
      return Made(context.tag, census)
    }.onClose { made in
      journal.add((made as? Made)?.label ?? "")
    }
    root.register((any Beta).self, lifetime: .scope, using: { (alpha: any Alpha) in Made("b", parts: [alpha]) })
    try await root.withScope(tag: "one") { scope in
      let (found, reports) = MisuseLog.during { scope.link((any Alpha).self) }
      #expect(found == nil && reports.map(\.kind) == [.notMade])
      async let beta = scope.obtain((any Beta).self)
      async let alpha = scope.obtain((any Alpha).self)
      let (made, part) = (try #require(try await beta as? Made), try await alpha)
      #expect(made.parts.first as? Made === part as? Made && scope.link((any Alpha).self) === part)
      try await root.withScope(tag: "other") { other in
        let ofOther = try await other.obtain((any Alpha).self)
        #expect(ofOther !== part)
      }
    }
    #expect(journal.all == ["other", "one"] && census.everBorn == 2 && census.alive == 0)
    let error = await #expect(throws: UDILinkError.self) { try await root.obtain((any Alpha).self) }
    #expect(error?.cause == .noScope(kind: nil, present: []))
  }

  @Test func warmingUpAScopeMakesEverything() async throws {
    register()
    root.register((any Beta).self, lifetime: .scope) { [census] () async throws in Made("b", census) }
    root.register((any Gamma).self, lifetime: .context) { [census] in Made("c", census) }
    try await root.warmUp()
    #expect(census.everBorn == 1)
    let scope = try root.makeChild(tag: "home").makeScope(tag: "scope")
    try await scope.warmUp()
    #expect(census.everBorn == 3 && scope.link((any Beta).self) != nil)
    try await root.warmUp()
    #expect(census.everBorn == 3)
    root.register((any Other).self, lifetime: .scope) { throw Failed() }
    let error = await #expect(throws: UDIWarmUpError.self) { try await scope.warmUp() }
    #expect(error?.failures.map(\.fullPath) == [["root", "home", "scope"]])
  }

  @MainActor @Test func mainActorDependencies() throws {
    root.register((any Sheet).self, lifetime: .scope) { Page() }
    let (one, other) = (try root.makeScope(tag: "one"), try root.makeScope(tag: "other"))
    #expect(one.link((any Sheet).self) === one.link((any Sheet).self))
    #expect(one.link((any Sheet).self) !== other.link((any Sheet).self))
  }

  // MARK: Following

  @Test func updatesFollowWhatTheScopeHas() async throws {
    register()
    root.register((any Beta).self, lifetime: .scope) { [census] () async throws in Made("b", census) }
    let scope = try root.makeScope(tag: "scope")
    let child = try scope.makeChild(tag: "child")
    var alphas = child.updates(of: (any Alpha).self).makeAsyncIterator()
    let first = await alphas.next()
    #expect(first != nil && first.flatMap { $0 } === scope.link((any Alpha).self))
    scope.reset()
    let second = await alphas.next()
    #expect(second.flatMap { $0 } === scope.link((any Alpha).self) && second.flatMap { $0 } !== first.flatMap { $0 })
    var betas = child.updates(of: (any Beta).self).makeAsyncIterator()
    #expect(await betas.next().flatMap { $0 } == nil)
    let made = try await scope.obtain((any Beta).self)
    #expect(await betas.next().flatMap { $0 } === made)
    // The move is noticed.
    let other = try root.makeScope(tag: "other")
    try other.addChild(child)
    let third = await alphas.next()
    #expect(third.flatMap { $0 } === other.link((any Alpha).self))
  }

  // MARK: What is seen

  @Test func aFailureIsExplained() throws {
    root.register((any Alpha).self, lifetime: .scope) { throw Failed() }
    let scope = try root.makeScope(tag: "scope")
    #expect(throws: Failed.self) { try scope.require((any Alpha).self) }
    guard case .failed = scope.explain((any Alpha).self).cause else {
      Issue.record("\(scope.explain((any Alpha).self))")
      return
    }
  }

  @Test func theScopeIsShownWithWhatItKeeps() throws {
    register()
    let scope = try root.makeScope(tag: "scope")
    _ = scope.link((any Alpha).self)
    let contexts = root.snapshot().contexts
    #expect(contexts[0].entries.map(\.description) == ["UDITests.Alpha: not made, scope"])
    #expect(contexts[1].entries.map(\.description) == ["UDITests.Alpha: made, scope"])
    guard case .found(let place) = scope.explain((any Alpha).self).cause else {
      Issue.record("\(scope.explain((any Alpha).self))")
      return
    }
    #expect(place.fullPath == ["root", "scope"] && place.finding.kind == .kept)
  }

  @Test func anOverrideTakesItsPlace() throws {
    register()
    let (scope, fake) = (try root.makeScope(tag: "scope"), Made("fake"))
    let made = scope.link((any Alpha).self)
    root.provide(fake as any Alpha, as: (any Alpha).self, replaces: true)
    #expect(scope.link((any Alpha).self) === fake && made !== fake)
  }

  @Test func tenThousandScopesLeaveNothing() async throws {
    root.register((any Alpha).self, lifetime: .scope) { [census] in
      Made("a", census)
    }.onClose { _ in
    }
    for number in 0..<10_000 {
      try await root.withScope(tag: "\(number)") { scope in
        if scope.link((any Alpha).self) !== scope.link((any Alpha).self) { Issue.record("made twice") }
      }
      try #require(census.alive == 0, "scope \(number) left its instance")
    }
    #expect(census.everBorn == 10_000 && root.children.isEmpty)
  }
}

@MainActor private protocol Sheet: AnyObject {}
@MainActor private final class Page: Sheet {}

extension UDIContext {
  fileprivate var isOpen: Bool { (try? addChild(UDIContext(tag: "child"))).map { removeChild(tag: "child") } != nil }
}

extension UDIExplanation.Cause {
  fileprivate var isFound: Bool { if case .found = self { true } else { false } }
}
