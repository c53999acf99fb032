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
        context.linkAll((any Alpha).self, named: "context"), context.link((any Gamma).self, with: 5),
        context.registrations(of: (any Alpha).self).map { $0.key.name == nil ? nil : $0.link() }
      )
    }
    #expect(others.0 == nil && others.1 == nil && others.2.isEmpty && others.3 == nil)
    #expect(others.4.count == 5 && others.4.allSatisfy { $0 == nil })
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

  @Test func aProviderThatServesOtherTypesGoesWithItsContext() {
    let (census, factories) = (Census(), Census())
    do {
      let context = UDIContext(tag: "brief")
      let held = Made("held by the factory", factories)
      context.register(Made.self, lifetime: .context) {
        withExtendedLifetime(held) { Made("a", census) }
      }.implements((any Alpha).self) { $0 }.implements((any Beta).self) { $0 }
      #expect(context.link((any Alpha).self) === context.link((any Beta).self))
    }
    #expect(census.alive == 0 && factories.alive == 0)
  }

  /// A fresh instance is converted, although there is a conversion of the one that is kept.
  @Test func aFreshInstanceIsConvertedToo() {
    context.register(Made.self, lifetime: .context) { Made() }.implements(Wrapper.self) { Wrapper($0) }
    let kept = context.link(Wrapper.self)
    #expect(kept?.made === context.link(Made.self))
    let fresh = context.link(Wrapper.self, fresh: true)
    #expect(fresh !== kept && fresh?.made !== kept?.made)
    #expect(context.link(Wrapper.self) === kept)
  }

  @Test func whatDoesNotConformIsAMissThatSaysSo() {
    context.register(Plain.self) { Plain() }.implements((any Alpha).self)
    let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
    #expect(error?.cause == .notConvertible(from: "UDITests.Plain"))
  }

  /// What `implements` captures is released while no lock is held, however its registrations go.
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

  final class Model: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  /// Made from a model, which it does not hold.
  final class View: Gamma {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  /// A conversion that its context owns does not hold that context, whenever it is attached.
  @Test(arguments: [false, true]) func aConversionDoesNotKeepItsOwner(_ isAttachedBefore: Bool) {
    weak var owner: UDIContext?
    do {
      let context = UDIContext(tag: "owner")
      owner = context
      context.register(Plain.self, lifetime: .context) { Plain() }
        .implements((any Service).self) { [weak context] _ in
          let member = Member("conversion")
          if isAttachedBefore, let context { member.attach(to: context) }
          return member
        }
      let member = context.link((any Service).self) as? Member
      if !isAttachedBefore { member?.attach(to: context) }
      #expect(member?.attachedContext === context)
    }
    #expect(owner == nil)
  }

  /// Off the main actor, what was made from an instance that was reset, or replaced, is not given any more either.
  @MainActor @Test(.silent) func elsewhereTheLatestConversionCounts() async throws {
    context.register(Counter.self, lifetime: .weak) { Counter() }.implements(View.self) { View($0.count) }
    let (model, view) = (context.link(Counter.self), context.link(View.self))
    let context = context
    #expect(await elsewhere { context.link(View.self) } === view)
    context.reset()
    #expect(await elsewhere { context.link(View.self) } == nil)
    let newer = context.link(Counter.self)
    #expect(newer !== model)
    #expect(await elsewhere { context.link(View.self) } == nil)
    let latest = context.link(View.self)
    #expect(await elsewhere { context.link(View.self) } === latest)
    withExtendedLifetime((model, view, newer, latest)) {}
  }

  /// What was made from an instance that is gone is not given any more, even if somebody holds it.
  @Test func whatIsMadeOfAWeakInstanceGoesWithIt() {
    let made = Tally()
    context.register(Model.self, lifetime: .weak) {
      made.add()
      return Model(made.count)
    }
    .implements(View.self) { View($0.number) }
    .implements(Int.self) { $0.number }
    var views: [View?] = []
    for round in 1...20 {
      // The next instance may well have the same address.
      let model = context.link(Model.self)
      #expect(model?.number == round)
      for _ in 0..<2 { views.append(context.link(View.self)) }
      #expect(views.suffix(2).map { $0?.number } == [round, round])
      #expect(views[views.count - 1] === views[views.count - 2])
      #expect(context.link(Int.self) == round)
      withExtendedLifetime(model) {}
    }
    // Nobody holds a model now.
    #expect(context.link(View.self)?.number == 21)
    #expect(context.link(View.self)?.number == 22)
    #expect(context.link(Int.self) == 23)
    withExtendedLifetime(views) {}
  }

  /// What is made from an instance does not keep the instance alive, and the alias does not keep what was made.
  @Test func whatIsMadeOfAWeakInstanceIsKeptWeakly() {
    let converted = Tally()
    context.register(Model.self, lifetime: .weak) { Model(1) }
      .implements(View.self) { model in
        converted.add()
        return View(model.number)
      }
    let model = context.link(Model.self)
    weak var view: View?
    do {
      let held = context.link(View.self)
      #expect(held != nil && held === context.link(View.self) && converted.count == 1)
      view = held
    }
    #expect(view == nil)
    #expect(context.link(View.self) != nil && converted.count == 2)
    withExtendedLifetime(model) {}
  }

  @Test func whatIsMadeOfWhatWasMadeOfAWeakInstance() {
    let converted = Tally()
    context.register(Model.self, lifetime: .weak) { Model(1) }.implements(View.self) { View($0.number) }
    context.registrations(of: View.self)[0].implements((any Gamma).self) { _ in
      converted.add()
      return Made()
    }
    let (model, view) = (context.link(Model.self), context.link(View.self))
    let gamma = context.link((any Gamma).self)
    #expect(gamma != nil && gamma === context.link((any Gamma).self) && converted.count == 1)
    withExtendedLifetime((model, view)) {}
  }

  /// The same if another type is served from what was made, even if it is the same object.
  @Test func whatServesWhatIsMadeOfAWeakInstanceGoesWithIt() {
    let made = Tally()
    context.register(Model.self, lifetime: .weak) {
      made.add()
      return Model(made.count)
    }
    .implements(View.self) { View($0.number) }
    context.registrations(of: View.self)[0].implements((any Gamma).self) { $0 }
    var model = context.link(Model.self)
    let first = context.link((any Gamma).self)
    #expect(first != nil && first === context.link((any Gamma).self) && first === context.link(View.self))
    #expect(model?.number == 1 && (first as? View)?.number == 1)
    model = nil
    let next = context.link(Model.self)
    #expect(next?.number == 2)
    #expect((context.link((any Gamma).self) as? View)?.number == 2)
    withExtendedLifetime((first, next)) {}
  }

  /// Made from a counter, on the main actor.
  final class Middle {
    let count: Int
    init(_ count: Int) { self.count = count }
  }

  /// Off the main actor, what was made from something that was made from an instance goes with a reset of that
  /// instance, even if all three are held.
  @MainActor @Test(.silent) func elsewhereWhatWasMadeInStepsGoesWithAReset() async {
    context.register(Counter.self, lifetime: .weak) { Counter() }.implements(Middle.self) { Middle($0.count) }
    context.registrations(of: Middle.self)[0].implements(View.self) { View($0.count) }
    let held = (context.link(Counter.self), context.link(Middle.self), context.link(View.self))
    let (context, view) = (context, held.2)
    #expect(await elsewhere { context.link(View.self) } === view)
    context.reset()
    #expect(await elsewhere { context.link(View.self) } == nil)
    withExtendedLifetime(held) {}
  }

  /// What was made from the previous instance is not given any more, even while both are alive.
  @Test func whatIsMadeOfAWeakInstanceIsOfTheLatest() {
    let made = Tally()
    context.register(Model.self, lifetime: .weak) {
      made.add()
      return Model(made.count)
    }
    .implements(View.self) { View($0.number) }
    let (model, view) = (context.link(Model.self), context.link(View.self))
    context.reset()
    let (next, nextView) = (context.link(Model.self), context.link(View.self))
    #expect([model?.number, view?.number, next?.number, nextView?.number] == [1, 1, 2, 2])
    withExtendedLifetime((model, view, next)) {}
  }

  @Test func threadsGetTheSameOfAWeakInstance() {
    for _ in 0..<50 {
      let context = UDIContext(tag: "context")
      let meeting = Meeting(4)
      context.register(Model.self, lifetime: .weak) { Model(1) }.implements(View.self) { View($0.number) }
      let model = context.link(Model.self)
      let views = Locked<[View?]>([])
      onThreads(4) { _ in
        meeting.arrive()
        let view = context.link(View.self)
        views.withLock { $0.append(view) }
      }
      #expect(views.withLock { views in views[0] != nil && views.allSatisfy { $0 === views[0] } })
      withExtendedLifetime(model) {}
    }
  }

  @Test func aProviderServesItsOwnTypeAlready() {
    let plain = Plain()
    context.register(Plain.self) { plain }.implements(Plain.self).implements(Plain.self) { _ in Plain() }
    #expect(context.link(Plain.self) === plain)
    #expect(context.registrations(of: Plain.self).count == 1)
  }

  /// It would replace the provider that its instances come from.
  @Test func nothingServesTheTypeThatItsInstancesComeFrom() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = UDIContext(tag: "x")
      context.register(Made.self) { Made() }.implements((any Alpha).self)
      context.registrations(of: (any Alpha).self)[0].implements(Made.self) { _ in Made() }
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("this call would replace that provider, and nothing would be left to serve."))
    // Under another name, there is nothing to replace.
    context.register(Made.self) { Made("own") }.implements((any Alpha).self)
    context.registrations(of: (any Alpha).self)[0].implements(Made.self, named: "n") { _ in Made("other") }
    #expect(context.link(Made.self)?.label == "own" && context.link(Made.self, named: "n")?.label == "other")
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
        guard !isBound else { continue }
        asBrief.first?.implements((any Alpha).self) { Made("brief", parts: [$0]) }
        asLasting.first?.implements((any Beta).self) { Made("lasting", parts: [$0]) }
        let (made, misuse) = MisuseLog.during { (context.link((any Alpha).self), context.link((any Beta).self)) }
        #expect((made.0 != nil) == (box is Box<Brief>) && (made.1 != nil) == (box is Box<Lasting>))
        #expect(misuse.map(\.kind) == [.notMade])
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
