import Testing
import UDI

@Suite struct LifetimeTests {
  let context = UDIContext(tag: "context")
  let census = Census()

  @Test func uniqueIsMadeAtEveryLink() {
    context.register((any Alpha).self, lifetime: .unique) { [census] in Made("a", census) }
    #expect(census.everBorn == 0)
    let (first, second) = (context.link((any Alpha).self), context.link((any Alpha).self))
    #expect(first != nil && first !== second)
    #expect(census.everBorn == 2 && census.alive == 2)
  }

  @Test func uniqueKeepsNothing() {
    context.register((any Alpha).self, lifetime: .unique) { [census] in Made("a", census) }
    _ = context.link((any Alpha).self)
    #expect(census.everBorn == 1 && census.alive == 0)
  }

  @Test func contextIsTheDefault() async throws {
    let registrations = [
      context.register((any Alpha).self) { [census] in Made("a", census) }.lifetime,
      context.register((any Beta).self) { [census] () async in Made("b", census) }.lifetime,
      context.register((any Gamma).self, using: { [census] (_: any Alpha) in Made("c", census) }).lifetime,
    ]
    #expect(registrations == [.context, .context, .context] && context.defaultLifetime == .context)
    let child = try context.makeChild(tag: "child", search: .ancestors)
    #expect(child.link((any Alpha).self) === context.link((any Alpha).self))
    #expect(try await child.obtain((any Beta).self) === context.obtain((any Beta).self))
    #expect(child.link((any Gamma).self) === context.link((any Gamma).self))
    #expect(census.everBorn == 3 && census.alive == 3)
    try await context.close()
    #expect(census.alive == 0)
  }

  @Test func graphIsSharedWithinOneOutermostLink() throws {
    context.register((any Gamma).self, lifetime: .graph) { [census] in Made("c", census) }
    for name in ["1", "2"] {
      context.register((any Beta).self, named: UDIName(name), lifetime: .unique) { [census] context in
        Made("b", census, parts: [try context.require((any Gamma).self)])
      }
    }
    context.register((any Alpha).self, lifetime: .unique) { [census] context in
      Made(
        "a", census,
        parts: [
          try context.require((any Beta).self, named: "1"), try context.require((any Beta).self, named: "2"),
          try context.require((any Gamma).self),
        ])
    }
    func gammas(_ made: (any Alpha)?) throws -> [Made] {
      let parts = try #require(made as? Made).parts.compactMap { $0 as? Made }
      return [try #require(parts[0].parts[0] as? Made), try #require(parts[1].parts[0] as? Made), parts[2]]
    }
    let (first, second) = (try gammas(context.link((any Alpha).self)), try gammas(context.link((any Alpha).self)))
    #expect(first[0] === first[1] && first[1] === first[2])
    #expect(second[0] === second[1] && second[0] !== first[0])
    #expect(context.link((any Gamma).self) !== first[0])
  }

  @Test func aGraphLeavesNothingBehind() {
    context.register((any Gamma).self, lifetime: .graph) { [census] in Made("c", census) }
    context.register((any Beta).self, lifetime: .graph) { [census] context in
      Made("b", census, parts: [context.link((any Gamma).self) as (any Gamma)?])
    }
    for _ in 0..<10_000 { _ = context.link((any Beta).self) }
    #expect(census.everBorn == 20_000 && census.alive == 0)
  }

  @Test func weakIsKeptAsLongAsSomebodyHoldsIt() {
    context.register((any Alpha).self, lifetime: .weak) { [census] in Made("a", census) }
    var held = context.link((any Alpha).self)
    #expect(held === context.link((any Alpha).self) && census.everBorn == 1)
    held = nil
    #expect(census.alive == 0)
    held = context.link((any Alpha).self)
    #expect(held === context.link((any Alpha).self) && census.everBorn == 2)
  }

  @Test func contextOwnsWhatItMade() {
    var context: UDIContext? = UDIContext(tag: "owner")
    context?.register((any Alpha).self, lifetime: .context) { [census] in Made("a", census) }
    let address = context?.link((any Alpha).self).map { ObjectIdentifier($0) }
    #expect(address == context?.link((any Alpha).self).map { ObjectIdentifier($0) })
    #expect(census.everBorn == 1 && census.alive == 1)
    context = nil
    #expect(census.alive == 0)
  }

  @Test func contextGivesItsOwnContextToTheFactory() throws {
    let child = try context.makeChild(tag: "child")
    let seen = Locked<[String]>([])
    func note(_ context: UDIContext) -> Made {
      seen.withLock { $0.append(context.tag) }
      return Made()
    }
    let noteIt: @Sendable (UDIContext) -> Made = { context in
      seen.withLock { $0.append(context.tag) }
      return Made()
    }
    for (name, lifetime) in [
      ("u", UDILifetime.unique), ("g", .graph), ("w", .weak), ("c", .context), ("s", .init("s")),
    ] {
      child.register((any Alpha).self, named: UDIName(name), lifetime: lifetime, noteIt)
      withExtendedLifetime(context.link((any Alpha).self, named: UDIName(name))) {}
    }
    #expect(seen.withLock { $0 } == ["context", "context", "child", "child", "child"])
  }

  /// A registration looks into the graph, as a lookup does, also when the class of the instances is known.
  @Test func aRegistrationSharesTheGraph() throws {
    context.register((any Gamma).self, lifetime: .graph) { [census] in Made("c", census) }
    context.register((any Beta).self, lifetime: .unique) { [census] context in
      let linked = context.link((any Gamma).self)
      let registration = try #require(context.registrations(of: (any Gamma).self).first)
      #expect(registration.link() === linked && registration.link() === linked)
      #expect(context.link((any Gamma).self) === linked)
      return Made("b", census)
    }
    for _ in 0..<3 { _ = try context.require((any Beta).self) }
    #expect(census.everBorn == 6)
  }

  @Test func aLifetimeOfOnesOwnIsResetByName() {
    let session = UDILifetime("session")
    context.register((any Alpha).self, lifetime: session) { [census] in Made("a", census) }
    context.register((any Beta).self, lifetime: .context) { [census] in Made("b", census) }
    let (first, kept) = (context.link((any Alpha).self), context.link((any Beta).self))
    #expect(context.link((any Alpha).self) === first)
    context.reset(UDILifetime("session"))
    #expect(context.link((any Alpha).self) !== first)
    #expect(context.link((any Beta).self) === kept)
    #expect(UDILifetime("context") != .context && UDILifetime("session") == session)
    #expect("\(session) \(UDILifetime.weak)" == "session weak")
    #expect(Set([session, UDILifetime("session"), .context]).count == 2)
  }

  @Test func aWeakLifetimeOfOnesOwn() {
    context.register((any Alpha).self, lifetime: UDILifetime("w", storage: .weak)) { [census] in Made("a", census) }
    var held = context.link((any Alpha).self)
    #expect(held === context.link((any Alpha).self))
    held = nil
    #expect(census.alive == 0)
  }

  /// Keeps each instance for a number of loads.
  final class Uses: UDIStorage {
    private let state = Locked<(made: UDIMade, left: Int)?>(nil)
    private let resets: Tally
    init(_ resets: Tally) { self.resets = resets }
    func load() -> UDIMade? {
      state.withLock { state in
        guard let (made, left) = state, left > 0 else { return nil }
        state = (made, left - 1)
        return made
      }
    }
    func store(_ made: UDIMade) { state.withLock { $0 = (made, 2) } }
    func reset() {
      resets.add()
      state.withLock { $0 = nil }
    }
  }

  @Test func aStorageOfOnesOwnDecides() {
    let resets = Tally()
    let fewUses = UDILifetime("few uses", storage: .custom { Uses(resets) })
    context.register((any Alpha).self, lifetime: fewUses) { [census] in Made("a", census) }
    let linked = (0..<6).map { _ in context.link((any Alpha).self) }
    #expect(linked[0] === linked[1] && linked[1] === linked[2] && linked[3] === linked[5] && linked[2] !== linked[3])
    #expect(census.everBorn == 2)
    context.reset(fewUses)
    #expect(resets.count == 1)
    #expect(context.link((any Alpha).self) !== linked[3])
    context.unregister((any Alpha).self)
    #expect(resets.count == 2)
  }

  @Test func resetConcernsThisContextOnly() throws {
    let child = try context.makeChild(tag: "child", search: .ancestors)
    context.register((any Alpha).self, lifetime: .context) { [census] in Made("a", census) }
    child.register((any Beta).self, lifetime: .context) { [census] in Made("b", census) }
    let (a, b) = (child.link((any Alpha).self), child.link((any Beta).self))
    child.reset()
    #expect(child.link((any Alpha).self) === a)
    #expect(child.link((any Beta).self) !== b)
    context.reset()
    #expect(child.link((any Alpha).self) !== a)
  }

  @Test func aChildFindsItsParentsInstance() throws {
    context.register((any Alpha).self, lifetime: .context) { Made() }
    let children = try (0..<3).map { try context.makeChild(tag: "\($0)", search: .ancestors) }
    let linked = children.map { $0.link((any Alpha).self) }
    #expect(linked[0] != nil && linked[0] === linked[1] && linked[1] === linked[2])
  }

  @Test func theDefaultLifetimeIsHandedOn() throws {
    let existing = try context.makeChild(tag: "existing")
    context.defaultLifetime = .unique
    let child = try context.makeChild(tag: "child")
    #expect(child.defaultLifetime == .unique)
    #expect(try child.makeScope(tag: "scope").defaultLifetime == .unique)
    let registration = child.register((any Alpha).self) { Made() }
    #expect(registration.lifetime == .unique)
    #expect(child.link((any Alpha).self) !== child.link((any Alpha).self))
    // What exists already keeps what it has.
    context.defaultLifetime = .weak
    #expect(child.defaultLifetime == .unique && registration.lifetime == .unique)
    #expect(existing.defaultLifetime == .context && UDIContext(tag: "x").defaultLifetime == .context)
    #expect(existing.register((any Alpha).self) { Made() }.lifetime == .context)
  }

  @Test func anOverrideBelowIsNotSeenByTheParentsService() throws {
    let child = try context.makeChild(tag: "child", search: .ancestors)
    context.register((any Beta).self, lifetime: .context) { Made("parent's") }
    context.register((any Alpha).self, lifetime: .context) { context in
      Made("service", parts: [try context.require((any Beta).self, search: .ancestors)])
    }
    child.register((any Beta).self, lifetime: .context) { Made("child's") }
    let service = try #require(child.link((any Alpha).self) as? Made)
    #expect((service.parts[0] as? Made)?.label == "parent's")
    #expect((child.link((any Beta).self) as? Made)?.label == "child's")
    #expect(service === context.link((any Alpha).self))
  }

  @Test func aFreshOneDisturbsNothing() {
    for lifetime in [UDILifetime.unique, .graph, .weak, .context, UDILifetime("own")] {
      let name = UDIName(lifetime.name)
      context.register((any Alpha).self, named: name, lifetime: lifetime) { Made() }
      let kept = context.link((any Alpha).self, named: name)
      let fresh = context.link((any Alpha).self, named: name, fresh: true)
      #expect(fresh != nil && fresh !== kept)
      if lifetime != .unique, lifetime != .graph { #expect(context.link((any Alpha).self, named: name) === kept) }
    }
    let bound = Made("bound")
    context.bind(bound, as: (any Alpha).self, named: "context")
    #expect(context.link((any Alpha).self, named: "context") === bound)
    #expect(context.link((any Alpha).self, named: "context", fresh: true) !== bound)
    #expect(context.link((any Beta).self, fresh: true) == nil)
  }

  @Test func objectsAskForAFreshOneAsContextsDo() {
    let member = Member().attached(to: context)
    context.register((any Alpha).self, lifetime: .context) { Made() }
    context.register((any Beta).self, lifetime: .context) { (_, number: Int) in Made("\(number)") }
    let (kept, keptWith) = (context.link((any Alpha).self), context.link((any Beta).self, with: 5))
    let fresh = member.link((any Alpha).self, fresh: true)
    #expect(fresh != nil && fresh !== kept)
    let freshWith = member.link((any Beta).self, fresh: true, with: 5)
    #expect((freshWith as? Made)?.label == "5" && freshWith !== keptWith)
    #expect(context.link((any Alpha).self) === kept && context.link((any Beta).self, with: 5) === keptWith)
  }

  /// A parameter that the caller computes. If it is false, the lookup is an ordinary one.
  @Test func whatNeedNotBeFreshIsTheOneThatIsKept() {
    let member = Member().attached(to: context)
    context.register((any Alpha).self, lifetime: .context) { Made() }
    context.register((any Beta).self, lifetime: .context) { (_, number: Int) in Made("\(number)") }
    let (kept, keptWith) = (context.link((any Alpha).self), context.link((any Beta).self, with: 5))
    #expect(context.link((any Alpha).self, fresh: false) === kept)
    #expect(member.link((any Alpha).self, fresh: false) === kept)
    #expect(context.link((any Beta).self, fresh: false, with: 5) === keptWith)
    #expect(member.link((any Beta).self, fresh: false, with: 5) === keptWith)
    let bound = Made("bound")
    context.bind(bound, as: (any Alpha).self)
    #expect(context.link((any Alpha).self, fresh: false) === bound)
    #expect(member.link((any Alpha).self, fresh: false) === bound)
  }

  // MARK: Values

  struct Settings: Sendable, Hashable {
    var volume = 1
    var text = "a text that is longer than fifteen bytes"
  }

  @Test func valuesUnderEveryLifetime() {
    let made = Tally()
    for lifetime in [UDILifetime.unique, .graph, .context, UDILifetime("own")] {
      let name = UDIName(lifetime.name)
      context.register(Settings.self, named: name, lifetime: lifetime) {
        made.add()
        return Settings(volume: made.count)
      }
      let before = made.count
      let (first, second) = (context.link(Settings.self, named: name), context.link(Settings.self, named: name))
      #expect(first?.volume == before + 1)
      #expect(first?.text == Settings().text)
      #expect((first == second) == (lifetime != .unique && lifetime != .graph))
    }
    context.register(Int.self, lifetime: .context) { 42 }
    context.register((any Loose).self, lifetime: .context) { LooseValue(label: "value") }
    for _ in 0..<2 {
      #expect(context.link(Int.self) == 42)
      #expect(context.link((any Loose).self)?.label == "value")
    }
  }

  struct Number: Sendable, Equatable { let value: Int }

  /// A value in the graph is made once in a link, under whichever type it is registered.
  @Test func valuesAreSharedWithinOneLink() {
    let made = Tally()
    context.register(Number.self, lifetime: .graph) {
      made.add()
      return Number(value: made.count)
    }
    context.register((any Loose).self, lifetime: .graph) {
      made.add()
      return LooseValue(label: "\(made.count)")
    }
    context.register((any Error).self, lifetime: .graph) {
      made.add()
      return OutOfOrder(code: made.count)
    }
    let seen = Locked<[[String]]>([])
    context.register((any Beta).self, lifetime: .unique) { context in
      let error = try context.require((any Error).self) as? OutOfOrder
      let labels = [
        "\(try context.require(Number.self).value)", try context.require((any Loose).self).label,
        "\(error?.code ?? 0)", "\(context.linkAll(Number.self).map(\.value))",
      ]
      seen.withLock { $0.append(labels) }
      return Made()
    }
    context.register((any Alpha).self, lifetime: .unique) { context in
      Made(parts: [try context.require((any Beta).self), try context.require((any Beta).self)])
    }
    #expect(context.link((any Alpha).self) != nil)
    #expect(context.link((any Alpha).self) != nil)
    let first = ["2", "3", "1", "[2]"]
    let second = ["5", "6", "4", "[5]"]
    #expect(seen.withLock { $0 } == [first, first, second, second])
  }

  /// Two types that are one dependency: what is kept as one type cannot be read as the other without a cast.
  @Test func objectsOfTypesThatShareTheirNameAreSharedWithinOneLink() {
    typealias Brief = (() -> Void) -> Void
    typealias Lasting = (@escaping () -> Void) -> Void
    final class Box<Content>: Sendable {}
    for isFirst in [true, false] {
      let made = Tally()
      func register<Content>(_: Content.Type) {
        context.register(Box<Content>.self, lifetime: .graph) {
          made.add()
          return Box<Content>()
        }
        context.register((any Alpha).self, lifetime: .unique) { context in
          Made(parts: (0..<3).map { _ in context.link(Box<Content>.self) })
        }
      }
      if isFirst { register(Brief.self) } else { register(Lasting.self) }
      for round in 1...3 {
        #expect(context.link((any Alpha).self) != nil)
        #expect(made.count == round)
      }
    }
  }

  struct LooseValue: Loose { let label: String }

  @Test func aValueUnderWeakIsMadeAnewAndReported() {
    let made = Tally()
    let line = #line + 1
    context.register(Settings.self, lifetime: .weak) {
      made.add()
      return Settings(volume: made.count)
    }
    let (linked, misuse) = MisuseLog.during { (0..<2).map { _ in context.link(Settings.self)?.volume } }
    #expect(linked == [1, 2])
    #expect(misuse.map(\.kind) == [.valueHeldWeakly, .valueHeldWeakly])
    #expect(misuse.first?.line == line && misuse.first?.fileID == #fileID)
    #expect(misuse.first?.message.contains("only class instances can be kept weakly") == true)
  }

  @Test func valuesOfClassesThatAreStoredOtherwise() {
    final class Failure: Error, Sendable {}
    context.register((any Error).self, lifetime: .context) { Failure() }
    context.register((any Error).self, named: "weak", lifetime: .weak) { Failure() }
    let first = context.link((any Error).self) as? Failure
    #expect(first != nil && first === context.link((any Error).self) as? Failure)
    let held = context.link((any Error).self, named: "weak") as? Failure
    #expect(held != nil && held === context.link((any Error).self, named: "weak") as? Failure)
  }
}
