import Testing
import UDI

@Suite struct RegisterTests {
  let context = UDIContext(tag: "context")

  protocol Lettered: AnyObject, Sendable { var letter: String { get } }
  protocol Numbered: AnyObject, Sendable { var number: Int { get } }
  protocol Priced: AnyObject, Sendable { var price: Int { get } }
  final class Item: Lettered, Numbered, Priced { let (letter, number, price) = ("i", 7, 9) }

  /// A reference to a type of two protocols takes three words, and the last one is needed to use the second protocol.
  /// The two types take turns, so that nothing is right because it was there before.
  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context])
  func typesOfTwoProtocolsAreWhole(_ lifetime: UDILifetime) {
    context.register((any Lettered & Numbered).self, lifetime: lifetime) { Item() }
    context.register((any Lettered & Priced).self, lifetime: lifetime) { _ in Item() }
    context.register((any Lettered & Numbered).self, named: "with", lifetime: lifetime) { (_, _: Int) in Item() }
    context.register((any Lettered & Priced).self, named: "with", lifetime: lifetime) { (_, _: Int) in Item() }
    for _ in 0..<3 {
      let numbered = context.link((any Lettered & Numbered).self)
      let priced = context.link((any Lettered & Priced).self)
      #expect(numbered?.letter == "i" && numbered?.number == 7 && priced?.letter == "i" && priced?.price == 9)
      let numberedWith = context.link((any Lettered & Numbered).self, named: "with", with: 1)
      let pricedWith = context.link((any Lettered & Priced).self, named: "with", with: 1)
      #expect(numberedWith?.letter == "i" && numberedWith?.number == 7)
      #expect(pricedWith?.letter == "i" && pricedWith?.price == 9)
    }
  }

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
    // The lookup is not for the optional.
    let optional: (any Service)? = try context.require()
    #expect(optional === editor.service)
  }

  @Test func aRegistrationSaysWhatItIsAndWhere() throws {
    let line = #line + 1
    let registration = context.register((any Service).self, named: "x", lifetime: .context) { Made("made") }
    #expect(
      "\(registration)"
        == #"provider (context) of UDITests.Service named "x", registered at \#(#fileID):\#(line)"#)
    let plain = Plain()
    context.bind(plain, as: (any Other).self)
    let binding = try #require(context.registrations(of: (any Other).self).first)
    #expect("\(binding)" == "binding of UDITests.Other, bound at \(#fileID):\(line + 5)")
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
    context.register((any Alpha).self, lifetime: .context, replaces: true) { Made("new", census) }
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
    let second = context.register((any Alpha).self, replaces: true) { Made("second") }
    // A handle never takes back the registration that replaced its own.
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

  /// Nil is an answer, not a misuse.
  @Test func aFactoryMayReturnNil() {
    for lifetime in [UDILifetime.unique, .graph, .weak, .context] {
      let name = UDIName(lifetime.name)
      context.register((any Alpha).self, named: name, lifetime: lifetime) { nil }
      let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, named: name) }
      #expect(error?.cause == .factoryReturnedNil)
      let (linked, misuse) = MisuseLog.during { context.link((any Alpha).self, named: name) }
      #expect(linked == nil && misuse.isEmpty)
    }
    context.register((any Alpha).self) { (_, _: Int) in nil }.implements((any Gamma).self)
    let (others, misuse) = MisuseLog.during {
      (
        context.link((any Alpha).self, with: 5), context.link((any Alpha).self, fresh: true, with: 5),
        context.link((any Gamma).self, with: 5),
        context.registrations(of: (any Alpha).self).map { $0.key.name == nil ? nil : $0.link() }
      )
    }
    #expect(others.0 == nil && others.1 == nil && others.2 == nil)
    #expect(others.3.count == 5 && others.3.allSatisfy { $0 == nil })
    #expect(misuse.isEmpty)
    // `require` says that it could not be made.
    context.register((any Beta).self) { context in Made(parts: [try context.require((any Alpha).self, named: "unique")])
    }
    let (beta, complaints) = MisuseLog.during { context.link((any Beta).self) }
    #expect(beta == nil && complaints.map(\.kind) == [.notMade])
    #expect(complaints.first?.message.contains("UDITests.Beta needs it.") == true)
  }

  /// Once a class is known, what a factory returns is not examined any more; but nil is.
  @Test(arguments: [UDILifetime.unique, .graph]) func nilAfterAnInstance(_ lifetime: UDILifetime) {
    let calls = Tally()
    context.register(Made.self, lifetime: lifetime) { () throws -> Made? in
      calls.add()
      switch calls.count % 3 {
      case 0: throw OutOfOrder()
      case 1: return Made()
      default: return nil
      }
    }
    for _ in 0..<3 {
      #expect(context.link(Made.self) != nil)
      #expect(context.link(Made.self) == nil)
      #expect(MisuseLog.during { context.link(Made.self) }.0 == nil)
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
        #"No UDITests.Alpha without a name is registered in "context" and below, only one named "Swift.Int 5" and one named "x"."#
      ))
    context.register((any Beta).self) { (_, number: Int, text: String) in Made("\(number) \(text)") }
    #expect(
      reason { try context.require((any Beta).self, with: 5, 6) }.hasPrefix(
        """
        The provider of UDITests.Beta wants (Swift.Int, Swift.String) and got (Swift.Int, Swift.Int).
        """))
    #expect(reason { try context.require((any Beta).self) }.contains("and got no arguments."))
    context.register((any Gamma).self) { @MainActor in Made() }
    onThreads(1) { [context] _ in
      let error = #expect(throws: UDILinkError.self) { try context.require((any Gamma).self) }
      #expect(
        error?.description.hasPrefix("The factory of UDITests.Gamma belongs to the main actor. This lookup ran") == true
      )
    }
    // A plain miss is not a misuse.
    let (_, misuse) = MisuseLog.during { context.link((any Service).self) }
    #expect(misuse.isEmpty)
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

  /// Two types that are one dependency, because they have the same name: an object of one is never handed out as the
  /// other.
  @Test func registrationsOfTypesThatShareTheirNameAreCast() {
    typealias Brief = (() -> Void) -> Void
    typealias Lasting = (@escaping () -> Void) -> Void
    final class Box<Content>: Sendable {}
    let (brief, lasting) = (Box<Brief>(), Box<Lasting>())
    func check<Other>(_ box: Box<Other>) {
      for isBound in [true, false] {
        let context = UDIContext(tag: "context")
        if isBound {
          context.bind(box, as: Box<Other>.self)
        } else {
          context.register(Box<Other>.self, lifetime: .context) { box }
        }
        let (asBrief, asLasting) = (
          context.registrations(of: Box<Brief>.self), context.registrations(of: Box<Lasting>.self)
        )
        #expect(asBrief.count == 1 && asLasting.count == 1)
        #expect(
          asBrief.first?.link().map { ObjectIdentifier($0) == ObjectIdentifier(brief) }
            == (box is Box<Brief> ? true : nil))
        #expect(
          asLasting.first?.link().map { ObjectIdentifier($0) == ObjectIdentifier(lasting) }
            == (box is Box<Lasting> ? true : nil))
      }
    }
    check(brief)
    check(lasting)
  }

  /// However the context lost its parent.
  @Test func aRegistrationKnowsItsContextAsLongAsThatLives() throws {
    let bound = Plain()
    func listed(_ make: (UDIContext) throws -> UDIContext) rethrows -> (UDIContext, UDIRegistration<any Service>) {
      let root = UDIContext(tag: "root")
      let child = try make(root)
      child.multiBind(bound, as: (any Service).self)
      return (child, root.registrations(of: (any Service).self)[0])
    }
    // The parent dies at the end of each of these calls.
    let (child, registration) = try listed { try $0.makeChild(tag: "child") }
    #expect(registration.context === child)
    let (below, other) = try listed { try $0.makeChild(tag: "middle").makeChild(tag: "below") }
    #expect(other.context === below)
    let root = UDIContext(tag: "root")
    try root.addChild(child)
    #expect(registration.context === child)
    root.removeChild(child)
    #expect(registration.context === child)
    try below.addChild(child)
    below.removeChild(tag: "child")
    #expect(registration.context === child && registration.link() === bound)

    // A root lists what is bound in itself, and a child lists what is above it.
    let alone = UDIContext(tag: "alone")
    alone.multiBind(bound, as: (any Service).self)
    #expect(alone.registrations(of: (any Service).self)[0].context === alone)
    let leaf = try alone.makeChild(tag: "leaf", search: .ancestors)
    #expect(leaf.registrations(of: (any Service).self)[0].context === alone)
    leaf.multiBind(bound, as: (any Service).self)
    let own = leaf.registrations(of: (any Service).self, search: .local)[0]
    leaf.removeFromParent()
    #expect(own.context === leaf)
    own.unregister()
    #expect(own.context == nil)
  }

  /// However the context lost its parent, although no list of registrations was asked for.
  @Test func theRegistrationOfAProviderKnowsItsContext() throws {
    func registered(_ make: (UDIContext) throws -> UDIContext) rethrows -> (UDIContext, UDIRegistration<any Alpha>) {
      let child = try make(UDIContext(tag: "root"))
      return (child, child.register((any Alpha).self, lifetime: .context) { Made() })
    }
    // The parent dies at the end of each of these calls.
    let (child, registration) = try registered { try $0.makeChild(tag: "child") }
    #expect(registration.context === child && registration.link() != nil)
    let (below, other) = try registered { try $0.makeChild(tag: "middle").makeChild(tag: "below") }
    #expect(other.context === below && other.link() != nil)
    let root = UDIContext(tag: "root")
    let third = try root.makeChild(tag: "third")
    let provided = third.provide(Made())
    root.removeChild(third)
    #expect(provided.context === third && provided.link() != nil)
  }

  /// A registration keeps nothing that the context owned, whatever it was made with.
  @Test func whatAContextOwnedGoesWithItAlthoughItsRegistrationsAreHeld() {
    let census = Census()
    let storage = StorageTests.Scripted()
    var held: [UDIRegistration<any Alpha>] = []
    do {
      let context = UDIContext(tag: "brief")
      held.append(context.register((any Alpha).self, lifetime: .context) { Made("kept", census) })
      held.append(context.register((any Alpha).self, named: "given", lifetime: .context) { Made("given", census) })
      held.append(
        context.register((any Alpha).self, named: "number", lifetime: .context) { (_, _: Int) in Made("n", census) })
      held.append(
        context.register((any Alpha).self, named: "own", lifetime: storage.lifetime) { Made("own", census) })
      for name in ["given", "own"] as [UDIName] { #expect(context.link((any Alpha).self, named: name) != nil) }
      #expect(context.link((any Alpha).self) != nil)
      #expect(context.link((any Alpha).self, named: "number", with: 5) != nil)
      #expect(census.alive == 4)
    }
    #expect(census.alive == 0 && storage.isEmpty)
    #expect(held.allSatisfy { $0.context == nil && $0.link() == nil && !$0.unregister() })
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
    context.register((any Alpha).self, named: "slow") { () -> Made in
      made.add()
      return Made("slow")
    }.metadata(Speed(value: 1))
    child.register((any Alpha).self, named: "fast") { Made("fast") }.metadata(Speed(value: 9))
    child.register((any Alpha).self, named: "text") { Made("text") }.metadata("fast")
    let bound = Made("bound")
    child.bind(bound, as: (any Alpha).self, metadata: Speed(value: 5))
    let all = context.registrations(of: (any Alpha).self)
    #expect(all.map(\.key.name) == ["slow", "fast", "text", nil])
    #expect(all.map(\.lifetime) == [.context, .context, .context, nil])
    let fast = all.filter { ($0.metadata as? Speed).map { $0 > Speed(value: 4) } == true }
    #expect(fast.map(\.key.name) == ["fast", nil])
    #expect(fast.map(\.context) == [child, child])
    #expect(fast.compactMap { ($0.link() as? Made)?.label } == ["fast", "bound"])
    #expect(made.count == 0)
    #expect(context.registrations(of: (any Alpha).self, search: .local).count == 1)
    fast[1].unregister()
    #expect(child.link((any Alpha).self) == nil)
  }
}
