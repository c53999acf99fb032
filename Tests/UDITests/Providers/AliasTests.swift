import Testing
import UDI

/// `implements`: lookups find the very same instances under another type, too. `IsolationTests` has more about what is
/// not `Sendable`, and `FailureTests` about what an alias explains.
@Suite(.unlessItHangs) struct AliasTests {
  let context = UDIContext(tag: "context")

  private final class Storage: UDIStorage {
    private let kept = Locked<UDIMade?>(nil)
    func load() -> UDIMade? { kept.withLock { $0 } }
    func store(_ made: UDIMade) { kept.withLock { $0 = made } }
    func reset() { kept.withLock { $0 = nil } }
  }

  private static let keepingLifetimes = [
    UDILifetime.context, .weak, UDILifetime("own"), UDILifetime("stored", storage: .custom { Storage() }),
  ]

  /// Whether a lookup finds an instance in the index, and not the provider.
  private func isKept<Dependency: Sendable>(_ type: Dependency.Type) -> Bool {
    guard case .found(let place) = context.explain(type).cause else { return false }
    return place.finding.kind == .kept
  }

  // MARK: The same object

  @Test(arguments: keepingLifetimes, [false, true])
  func bothTypesFindTheInstanceThatIsKept(_ lifetime: UDILifetime, isAskedFirst: Bool) {
    let census = Census()
    context.register(Made.self, lifetime: lifetime) { Made("one", census) }
      .implements((any Alpha).self)
      .implements((any Beta).self, named: "b")
    var earlier: [Made?] = []
    for round in 1...3 {
      let first = isAskedFirst ? context.link((any Alpha).self) as? Made : context.link(Made.self)
      #expect(first != nil && !earlier.contains { $0 === first })
      for _ in 0..<3 {
        #expect(context.link(Made.self) === first && context.link((any Alpha).self) === first)
        #expect(context.link((any Beta).self, named: "b") === first && context.link((any Beta).self) == nil)
      }
      #expect(census.everBorn == round)
      // After a reset, the next instance counts under every type, even if somebody holds the earlier one.
      earlier.append(first)
      context.reset()
    }
    withExtendedLifetime(earlier) {}
  }

  @Test(arguments: [UDILifetime.unique, .graph]) func whatIsNotKeptIsMadeForEachLink(_ lifetime: UDILifetime) {
    let census = Census()
    context.register(Made.self, lifetime: lifetime) { Made("one", census) }.implements((any Alpha).self)
    let (one, two) = (context.link((any Alpha).self), context.link((any Alpha).self))
    #expect(one is Made && two is Made && one !== two && census.everBorn == 2)
    #expect(!isKept((any Alpha).self))
  }

  @Test func oneGraphHasOneInstanceUnderBothTypes() throws {
    context.register(Made.self, lifetime: .graph) { Made() }.implements((any Alpha).self)
    context.register((any Beta).self) { context in
      Made(parts: [try context.require(Made.self), try context.require((any Alpha).self)])
    }
    let parts = try #require(context.link((any Beta).self) as? Made).parts
    #expect(parts.count == 2 && parts[0] as? Made === parts[1] as? Made)
  }

  /// Once it has been asked for there.
  @Test(arguments: [UDILifetime.context, .weak]) func theIndexHasTheInstanceUnderBothTypes(_ lifetime: UDILifetime) {
    context.register(Made.self, lifetime: lifetime) { Made() }.implements((any Alpha).self)
    for _ in 0..<2 {
      let made = context.link(Made.self)
      #expect(isKept(Made.self) && !isKept((any Alpha).self))
      #expect(context.link((any Alpha).self) === made && isKept((any Alpha).self))
      context.reset()
      #expect(!isKept(Made.self) && !isKept((any Alpha).self))
    }
  }

  @Test func anAliasKeepsNothingAlive() {
    let census = Census()
    let registration = context.register(Made.self, lifetime: .weak) { Made("weak", census) }
      .implements((any Alpha).self)
    for round in 1...20 {
      // The next instance may well have the same address.
      let made = round.isMultiple(of: 2) ? registration.link() : context.link((any Alpha).self) as? Made
      #expect(made != nil && census.alive == 1 && census.everBorn == round)
      #expect(context.link((any Alpha).self) === made && context.link(Made.self) === made)
      withExtendedLifetime(made) {}
    }
    #expect(census.alive == 0)
  }

  @Test(arguments: keepingLifetimes) func argumentsDecideUnderBothTypes(_ lifetime: UDILifetime) {
    context.register(Made.self, lifetime: lifetime) { (_, number: Int) in Made("\(number)") }
      .implements((any Alpha).self)
    let (one, two) = (context.link((any Alpha).self, with: 1), context.link(Made.self, with: 2))
    #expect((one as? Made)?.label == "1" && two?.label == "2")
    #expect(context.link(Made.self, with: 1) === one && context.link((any Alpha).self, with: 2) === two)
    let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
    #expect(error?.cause == .otherArguments(wanted: ["Swift.Int"], given: []))
  }

  /// Even if the alias is first asked for a fresh one.
  @Test func aFreshInstanceIsNotKept() {
    context.register(Made.self, lifetime: .context) { Made() }.implements((any Alpha).self)
    let made = context.link(Made.self)
    let fresh = context.link((any Alpha).self, fresh: true)
    #expect(fresh is Made && fresh !== made)
    #expect(context.link((any Alpha).self) === made && context.link(Made.self) === made)
    #expect(context.link((any Alpha).self, fresh: true) !== fresh)
    #expect(context.link((any Alpha).self) === made)
  }

  private protocol Sized: Sendable { var size: Int { get } }
  private struct Size: Sized { let size: Int }

  /// A value under the lifetime `.weak` is reported.
  @Test(.silent, arguments: keepingLifetimes) func values(_ lifetime: UDILifetime) {
    let runs = Tally()
    context.register(Size.self, lifetime: lifetime) {
      runs.add()
      return Size(size: runs.count)
    }
    .implements((any Sized).self)
    // Nothing can hold a value that is kept weakly.
    let isMadeAnew = lifetime == .weak
    for number in 1...3 { #expect(context.link((any Sized).self)?.size == (isMadeAnew ? number : 1)) }
    #expect(context.link(Size.self)?.size == (isMadeAnew ? 4 : 1))
    context.reset()
    #expect(context.link((any Sized).self)?.size == (isMadeAnew ? 5 : 2))
    #expect(context.link(Size.self)?.size == (isMadeAnew ? 6 : 2))
  }

  // MARK: Keys

  @Test func anAliasOfAnAliasServesTheSameProvider() {
    context.register(Made.self, lifetime: .weak) { Made() }.implements((any Alpha).self)
    context.registrations(of: (any Alpha).self)[0].implements((any Beta).self).implements((any Gamma).self, named: "n")
    let beta = context.link((any Beta).self)
    #expect(beta != nil && context.link(Made.self) === beta && context.link((any Alpha).self) === beta)
    #expect(context.link((any Gamma).self, named: "n") === beta)
    // The aliases do not depend on one another, only on the provider.
    context.unregister((any Alpha).self)
    #expect(context.link((any Alpha).self) == nil && context.link((any Beta).self) === beta)
    context.unregister(Made.self)
    #expect(context.link((any Beta).self) == nil && context.link((any Gamma).self, named: "n") == nil)
  }

  @Test func aProviderServesItsOwnTypeAlready() {
    let plain = Plain()
    context.register(Plain.self) { plain }.implements(Plain.self).implements((any Service).self)
    context.registrations(of: (any Service).self)[0].implements((any Service).self).implements(Plain.self)
    #expect(context.link(Plain.self) === plain && context.link((any Service).self) === plain)
    #expect(context.registrations(of: Plain.self).count == 1)
    #expect(context.registrations(of: (any Service).self).count == 1)
    // Under another name, it is another key.
    context.registrations(of: (any Service).self)[0].implements(Plain.self, named: "n")
    #expect(context.link(Plain.self, named: "n") === plain)
  }

  @Test func anAliasLeavesWithItsTarget() {
    let handle = context.register(Made.self, lifetime: .context) { Made() }.implements((any Alpha).self)
    #expect(context.link((any Alpha).self) != nil)
    // What has replaced the alias stays.
    context.register((any Alpha).self) { Made("own") }
    handle.unregister()
    #expect((context.link((any Alpha).self) as? Made)?.label == "own")
    context.register(Made.self) { Made() }.implements((any Beta).self)
    context.register(Made.self, replaces: true) { Made() }
    #expect(context.link((any Beta).self) == nil)
  }

  @Test func aTargetStaysWithoutItsAlias() {
    let registration = context.register(Made.self, lifetime: .context) { Made() }.implements((any Alpha).self)
    let made = context.link(Made.self)
    for _ in 0..<3 {
      #expect(context.link((any Alpha).self) === made)
      let alias = context.registrations(of: (any Alpha).self)[0]
      alias.unregister()
      #expect(context.link((any Alpha).self) == nil && alias.link() == nil)
      #expect(context.link(Made.self) === made)
      registration.implements((any Alpha).self)
    }
  }

  @Test func aBindingTakesPrecedence() {
    context.register(Made.self, lifetime: .context) { Made() }.implements((any Alpha).self)
    let bound = Made("bound")
    context.bind(bound, as: (any Alpha).self)
    let made = context.link(Made.self)
    #expect(context.link((any Alpha).self) === bound)
    // The alias is asked meanwhile.
    #expect(context.registrations(of: (any Alpha).self).map { $0.link() === made }.contains(true))
    #expect(context.link((any Alpha).self) === bound)
    context.unbind((any Alpha).self)
    #expect(context.link((any Alpha).self) === made)
  }

  // MARK: What is not of the type

  @Test func whatDoesNotConformIsAMissThatSaysSo() {
    context.register(Plain.self, lifetime: .context) { Plain() }.implements((any Alpha).self)
    let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
    #expect(error?.cause == .notConvertible(from: "UDITests.Plain"))
    #expect(error?.description.contains("register a factory that asks for the instance") == true)
    #expect(context.link(Plain.self) != nil)
    // Doing what the message says helps.
    context.register((any Alpha).self) { context in Made(parts: [try context.require(Plain.self)]) }
    #expect((context.link((any Alpha).self) as? Made)?.parts.first as? Plain === context.link(Plain.self))
  }

  /// Each instance is checked, not the provider once.
  @Test func someInstancesMayBeOfTheType() {
    let runs = Tally()
    context.register((any Service).self, lifetime: .unique) {
      runs.add()
      return runs.count.isMultiple(of: 2) ? Made() : Plain()
    }
    .implements((any Alpha).self)
    for _ in 0..<3 {
      #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
      #expect(throws: Never.self) { try context.require((any Alpha).self) }
    }
  }

  @Test(arguments: [UDILifetime.context, .unique])
  func whatAnAsynchronousFactoryMakesMayNotConform(_ lifetime: UDILifetime) async throws {
    context.register(Plain.self, lifetime: lifetime) {
      await Task.yield(); return Plain()
    }.implements((any Alpha).self)
    // If it is kept, the second attempt finds it without waiting.
    for _ in 0..<2 {
      let error = await #expect(throws: UDILinkError.self) { try await context.obtain((any Alpha).self) }
      #expect(error?.cause == .notConvertible(from: "UDITests.Plain"))
    }
    _ = try await context.obtain(Plain.self)
  }

  @Test func anInstanceThatNeedsItselfUnderTheOtherType() {
    context.register(Made.self) { context in Made(parts: [try context.require((any Alpha).self)]) }
      .implements((any Alpha).self)
    let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
    #expect(error?.cause == .cycle(["UDITests.Made", "UDITests.Made"]))
  }

  // MARK: Asynchronous factories and the main actor

  @Test(arguments: keepingLifetimes, [false, true])
  func obtainGivesTheSameUnderBothTypes(_ lifetime: UDILifetime, isAskedFirst: Bool) async throws {
    context.register(Made.self, lifetime: lifetime) {
      await Task.yield(); return Made()
    }.implements((any Alpha).self)
    for _ in 0..<2 {
      #expect(MisuseLog.during { context.link((any Alpha).self) == nil }.0)
      let first: AnyObject =
        if isAskedFirst { try await context.obtain((any Alpha).self) } else { try await context.obtain(Made.self) }
      #expect(context.link((any Alpha).self) === first && context.link(Made.self) === first)
      #expect(try await context.obtain((any Alpha).self) === first)
      #expect(try await context.obtain(Made.self) === first)
      context.reset()
    }
  }

  /// Even if a lookup under the target's type notices it.
  @Test func watchersOfTheOtherTypeLearnThatTheInstanceIsGone() async throws {
    context.register(Made.self, lifetime: .weak) {
      await Task.yield(); return Made()
    }.implements((any Alpha).self)
    var updates = context.updates(of: (any Alpha).self).makeAsyncIterator()
    let before = await updates.next()
    #expect(before != nil && before! == nil)
    do {
      let made = try await context.obtain(Made.self)
      #expect(context.link((any Alpha).self) === made)
      let next = await updates.next()
      #expect(next != nil && next! === made)
    }
    #expect(MisuseLog.during { context.link(Made.self) == nil }.0)
    let after = await updates.next()
    #expect(after != nil && after! == nil)
  }

  /// What may be used anywhere is found elsewhere, under both types, as soon as it has been made.
  @MainActor @Test func whatIsMadeOnTheMainActorIsFoundElsewhere() async throws {
    context.register(Made.self, lifetime: .context) { @MainActor in Made() }.implements((any Alpha).self)
    let context = context
    #expect(await elsewhere { MisuseLog.during { context.link((any Alpha).self) == nil }.0 })
    let made = context.link(Made.self)
    #expect(await elsewhere { context.link((any Alpha).self) } === made)
  }

  private final class Safe: Local, @unchecked Sendable { var count = 0 }

  /// Off the main actor, what belongs to it is given only while it is kept, and only after it was asked for under the
  /// other type.
  @MainActor @Test(.silent, arguments: [UDILifetime.weak, .context])
  func elsewhereTheLatestInstanceCounts(_ lifetime: UDILifetime) async {
    context.register((any Local).self, lifetime: lifetime) { Safe() }.implements(Safe.self)
    let context = context
    let (first, safe) = (context.link((any Local).self), context.link(Safe.self))
    #expect(safe != nil && safe === first)
    #expect(await elsewhere { context.link(Safe.self) } === safe)
    context.reset()
    #expect(await elsewhere { context.link(Safe.self) } == nil)
    let next = context.link((any Local).self)
    #expect(next !== first)
    #expect(await elsewhere { context.link(Safe.self) } == nil)
    #expect(context.link(Safe.self) === next)
    #expect(await elsewhere { context.link(Safe.self) } === next)
    withExtendedLifetime((first, safe, next)) {}
  }

  // MARK: Threads

  @Test(arguments: [UDILifetime.weak, .context]) func threadsGetTheSameUnderEveryType(_ lifetime: UDILifetime) {
    for _ in 0..<50 {
      let context = UDIContext(tag: "context")
      let meeting = Meeting(4)
      context.register(Made.self, lifetime: lifetime) { Made() }.implements((any Alpha).self).implements(
        (any Beta).self)
      let linked = Locked<[Made?]>([])
      onThreads(4) { index in
        meeting.arrive()
        let made =
          switch index {
          case 0: context.link(Made.self)
          case 1: context.link((any Beta).self) as? Made
          default: context.link((any Alpha).self) as? Made
          }
        linked.withLock { $0.append(made) }
      }
      #expect(linked.withLock { made in made[0] != nil && made.allSatisfy { $0 === made[0] } })
    }
  }

  /// A thread that has asked for an instance before a reset does not bring it back.
  @Test func threadsLinkDuringResets() {
    context.register(Made.self, lifetime: .context) { Made() }.implements((any Alpha).self)
    let context = context
    for _ in 0..<50 {
      let meeting = Meeting(4)
      onThreads(4) { index in
        meeting.arrive()
        for _ in 0..<10 {
          if index == 0 { context.reset() } else { #expect(context.link((any Alpha).self) is Made) }
        }
      }
      #expect(context.link((any Alpha).self) === context.link(Made.self))
    }
  }

  private final class Hashed: Hashable, Sendable {
    static func == (left: Hashed, right: Hashed) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  /// The cast wraps the object in a value, which cannot be held weakly.
  @MainActor @Test func aValueAroundAWeakInstanceIsNotKept() {
    context.register(Hashed.self, lifetime: .weak) { Hashed() }.implements(AnyHashable.self)
    var hashed = context.link(Hashed.self)
    for _ in 0..<2 { #expect(context.link(AnyHashable.self) == hashed.map { AnyHashable($0) }) }
    weak let former = hashed
    hashed = nil
    #expect(former == nil && context.link(AnyHashable.self) != nil)
  }

  // MARK: The end

  @Test func anAliasEndsWithItsContext() {
    let (census, factories) = (Census(), Census())
    do {
      let context = UDIContext(tag: "brief")
      let held = Made("held by the factory", factories)
      context.register(Made.self, lifetime: .context) {
        withExtendedLifetime(held) { Made("a", census) }
      }.implements((any Alpha).self).implements((any Beta).self)
      #expect(context.link((any Alpha).self) === context.link((any Beta).self))
    }
    #expect(census.alive == 0 && factories.alive == 0)
  }

  /// An object that its context owns does not hold that context, under whatever type it was asked for.
  @Test func whatAnAliasServesDoesNotHoldItsOwner() {
    weak var owner: UDIContext?
    do {
      let context = UDIContext(tag: "owner")
      owner = context
      context.register(Member.self, lifetime: .context) { Member() }.implements((any Service).self)
      let member = context.link((any Service).self) as? Member
      #expect(member?.attachedContext === context)
    }
    #expect(owner == nil)
  }
}
