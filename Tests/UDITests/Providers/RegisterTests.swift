import Testing
import UDI

@Suite struct RegisterTests {
  let context = UDIContext(tag: "context")

  @Test func theTypeMayBeInferred() {
    context.register { Made("inferred") }
    context.register(lifetime: .context) { (_: UDIContext) in Member("member") }
    #expect(context.link(Made.self)?.label == "inferred")
    #expect(context.link(Member.self) === context.link(Member.self))
    @Sendable func perhaps() -> Plain? { Plain() }
    context.register { perhaps() }
    #expect(context.link(Plain.self) != nil)
  }

  final class Editor: Alpha {
    let service: any Service
    let loose: (any Loose)?
    init(_ service: any Service, _ loose: (any Loose)?) { (self.service, self.loose) = (service, loose) }
  }

  @Test func initialisersAreInjected() throws {
    context.register((any Service).self, lifetime: .context) { Made("service") }
    context.register((any Loose).self, named: "n") { Made("loose") }
    context.register((any Alpha).self) { context in
      try Editor(context.require(), context.require(named: "n"))
    }
    let editor = try #require(context.link((any Alpha).self) as? Editor)
    #expect(editor.service === context.link((any Service).self))
    #expect(editor.loose?.label == "loose")
    // Not the optional is looked for.
    let optional: (any Service)? = try context.require()
    #expect(optional === editor.service)
  }

  @Test func namesAreExact() {
    context.register((any Alpha).self, named: "x") { Made("x") }
    #expect(context.link((any Alpha).self) == nil)
    #expect(context.link((any Alpha).self, named: "y") == nil)
    #expect((context.link((any Alpha).self, named: "x") as? Made)?.label == "x")
  }

  @Test func aLiveBindingComesFirst() {
    context.register((any Service).self, lifetime: .context) { Made("made") }
    let made = context.link((any Service).self)
    var bound: Plain? = Plain()
    bound.map { context.bind($0, as: (any Service).self) }
    #expect(context.link((any Service).self) === bound)
    bound = nil
    #expect(context.link((any Service).self) === made)
    let second = Plain()
    context.bind(second, as: (any Service).self)
    context.unbind((any Service).self)
    #expect(context.link((any Service).self) === made)
  }

  @Test func providersTakePartInAllSearches() throws {
    let middle = try context.makeChild(tag: "middle")
    let (left, right) = (try middle.makeChild(tag: "left"), try middle.makeChild(tag: "right"))
    right.register((any Alpha).self, lifetime: .context) { context in Made(context.tag) }
    left.register((any Alpha).self, named: "left") { context in Made(context.tag) }
    #expect((context.link((any Alpha).self) as? Made)?.label == "right")
    #expect(context.link((any Alpha).self, search: .local) == nil)
    #expect(left.link((any Alpha).self) == nil)
    middle.register((any Alpha).self, lifetime: .context) { context in Made(context.tag) }
    #expect((context.link((any Alpha).self) as? Made)?.label == "middle")
    #expect((left.link((any Alpha).self, search: .ancestors) as? Made)?.label == "middle")
    middle.unregister((any Alpha).self)
    #expect((context.link((any Alpha).self) as? Made)?.label == "right")
    right.removeFromParent()
    #expect(context.link((any Alpha).self) == nil)
    try left.addChild(right)
    #expect((left.link((any Alpha).self) as? Made)?.label == "right")
  }

  @Test func registeringAgainDropsWhatWasMade() {
    let census = Census()
    context.register((any Alpha).self, lifetime: .context) { Made("old", census) }
    _ = context.link((any Alpha).self)
    #expect(census.alive == 1)
    context.register((any Alpha).self, lifetime: .context) { Made("new", census) }
    #expect(census.alive == 0)
    #expect((context.link((any Alpha).self) as? Made)?.label == "new")
  }

  @Test func unregisterTakesBackByKeyTypeAndHandle() {
    let census = Census()
    let key = UDIKey<any Alpha>(named: "k")
    let handle = context.register((any Alpha).self, named: "k", lifetime: .context) { Made("k", census) }
    #expect((context.link(key) as? Made)?.label == "k")
    #expect(handle.key == key)
    #expect(context.unregister(key) && !context.unregister(key))
    #expect(census.alive == 0 && context.link(key) == nil)

    let first = context.register((any Alpha).self) { Made("first") }
    let second = context.register((any Alpha).self) { Made("second") }
    // A handle never takes back a successor.
    #expect(!first.unregister())
    #expect((context.link((any Alpha).self) as? Made)?.label == "second")
    #expect(second.unregister() && context.link((any Alpha).self) == nil)
    let plain = Plain()
    context.bind(plain, as: (any Service).self)
    #expect(context.unregister((any Service).self) && context.link((any Service).self) == nil)
  }

  // MARK: What fails

  @Test func aFactoryMayThrow() {
    let line = #line + 1
    context.register((any Alpha).self) { () throws -> Made in throw OutOfOrder() }
    #expect(throws: OutOfOrder(code: 7)) { try context.require((any Alpha).self) }
    let (linked, misuse) = MisuseLog.during { context.link((any Alpha).self) }
    #expect(linked == nil)
    #expect(misuse.map(\.kind) == [.notMade] && misuse.first?.line == line && misuse.first?.fileID == #fileID)
    #expect(misuse.first?.message == "The factory of UDITests.Alpha threw: OutOfOrder(code: 7)")
  }

  @Test func aFactoryMayReturnNil() {
    for lifetime in [UDILifetime.unique, .graph, .weak, .context] {
      let name = UDIName(lifetime.name)
      context.register((any Alpha).self, named: name, lifetime: lifetime) { nil }
      let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, named: name) }
      #expect(error?.cause == .factoryReturnedNil)
      let (linked, misuse) = MisuseLog.during { context.link((any Alpha).self, named: name) }
      #expect(linked == nil && misuse.count == 1)
      #expect(misuse.first?.message.hasPrefix("The factory of UDITests.Alpha named ") == true)
    }
  }

  @Test func whatAMissSays() throws {
    func reason(_ body: () throws -> Any) -> String {
      do {
        _ = try body()
        return "found"
      } catch { return "\(error)" }
    }
    #expect(
      reason { try context.require((any Alpha).self) }.hasPrefix("No UDITests.Alpha is registered in this tree."))
    context.register((any Alpha).self, named: "x") { Made() }
    context.register((any Alpha).self, named: 5) { Made() }
    #expect(
      reason { try context.require((any Alpha).self) }.hasPrefix(
        #"No UDITests.Alpha without a name is registered in "context" and below, only one named "x" and one named 5."#
      ))
    context.register((any Beta).self) { (_, number: Int, text: String) in Made("\(number) \(text)") }
    #expect(
      reason { try context.require((any Beta).self, with: 5, 6) }.hasPrefix(
        """
        The provider of UDITests.Beta wants (Swift.Int, Swift.String) and got (Swift.Int, Swift.Int).
        """))
    #expect(reason { try context.require((any Beta).self) }.contains("and got no arguments."))
    context.registerOnMainActor((any Gamma).self) { Made() }
    onThreads(1) { [context] _ in
      let error = #expect(throws: UDILinkError.self) { try context.require((any Gamma).self) }
      #expect(error?.description.hasPrefix("UDITests.Gamma is made on the main actor only, and this lookup") == true)
    }
    // A plain miss is no misuse.
    let (_, misuse) = MisuseLog.during { context.link((any Service).self) }
    #expect(misuse.isEmpty)
  }

  // MARK: Other types

  @Test func oneInstanceServesOtherTypes() throws {
    for lifetime in [UDILifetime.context, .weak, .graph, .unique, UDILifetime("own")] {
      let context = UDIContext(tag: "context")
      let census = Census()
      context.register(Made.self, lifetime: lifetime) { Made("one", census) }
        .implements((any Alpha).self)
        .implements((any Beta).self, named: "b") { $0 }
      let (made, alpha) = (context.link(Made.self), context.link((any Alpha).self))
      let beta = context.link((any Beta).self, named: "b")
      #expect(alpha is Made && beta is Made)
      if lifetime == .unique || lifetime == .graph {
        #expect(census.everBorn == 3)
      } else {
        #expect(census.everBorn == 1 && alpha === made && beta === made)
        for _ in 0..<3 { #expect(context.link((any Alpha).self) === made) }
        context.reset()
        #expect(context.link((any Alpha).self) !== made)
        #expect(context.link((any Alpha).self) != nil)
      }
      withExtendedLifetime((made, alpha, beta)) {}
    }
  }

  @Test func otherTypesGoWithTheProvider() {
    let handle = context.register(Made.self, lifetime: .context) { Made() }.implements((any Alpha).self)
    #expect(context.link((any Alpha).self) != nil)
    context.register((any Alpha).self) { Made("own") }
    handle.unregister()
    #expect((context.link((any Alpha).self) as? Made)?.label == "own")
    context.register(Made.self) { Made() }.implements((any Beta).self)
    context.register(Made.self) { Made() }
    #expect(context.link((any Beta).self) == nil)
  }

  @Test func whatDoesNotConformIsAMissThatSaysSo() {
    context.register(Plain.self) { Plain() }.implements((any Alpha).self)
    let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
    #expect(error?.cause == .notConvertible(from: "UDITests.Plain"))
  }

  /// What `implements` captures is let go of with no lock held, however its registrations go.
  @Test func otherTypesThatWereTakenBackBeforeGoOrderly() {
    for isReplaced in [false, true] {
      let gone = Tally()
      let context = UDIContext(tag: "context")
      do {
        let captured = Farewell { [context] in
          _ = context.link((any Service).self)
          gone.add()
        }
        context.register(Made.self) { Made() }.implements((any Alpha).self) { made in
          _ = captured
          return made
        }
      }
      if isReplaced {
        context.register((any Alpha).self) { Made() }
      } else {
        context.unregister((any Alpha).self)
      }
      context.unregister(Made.self)
      #expect(gone.count == 1)
    }
  }

  struct Wrapped: Sendable { let made: Made }
  final class Wrapper: Gamma {
    let made: Made
    init(_ made: Made) { self.made = made }
  }

  @Test func otherTypesMayBeMadeOfTheInstance() {
    context.register(Made.self, lifetime: .weak) { Made() }
      .implements(Wrapped.self) { Wrapped(made: $0) }
      .implements((any Gamma).self) { Wrapper($0) }
    let made = context.link(Made.self)
    #expect(context.link(Wrapped.self)?.made === made)
    let wrapper = context.link((any Gamma).self)
    #expect(wrapper != nil && wrapper === context.link((any Gamma).self))

    let owner = UDIContext(tag: "owner")
    owner.register(Made.self, lifetime: .context) { Made() }.implements((any Gamma).self) { Wrapper($0) }
    let linked = Locked<[ObjectIdentifier]>([])
    onThreads(4) { _ in
      for _ in 0..<20 {
        if let gamma = owner.link((any Gamma).self) { linked.withLock { $0.append(ObjectIdentifier(gamma)) } }
      }
    }
    #expect(Set(linked.withLock { $0 }).count == 1)
  }

  @Test func aProviderDoesNotServeItself() async {
    await #expect(processExitsWith: .failure) {
      UDIContext(tag: "x").register(Plain.self) { Plain() }.implements(Plain.self)
    }
  }

  @Test func whatTheFactoryLackedIsReported() {
    context.register((any Alpha).self) { context in Made(parts: [try context.require((any Beta).self)]) }
    let (linked, misuse) = MisuseLog.during { context.link((any Alpha).self) }
    #expect(linked == nil && misuse.count == 1)
    #expect(
      misuse.first?.message.hasPrefix("No UDITests.Beta is registered in this tree. UDITests.Alpha needs it.") == true)
  }

  @Test func linkAllTakesEachRegistrationOnce() {
    context.register((any Alpha).self, lifetime: .context) { context in
      context.unregister((any Alpha).self, named: "b")
      return Made("u")
    }
    context.register((any Alpha).self, named: "b", lifetime: .context) { Made("b") }
    let (linked, misuse) = MisuseLog.during { context.linkAll((any Alpha).self) }
    #expect(linked.compactMap { ($0 as? Made)?.label } == ["u"])
    #expect(misuse.isEmpty)
  }

  @Test func aRegistrationThatWasTakenBackGivesNothing() {
    let bound = Plain()
    context.bind(bound, as: (any Service).self)
    let registration = context.registrations(of: (any Service).self)[0]
    #expect(registration.link() === bound)
    context.unbind((any Service).self)
    #expect(registration.link() == nil && registration.context == nil)
  }

  // MARK: linkAll, registrations

  @Test func linkAllGoesOverBindingsAndProviders() throws {
    let child = try context.makeChild(tag: "child")
    context.register((any Loose).self, lifetime: .context) { Made("1") }
    context.register((any Loose).self, named: "n") { LifetimeTests.LooseValue(label: "2") }
    let bound = Plain("3")
    child.bind(bound, as: (any Loose).self)
    child.register((any Loose).self) { Made("hidden") }
    child.register((any Loose).self, named: "fails") { () throws -> Made in throw OutOfOrder() }
    let (labels, misuse) = MisuseLog.during { context.linkAll((any Loose).self).map(\.label) }
    #expect(labels == ["1", "2", "3"])
    #expect(misuse.count == 1)
    withExtendedLifetime(bound) {}
  }

  @Test func aDeadBindingGivesWayToTheProviderInLinkAll() {
    context.register((any Service).self) { Made("made") }
    do {
      let plain = Plain()
      context.bind(plain, as: (any Service).self)
      #expect(context.linkAll((any Service).self).first === plain)
    }
    #expect(context.linkAll((any Service).self).first is Made)
  }

  struct Speed: Sendable, Comparable {
    let value: Int
    static func < (left: Speed, right: Speed) -> Bool { left.value < right.value }
  }

  @Test func registrationsAreFoundByMetadata() throws {
    let made = Tally()
    let child = try context.makeChild(tag: "child")
    context.register((any Alpha).self, named: "slow", metadata: Speed(value: 1)) { () -> Made in
      made.add()
      return Made("slow")
    }
    child.register((any Alpha).self, named: "fast", metadata: Speed(value: 9)) { Made("fast") }
    child.register((any Alpha).self, named: "text", metadata: "fast") { Made("text") }
    let bound = Made("bound")
    child.bind(bound, as: (any Alpha).self, metadata: Speed(value: 5))
    let all = context.registrations(of: (any Alpha).self)
    #expect(all.map(\.key.name) == ["slow", "fast", "text", nil])
    #expect(all.map(\.lifetime) == [.unique, .unique, .unique, nil])
    let fast = context.registrations(of: (any Alpha).self, where: { (speed: Speed) in speed > Speed(value: 4) })
    #expect(fast.map(\.key.name) == ["fast", nil])
    #expect(fast.map(\.context) == [child, child])
    #expect(fast.compactMap { ($0.link() as? Made)?.label } == ["fast", "bound"])
    #expect(made.count == 0)
    #expect(context.registrations(of: (any Alpha).self, search: .local).count == 1)
    fast[1].unregister()
    #expect(child.link((any Alpha).self) == nil)
    struct Odd: Error {}
    #expect(throws: Odd.self) {
      try context.registrations(of: (any Alpha).self, where: { (_: String) throws(Odd) in throw Odd() })
    }
  }
}
