import Dispatch
import Foundation
import Testing
import UDI
import UDIInspector
import UDITesting

/// What is not `Sendable` stays on the main actor: tests for each way off it that is closed.
///
/// `any Local` and `any Local & Sendable` are one metatype at run time, and so one key.
@MainActor @Suite struct IsolationTests {
  let context = UDIContext(tag: "context")
  let counter = Counter()

  typealias SendableLocal = any Local & Sendable

  // MARK: The same key with and without Sendable

  @Test func whatIsBoundWithoutSendableIsNotGivenAsSendable() async throws {
    let child = try context.makeChild(tag: "child")
    let grandchild = try child.makeChild(tag: "grandchild", search: .ancestors)
    child.bind(counter, as: (any Local).self)
    child.bind(counter, as: (any Local).self, named: "n")
    let contexts = [context, child, grandchild]
    for _ in 0..<2 {
      #expect(contexts.map { missesAll($0, nil) } == [true, true, true])
      #expect(contexts.map { missesAll($0, "n") } == [true, true, true])
      let elsewhere = await Task.detached { contexts.map { missesAll($0, nil) && missesAll($0, "n") } }.value
      #expect(elsewhere == [true, true, true])
    }
    #expect(contexts.map { $0.link((any Local).self) === counter } == [true, true, true])
    #expect(child.linkAll((any Local).self).count == 2)
  }

  @Test(.misuses(.notMade)) func anObjectIsRefusedLikeAContext() async {
    context.bind(counter, as: (any Local).self)
    let member = Member().attached(to: context)
    let wrapped = Wrapped().attached(to: context)
    let missed = await elsewhere {
      var found: SendableLocal? = nil
      member.link(&found)
      return found == nil && member.linkInLine(SendableLocal.self) == nil && member.linkAll(SendableLocal.self).isEmpty
        && (try? member.require(SendableLocal.self)) == nil
        && member.link(UDIKey<SendableLocal>()) == nil
    }
    #expect(missed && wrapped.local == nil && wrapped.inLine == nil && wrapped.weakly == nil)
    #expect(member.linkInLine((any Local).self) === counter)
  }

  @Test(
    .misuses(.notMade),
    arguments: [UDILifetime.unique, .graph, .weak, .context, UDILifetime("own", storage: .custom { Keeper() })])
  func whatIsMadeWithoutSendableIsNotGivenAsSendable(_ lifetime: UDILifetime) async {
    let counter = counter
    context.register((any Local).self, lifetime: lifetime) { counter }
    context.register((any Local).self, named: "n", lifetime: lifetime) { (_, _: Int) in counter }
    let context = context
    for _ in 0..<2 {
      #expect(missesAll(context, nil) && context.link(SendableLocal.self, named: "n", with: 1) == nil)
      #expect(await elsewhere { missesAll(context, nil) })
      #expect(await elsewhere { context.link(SendableLocal.self, named: "n", with: 1) == nil })
      // It is made by now, and lookups that may have it find it.
      #expect(context.link((any Local).self) === counter)
      #expect(context.link((any Local).self, named: "n", with: 1) === counter)
    }
  }

  @Test(.misuses(.notMade)) func valuesAndGenericsAreRefusedAlike() async {
    context.provide([counter] as [any Local], as: [any Local].self)
    context.bind(counter, as: Any.self)
    context.bind(counter, as: AnyObject.self)
    let context = context
    let found = await elsewhere {
      [
        context.link([SendableLocal].self) != nil, context.link((any Sendable).self) != nil,
        context.link((any AnyObject & Sendable).self) != nil,
      ]
    }
    #expect(found == [false, false, false])
    #expect(context.link([any Local].self)?.first === counter && context.link(Any.self) as? Counter === counter)
  }

  @Test func whatIsSendableIsFoundByBothForms() async {
    let plain = Plain()
    context.bind(plain, as: (any Other & Sendable).self)
    context.register((any Service).self, lifetime: .context) { Plain("made") }
    let context = context
    #expect(await Task.detached { context.link((any Other).self) === plain }.value)
    #expect(find((any Other).self) === plain)
    #expect(find((any Service).self) === context.link((any Service).self))
    #expect(find((any Service).self) != nil)
  }

  /// For the compiler the type is not `Sendable` here.
  private func find<Dependency>(_ type: Dependency.Type) -> Dependency? { context.link(type) }
  private func register<Dependency>(_ made: Dependency) { context.register(Dependency.self) { made } }

  @Test func aTypeThatGenericCodeDoesNotKnowToBeSendableIsExplained() {
    register(Plain("generic"))
    #expect(find(Plain.self)?.label == "generic")
    let (missed, misuse) = MisuseLog.during { context.link(Plain.self) }
    #expect(missed == nil && misuse.map(\.kind) == [.notMade])
    #expect(misuse.first?.message.contains("was registered as a type that is not Sendable") == true)
    let error = #expect(throws: UDILinkError.self) { try context.require(Plain.self) }
    #expect(error?.cause == .notSendable)
    #expect(error?.description.contains("in generic code, a type is Sendable only if the code requires that") == true)
  }

  @Test func explanationsKnowWhichFormAsks() {
    context.bind(counter, as: (any Local).self)
    #expect(context.explain(SendableLocal.self).cause == .notSendable)
    #expect(Member().attached(to: context).explain(SendableLocal.self).cause == .notSendable)
    guard case .found = context.explain((any Local).self).cause else {
      return #expect(Bool(false), "the type that it was bound as is found")
    }
  }

  @Test(.misuses(.notMade)) func updatesAndRulesAndOverridesKeepToIt() async {
    context.bind(counter, as: (any Local).self)
    var iterator = context.updates(of: SendableLocal.self).makeAsyncIterator()
    let first = await iterator.next()
    #expect(first != nil && first! == nil)
    context.rules(for: SendableForm.self).inject(\.local)
    let form = SendableForm()
    #expect(context.inject(into: form) == 0 && form.local == nil)
    let override = UDIContext(tag: "override")
    override.provide(Plain())
    #expect(override.link(Plain.self) != nil)
  }

  @Test(.misuses(.notMade)) func anotherTypeOfTheSameInstanceIsRefusedLikeItsOwn() async {
    context.register(Counter.self, lifetime: .context) { Counter() }.implements((any Local & Sendable).self)
    let context = context
    #expect(context.link(SendableLocal.self) == nil && context.link((any Local).self) != nil)
    #expect(await elsewhere { context.link(SendableLocal.self) == nil })
  }

  // MARK: Code that runs with what is not Sendable

  /// The object might not be `Sendable`: only a cast on the main actor can tell.
  @Test func anotherTypeThatIsSendableIsFirstAskedForOnTheMainActor() async throws {
    context.register((any Local).self, lifetime: .context) { Safe() }.implements(Safe.self)
    let context = context
    for _ in 0..<2 {
      let local = context.link((any Local).self)
      let (missed, misuse) = await elsewhere { MisuseLog.during { context.link(Safe.self) == nil } }
      #expect(missed && misuse.first?.message.contains("belongs to the main actor") == true)
      #expect(await elsewhere { context.explain(Safe.self).cause } == .isolatedElsewhere("the main actor"))
      let safe = context.link(Safe.self)
      #expect(safe != nil && safe === local)
      #expect(await elsewhere { context.link(Safe.self) } === safe)
      context.reset()
    }
    let obtained = try await elsewhereObtained(context)
    #expect(obtained === context.link((any Local).self))
    #expect(await elsewhere { context.link(Safe.self) } === obtained)
  }

  @concurrent private func elsewhereObtained(_ context: UDIContext) async throws -> Safe {
    try await context.obtain(Safe.self)
  }

  @Test(arguments: [false, true])
  func argumentsThatMayNotBeSendableAreRefusedByFactoriesOfWhatIs(_ isOnMainActor: Bool) {
    if isOnMainActor {
      context.register(Reading.self) { (_, local: SendableLocal) in Reading(count: 1) }
    } else {
      context.register(Reading.self) { (_, local: SendableLocal) in Reading(count: 1) }
    }
    context.register(Reading.self, named: "n") { (_, count: Int) in Reading(count: count) }
    let local: any Local = counter
    let (missed, misuse) = MisuseLog.during { context.link(Reading.self, with: local) }
    #expect(missed == nil && misuse.first?.message.contains("takes Sendable arguments") == true)
    #expect(find(Reading.self, named: "n", with: 5)?.count == 5)
  }

  /// All of them are `Sendable`, but the program cannot see that at run time.
  private struct Hidden: Sendable {}

  @Test func theRefusalOfAnArgumentSaysWhatToDo() {
    context.register(Reading.self, named: "array") { (_, numbers: [Int]) in Reading(count: numbers.count) }
    context.register(Reading.self, named: "optional") { (_, number: Int?) in Reading(count: number ?? 0) }
    context.register(Reading.self, named: "private") { (_, _: Hidden) in Reading(count: 1) }
    let (_, misuse) = MisuseLog.during {
      #expect(find(Reading.self, named: "array", with: [1]) == nil)
      #expect(find(Reading.self, named: "optional", with: 1 as Int?) == nil)
      #expect(find(Reading.self, named: "private", with: Hidden()) == nil)
    }
    #expect(misuse.count == 3)
    #expect(
      misuse.first?.message == """
        The factory of UDITests.(private).Reading named "array" may run anywhere and so takes Sendable arguments. This lookup was \
        compiled for arguments that need not be Sendable, and at run time it is not known whether Swift.Array<Swift.Int> is Sendable. \
        Link it where the compiler sees that the dependency and all arguments are Sendable: not in generic code that does not require that. \
        Or pass arguments of exactly the types that the factory wants, which may be neither generic, as arrays and optionals are, nor \
        private: a Sendable struct of your own can hold them. Or register the factory on the main actor.
        """)
    #expect(misuse.allSatisfy { $0.message.contains("nor private") })
    // Doing what the message says helps.
    #expect(context.link(Reading.self, named: "array", with: [1])?.count == 1)
  }

  private func find<Dependency, Argument>(
    _ type: Dependency.Type, named name: UDIName, with argument: Argument
  ) -> Dependency? { context.link(type, named: name, with: argument) }

  @Test func aRegistrationThatWasGotAsSendableServesNothingThatIsNot() async {
    context.register((any Local).self, lifetime: .context) { Safe() }
    _ = context.link((any Local).self)
    let (_, misuse) = MisuseLog.during {
      self.context.registrations(of: SendableLocal.self)[0].implements(Safe.self)
    }
    #expect(misuse.map(\.kind) == [.notMade] && context.link(Safe.self) == nil)
    let context = context
    let isMissed = await elsewhere {
      MisuseLog.during {
        context.registrations(of: SendableLocal.self)[0].implements(Safe.self)
        return context.link(Safe.self) == nil
      }.0
    }
    #expect(isMissed)
  }

  @Test func aSetUpBlockThatLeavesWhatIsNotSendableServesItNot() {
    let counter = counter
    let context = UDIContext(tag: "set up") { context in
      context.register(SendableLocal.self) { Safe() }.implements(Safe.self)
    }
    context.provide(counter, as: (any Local).self)
    #expect(MisuseLog.during { context.link(Safe.self) == nil }.0)
    #expect(context.link((any Local).self) === counter)
  }

  @Test func aFreshOneIsRefusedBehindABinding() {
    let safe = Safe()
    context.provide(counter, as: (any Local).self)
    context.bind(safe, as: SendableLocal.self)
    #expect(context.link(SendableLocal.self) === safe)
    #expect(MisuseLog.during { context.link(SendableLocal.self, fresh: true) == nil }.0)
    #expect(context.link((any Local).self, fresh: true) === counter)
  }

  @Test func rulesForASendableTypeLeaveOthersAlone() {
    context.rules(for: SendableLocal.self).inject { local, _ in local.count += 1 }
    let safe = Safe()
    #expect(context.inject(into: counter) == 0 && counter.count == 0)
    #expect(context.inject(into: safe) == 1 && safe.count == 1)
  }

  @Test func argumentsThatMayNotBeSendableAreRefusedByAliasesToo() {
    context.register(Safe.self) { (_, _: SendableLocal) in Safe() }.implements((any Local).self)
    let local: any Local = counter
    #expect(MisuseLog.during { context.link((any Local).self, with: local) == nil }.0)
  }

  /// Its conformance may belong to the main actor.
  @Test(.misuses(.notMade)) func anotherTypeThatIsNotSendableIsForTheMainActorAlone() async {
    context.register(Model.self, lifetime: .context) { @MainActor in Model() }.implements((any Local).self)
    #expect(context.link((any Local).self) != nil && context.link(SendableLocal.self) == nil)
    let context = context
    #expect(await elsewhere { context.link(SendableLocal.self) == nil })
    // A class that is `Sendable` is found as such, even if it was registered as something else.
    context.register((any Local).self, named: "n", lifetime: .context) { Safe() }.implements(Safe.self)
    #expect(context.link(Safe.self) === context.link((any Local).self, named: "n"))
  }

  @Test func whatIsProvidedOnTheMainActorIsUsedThere() async {
    let local = LocalMember()
    context.provide(local).implements(Safe.self)
    local.attachedContext = nil
    let before = local.attachments
    let context = context
    let error = await elsewhere { #expect(throws: UDILinkError.self) { try context.require(Safe.self) } }
    #expect(error?.cause == .isolatedElsewhere("the main actor"))
    #expect(await elsewhere { MisuseLog.during { context.link(Safe.self, fresh: true) == nil }.0 })
    #expect(local.attachments == before)
    let errorHere = #expect(throws: UDILinkError.self) { try context.require(Safe.self) }
    #expect(errorHere?.description.contains("is served by the provider of UDITests.(private).LocalMember") == true)
  }

  // MARK: Where things die

  @Test func whatAContextOwnsDiesOnTheMainActor() async {
    for way in 0..<9 {
      await expectDeathOnMainActor { mortal in
        let owner = UDIContext(tag: "owner")
        switch way {
        case 0: owner.provide(mortal)
        case 1:
          owner.register(Mortal.self, lifetime: .context) { mortal }
          _ = owner.link(Mortal.self)
        case 7:
          owner.register(Counter.self, lifetime: .context) { (_, _: Argument) in Counter() }
          _ = owner.link(Counter.self, with: Argument(mortal: mortal))
        case 8: owner.rules(for: Table.self).inject(\.[Argument(mortal: mortal)])
        case 6:
          // Nothing else refers to the object.
          let death = mortal.death
          owner.register(Mortal.self, lifetime: .context) { Mortal(death) }
          _ = owner.link(Mortal.self)
        case 2: owner.register(Reading.self) { @MainActor in Reading(count: mortal.count) }
        case 3: owner.register(Reading.self) { (_, plus: Int) in Reading(count: mortal.count + plus) }
        default: owner.rules(for: Counter.self).inject { @MainActor _, _ in mortal.count += 1 }
        }
        return owner
      }
    }
  }

  @Test func whatAnyoneMayHoldDiesOnTheMainActor() async {
    // A registration holds its provider, and the provider holds the closure.
    await expectDeathOnMainActor { mortal in
      UDIContext(tag: "gone").register(Mortal.self) { mortal }
    }
    // A custom storage.
    await expectDeathOnMainActor { mortal in
      let keeper = Keeper()
      let owner = UDIContext(tag: "gone")
      owner.register(Mortal.self, lifetime: UDILifetime("kept", storage: .custom { keeper })) { [weak mortal] in mortal
      }
      _ = owner.link(Mortal.self)
      return KeeperAlone(keeper: keeper, made: keeper.take())
    }
  }

  /// Mirrors can be made anywhere.
  @Test func mirrorsShowNothingThatIsNotSendable() {
    let tool = Tool().attached(to: context)
    let keeper = Keeper()
    let provided = context.provide(counter)
    let registered = context.register(Counter.self, named: "n", lifetime: .context) { [counter] in counter }
    context.register(Counter.self, named: "kept", lifetime: UDILifetime("kept", storage: .custom { keeper })) {
      [counter] in counter
    }
    context.bind(counter, as: (any Local).self)
    #expect(context.link(Counter.self, named: "n") === counter && context.link(Counter.self, named: "kept") === counter)
    #expect(tool.local === counter && shows(counter, in: [counter]))
    for start in [context, provided, registered, keeper.load() as Any, tool] { #expect(!shows(counter, in: start)) }
    #expect(!shows(counter, in: context.registrations(of: (any Local).self)))
  }

  /// Whether one can get from something to an object with mirrors.
  private func shows(_ object: Counter, in start: Any) -> Bool {
    var seen: Set<ObjectIdentifier> = []
    var next: [Any] = [start]
    while let last = next.popLast() {
      if type(of: last) is AnyClass {
        if last as AnyObject === object { return true }
        if !seen.insert(ObjectIdentifier(last as AnyObject)).inserted { continue }
      }
      var mirror: Mirror? = Mirror(reflecting: last)
      while let present = mirror {
        next += present.children.map(\.value)
        mirror = present.superclassMirror
      }
    }
    return false
  }

  /// Makes something `Sendable` that refers to an object which is not, releases it on another thread, and waits for the
  /// object to die.
  private func expectDeathOnMainActor<Holder: Sendable>(
    _ make: (Mortal) -> Holder, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let death = Death()
    var holder: Holder? = { make(Mortal(death)) }()
    let parcel = Locked(holder.take())
    onThreads(1) { _ in parcel.withLock { $0 = nil } }
    for _ in 0..<death.births { #expect(await death.wasOnMainActor, sourceLocation: sourceLocation) }
  }

  /// The library checks on another thread whether an object is alive, while the main actor releases the object.
  @Test(arguments: 0..<8)
  func anObjectThatIsOnlyLookedAtDiesOnTheMainActor(_ way: Int) async {
    let death = Death()
    let audit = BindingAudit()
    var mortals = (0..<(way == 5 ? 40 : 1)).map { _ in Mortal(death) }
    audit.watch(context) {
      for (index, mortal) in mortals.enumerated() { context.bind(mortal, as: (any Local).self, named: UDIName(index)) }
    }
    let count = mortals.count
    let other = Plain()
    look(with: { [context] in
      switch way {
      case 0: _ = context.snapshot()
      case 1: _ = context.explain((any Local).self, named: 0)
      case 2: _ = try? context.require(Plain.self, named: "none")
      case 3: _ = context.registrations(of: (any Local).self)
      case 4: context.register(SendableLocal.self, named: 0) { Safe() }
      case 5: context.bind(other, as: Plain.self)
      case 6: #expect(audit.countOfSurvivors() == 1)
      default: #expect(audit.survivors { reported, _ in reported.map(\.objectType) }.count == 1)
      }
    }) { mortals = [] }
    for _ in 0..<count { #expect(await death.wasOnMainActor) }
  }

  /// A storage may hand out what it keeps only to the audit, which only needs to know what it is.
  @Test func whatAStorageTellsAnAuditDiesOnTheMainActor() async {
    let (death, keeper, audit) = (Death(), Keeper(givesAway: true), BindingAudit())
    context.register(Mortal.self, lifetime: UDILifetime("kept", storage: .custom { keeper })) { Mortal(death) }
    audit.watch(context) { _ = context.link(Mortal.self) }
    #expect(death.births == 1 && keeper.keepsSomething)
    onThreads(1) { _ in
      _ = audit.countOfSurvivors()
    }
    #expect(!keeper.keepsSomething)
    #expect(await death.wasOnMainActor)
  }

  // MARK: Taking part in the tree

  nonisolated private static func makeScreen() -> Screen { Screen() }

  /// Its conformance to `UDIObject` cannot be used elsewhere.
  @Test func anObjectOfTheMainActorThatIsMadeElsewhereIsReported() async {
    context.register(Screen.self, lifetime: .unique, isolation: nil, Self.makeScreen)
    let context = context
    let (screen, misuse) = await Task.detached { MisuseLog.during { context.link(Screen.self) } }.value
    #expect(screen != nil && screen?.attachedContext == nil)
    #expect(misuse.map(\.kind) == [.notAttached])
    #expect(misuse.first?.message.contains("is not attached to \"context\"") == true)
    #expect(misuse.first?.message.contains("register a closure that belongs to the actor") == true)
    // Each time, and even after another object was attached.
    let (other, none) = MisuseLog.during { context.link(Screen.self) }
    #expect(other?.attachedContext === context && none.isEmpty)
    #expect(await Task.detached { MisuseLog.during { context.link(Screen.self) }.1.count }.value == 1)
    #expect(await Task.detached { MisuseLog.during { context.provide(Screen(), replaces: true) }.1.count }.value == 1)
  }

  /// Runs a body on another thread. When the library has loaded an object there, has the main actor do something.
  private func look(with body: @escaping @Sendable () -> Void, meanwhile: () -> Void) {
    let (reached, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let looks = Tally()
    let finished = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      Schedule.$hook.withValue({ point in
        guard point == .loadedToLook else { return }
        looks.add()
        guard looks.count == 1 else { return }
        reached.signal()
        done.wait()
      }) { body() }
      reached.signal()
      finished.signal()
    }
    reached.wait()
    meanwhile()
    done.signal()
    finished.wait()
  }
}

/// Whether all verbs find nothing as `any Local & Sendable` in a context.
private nonisolated func missesAll(_ context: UDIContext, _ name: UDIName?) -> Bool {
  typealias SendableLocal = any Local & Sendable
  return MisuseLog.during {
    context.link(SendableLocal.self, named: name) == nil
      && (try? context.require(SendableLocal.self, named: name)) == nil
      && context.linkAll(SendableLocal.self).isEmpty
      && context.link(SendableLocal.self, named: name, fresh: true) == nil
      && context.link(UDIKey<SendableLocal>(named: name)) == nil
      && context.link(SendableLocal.self, named: name, with: 1) == nil
      && context.registrations(of: SendableLocal.self).allSatisfy { $0.link() == nil }
  }.0
}

private final class Safe: Local, @unchecked Sendable { var count = 0 }

private struct Reading: Sendable { let count: Int }

@MainActor private final class Model: @MainActor Local { var count = 0 }

/// Not `Sendable`.
private struct Argument: Hashable {
  let mortal: Mortal
  static func == (left: Argument, right: Argument) -> Bool { left.mortal === right.mortal }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(mortal)) }
}

private final class Table {
  subscript(argument: Argument) -> Counter? {
    get { nil }
    set {}
  }
}

/// Not `Sendable`; takes part in the tree.
private final class LocalMember: UDIObject {
  let _attachedContext = UDIAttachment()
  var attachments = 0
  func didAttachContext() { attachments += 1 }
}

private final class SendableForm: @unchecked Sendable { var local: (any Local & Sendable)? }

@MainActor private final class Wrapped: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var local: (any Local & Sendable)?
  @Linked(keeps: .never) var inLine: (any Local & Sendable)?
  @Linked(keeps: .weakly) var weakly: (any Local & Sendable)?
  func didAttachContext() {}
}

@MainActor private final class Screen: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  nonisolated init() {}
  func didAttachContext() {}
}

private final class Keeper: UDIStorage {
  private let kept = Locked<UDIMade?>(nil)
  private let givesAway: Bool
  init(givesAway: Bool = false) { self.givesAway = givesAway }
  var keepsSomething: Bool { kept.withLock { $0 != nil } }
  func load() -> UDIMade? { givesAway ? take() : kept.withLock { $0 } }
  func store(_ made: UDIMade) { kept.withLock { $0 = made } }
  func reset() { kept.withLock { $0 = nil } }
  func take() -> UDIMade? { kept.withLock { $0.take() } }
}

private struct KeeperAlone: Sendable {
  let keeper: Keeper
  let made: UDIMade?
}

private protocol Shown: AnyObject {}

/// Not `Sendable`; notes on which thread it dies.
private final class Mortal: Local, Shown {
  var count = 0
  let death: Death
  init(_ death: Death) {
    self.death = death
    death.noteBirth()
  }
  deinit { death.note() }
}

/// Neither `Sendable` nor isolated.
private final class Tool: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked(keeps: .weakly) var local: (any Local)?
  func didAttachContext() {}
}

/// Where something died.
private final class Death: Sendable {
  private static let mark: DispatchSpecificKey<Void> = {
    let mark = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: mark, value: ())
    return mark
  }()
  private let outcome: AsyncStream<Bool>
  private let continuation: AsyncStream<Bool>.Continuation

  init() {
    _ = Self.mark
    (outcome, continuation) = AsyncStream.makeStream(of: Bool.self)
  }

  private let tally = Tally()
  var births: Int { tally.count }
  func noteBirth() { tally.add() }
  func note() { continuation.yield(DispatchQueue.getSpecific(key: Self.mark) != nil) }

  var wasOnMainActor: Bool {
    get async {
      for await outcome in outcome { return outcome }
      return false
    }
  }
}
