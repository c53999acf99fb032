import Dispatch
import Testing
import TreeModel

@testable import UDI

@Suite struct ModuleTests {
  let context = UDIContext(tag: "context")

  /// Registers what a test wants. It is a class, so each instance is another module.
  final class Setting: UDIModule, Sendable {
    let body: @Sendable (UDIContext) -> Void
    init(_ body: @escaping @Sendable (UDIContext) -> Void) { self.body = body }
    func register(in context: UDIContext) { body(context) }
  }

  /// Registers under its name, with the default lifetime that the context has at that moment.
  final class Named: UDIModule, Sendable {
    let name: String
    init(name: String) { self.name = name }
    func register(in context: UDIContext) { context.register((any Alpha).self, named: UDIName(name)) { Made() } }
  }

  func lifetime(_ name: String, in context: UDIContext) -> UDILifetime? {
    context.registrations(of: (any Alpha).self).first { $0.key.name == UDIName(name) }?.lifetime
  }

  // MARK: The default lifetime

  @Test(arguments: [nil, UDILifetime.graph]) func aModuleSetsTheDefaultLifetimeForItselfAlone(_ own: UDILifetime?)
    throws
  {
    if let own { context.defaultLifetime = own }
    let standard = own ?? .context
    let children = Locked<[UDIContext]>([])
    context.install(
      Setting { context in
        context.defaultLifetime = .unique
        #expect(context.defaultLifetime == .unique)
        context.install(
          Setting { context in
            #expect(context.defaultLifetime == standard)
            context.install(Named(name: "inner"))
            context.defaultLifetime = .weak
            context.install(Named(name: "innermost"))
            Named(name: "inner's own").register(in: context)
          })
        // What it installs does not change its own default lifetime.
        #expect(context.defaultLifetime == .unique)
        Named(name: "outer").register(in: context)
        if let child = try? context.makeChild(tag: "child") { children.withLock { $0.append(child) } }
      },
      Named(name: "next"))
    #expect(context.defaultLifetime == standard)
    Named(name: "after").register(in: context)
    let lifetimes = ["inner", "innermost", "inner's own", "outer", "next", "after"].map { lifetime($0, in: context) }
    #expect(lifetimes == [standard, standard, .weak, .unique, standard, standard])
    #expect(children.withLock { $0.map(\.defaultLifetime) } == [.unique])
  }

  /// A module's default lifetime does not reach other contexts, nor theirs the module.
  @Test func otherContextsKeepTheirDefaultLifetime() throws {
    let child = try context.makeChild(tag: "child")
    context.install(
      Setting { [child] context in
        context.defaultLifetime = .unique
        #expect(child.defaultLifetime == .context)
        child.install(Named(name: "below"))
        child.defaultLifetime = .weak
      })
    #expect(lifetime("below", in: child) == .context && child.defaultLifetime == .weak)
    #expect(context.defaultLifetime == .context)
  }

  /// What other threads register meanwhile gets the context's default lifetime, and a default that they set stays.
  @Test func theDefaultLifetimeOfAModuleIsNotThatOfOtherThreads() {
    let (isSet, goOn) = (Meeting(3), Meeting(3))
    onThreads([
      {
        context.install(
          Setting { context in
            context.defaultLifetime = .unique
            isSet.arrive()
            goOn.arrive()
            Named(name: "module").register(in: context)
          })
      },
      {
        isSet.arrive()
        context.install(Named(name: "other module"))
        Named(name: "no module").register(in: context)
        context.defaultLifetime = .graph
        goOn.arrive()
      },
      {
        isSet.arrive()
        goOn.arrive()
      },
    ])
    #expect(
      ["module", "other module", "no module"].map { lifetime($0, in: context) } == [.unique, .context, .context])
    #expect(context.defaultLifetime == .graph)
  }

  // MARK: The same module twice

  struct Empty: UDIModule {
    static let installed = Locked<[UDIContext: Int]>([:])
    func register(in context: UDIContext) {
      Self.installed.withLock { $0[context, default: 0] += 1 }
      context.register((any Alpha).self, lifetime: .context) { Made() }
    }
  }

  @Test func aModuleIsInstalledOnce() throws {
    context.install(Empty(), Empty())
    let made = context.link((any Alpha).self)
    context.install(Empty())
    #expect(made != nil && context.link((any Alpha).self) === made)
    // In each context.
    let child = try context.makeChild(tag: "child")
    child.install(Empty())
    #expect(child.link((any Alpha).self) !== made)
    #expect(Empty.installed.withLock { [$0.removeValue(forKey: context), $0.removeValue(forKey: child)] } == [1, 1])
  }

  struct Numbered: UDIModule, Hashable {
    let number: Int
    let installed: Locked<[Int]>
    static func == (left: Numbered, right: Numbered) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
    func register(in context: UDIContext) { installed.withLock { $0.append(number) } }
  }

  /// The form of `install` makes no difference either.
  @MainActor @Test(arguments: [false, true]) func equalModulesAreInstalledOnce(_ isSendableFirst: Bool) {
    let installed = Locked<[Int]>([])
    func module(_ number: Int) -> Numbered { Numbered(number: number, installed: installed) }
    let other: any UDIModule = module(1)
    if isSendableFirst { context.install(module(1)) } else { context.install(other) }
    context.install(module(2), module(1))
    context.install(other, module(2), module(3))
    #expect(installed.withLock { $0 } == [1, 2, 3])
  }

  /// A user's `==` may use the tree.
  struct Curious: UDIModule, Hashable {
    let context: UDIContext
    static func == (left: Curious, right: Curious) -> Bool { left.context.children == right.context.children }
    func hash(into hasher: inout Hasher) {}
    func register(in context: UDIContext) { _ = try? context.makeChild(tag: "made") }
  }

  @Test func whileModulesAreComparedNoLockIsHeld() {
    context.install(Curious(context: context), Curious(context: context))
    #expect(context.children.map(\.tag) == ["made"])
  }

  struct Incomparable: UDIModule {
    let name: String
    func register(in context: UDIContext) {
      context.register((any Alpha).self, named: UDIName(name), replaces: true) { Made() }
    }
  }

  /// Nothing says that two of them are the same.
  @Test func modulesThatCannotBeComparedAreInstalledEachTime() {
    context.install(Incomparable(name: "a"), Incomparable(name: "b"))
    let made = ["a", "b"].map {
      context.registrations(of: (any Alpha).self).map(\.key).contains(UDIKey(named: UDIName($0)))
    }
    #expect(made == [true, true])
    for _ in 0..<100 { context.install(Incomparable(name: "a")) }
    #expect(context.change { node, _ in node.treeLocked.extras?.making.modules.count ?? 0 } <= 1)
  }

  enum Variant: UDIModule {
    case first, second
    static let installed = Locked<[UDIContext: [Variant]]>([:])
    func register(in context: UDIContext) { Self.installed.withLock { $0[context, default: []].append(self) } }
  }

  @Test func theCasesOfAnEnumAreModulesOfTheirOwn() {
    context.install(Variant.second, Variant.first, Variant.second)
    #expect(Variant.installed.withLock { $0.removeValue(forKey: context) ?? [] } == [.second, .first])
  }

  final class Instance: UDIModule, Sendable {
    let installed: Census
    init(_ installed: Census) { self.installed = installed }
    func register(in context: UDIContext) { installed.born() }
  }

  @Test func anInstanceIsInstalledOnce() {
    let installed = Census()
    let (first, second) = (Instance(installed), Instance(installed))
    context.install(first, second, first)
    context.install(second)
    #expect(installed.everBorn == 2)
    // Later instances may have the same address, but are other modules, and the context keeps none of them.
    for _ in 0..<100 {
      weak var gone: Instance?
      do {
        let instance = Instance(installed)
        gone = instance
        context.install(instance)
      }
      #expect(gone == nil)
    }
    #expect(installed.everBorn == 102)
  }

  /// This holds for class instances, too, even if `==` considers them equal.
  final class HashableInstance: UDIModule, Hashable, Sendable {
    let installed: Census
    init(_ installed: Census) { self.installed = installed }
    static func == (left: HashableInstance, right: HashableInstance) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
    func register(in context: UDIContext) { installed.born() }
  }

  @Test func ofAClassInstancesCountAndNoneIsKept() {
    let installed = Census()
    weak var gone: HashableInstance?
    do {
      let instance = HashableInstance(installed)
      gone = instance
      context.install(instance, instance, HashableInstance(installed))
    }
    #expect(gone == nil && installed.everBorn == 2)
  }

  /// Modules that install themselves and each other.
  struct Mutual: UDIModule {
    func register(in context: UDIContext) {
      context.register((any Alpha).self, named: "mutual") { Made() }.metadata("")
      context.install(self, OtherMutual())
    }
  }
  struct OtherMutual: UDIModule {
    func register(in context: UDIContext) {
      context.register((any Alpha).self, named: "other") { Made() }.metadata("")
      context.install(Mutual(), self)
    }
  }

  @Test func modulesThatInstallOneAnother() {
    context.install(Mutual())
    #expect(context.registrations(of: (any Alpha).self).count == 2)
  }

  // MARK: Threads

  /// Takes its time.
  struct Slow: UDIModule, Hashable {
    let installed: Tally
    let meeting: Meeting
    static func == (left: Slow, right: Slow) -> Bool { left.installed === right.installed }
    func hash(into hasher: inout Hasher) {}
    func register(in context: UDIContext) {
      meeting.arrive()
      context.register((any Alpha).self, lifetime: .context) { Made() }
      installed.add()
    }
  }

  /// If a thread installs a module that another thread is installing, it then finds what the module offers.
  @Test func threadsThatInstallTheSameModule() {
    for _ in 0..<20 {
      let context = UDIContext(tag: "context")
      let (installed, coming) = (Tally(), Meeting(4))
      let isFirst = Locked(true)
      onThreads(4) { _ in
        let isFirst = isFirst.withLock { first in
          defer { first = false }
          return first
        }
        if !isFirst { coming.arrive() }
        context.install(Slow(installed: installed, meeting: coming))
        #expect(context.link((any Alpha).self) != nil)
      }
      #expect(installed.count == 1)
    }
  }

  @Test func threadsThatInstallManyModules() {
    let seed = UInt64.random(in: 0...UInt64.max)
    let installed = Census()
    let modules = (0..<30).map { _ in Instance(installed) }
    onThreads(4) { thread in
      var random = SplitMix(seed: seed &+ UInt64(thread))
      for _ in 0..<200 {
        context.install(modules[Int.random(in: 0..<30, using: &random)], Instance(installed), Empty())
        #expect(context.link((any Alpha).self) != nil, "seed \(seed)")
      }
    }
    let count = context.change { node, _ in node.treeLocked.extras?.making.modules.count ?? 0 }
    #expect((1...35).contains(count), "seed \(seed)")
    #expect((801...830).contains(installed.everBorn), "seed \(seed)")
    #expect(Empty.installed.withLock { $0.removeValue(forKey: context) } == 1)
    withExtendedLifetime(modules) {}
  }

  /// Two threads install two modules that install each other: nobody waits forever.
  final class Crossed: UDIModule, Sendable {
    let number: Int
    let meeting: Meeting
    let other = Locked<Crossed?>(nil)
    init(_ number: Int, _ meeting: Meeting) { (self.number, self.meeting) = (number, meeting) }
    func register(in context: UDIContext) {
      context.register((any Alpha).self, named: UDIName(number)) { Made() }
      meeting.arrive()
      if let other = other.withLock({ $0 }) { context.install(other) }
    }
  }

  @Test func threadsThatInstallModulesThatInstallOneAnother() {
    for _ in 0..<20 {
      let context = UDIContext(tag: "context")
      let meeting = Meeting(2)
      let modules = (0...1).map { Crossed($0, meeting) }
      for number in 0...1 { modules[number].other.withLock { $0 = modules[1 - number] } }
      onThreads(2) { number in context.install(modules[number]) }
      #expect(context.registrations(of: (any Alpha).self).count == 2)
      modules[0].other.withLock { $0 = nil }
    }
  }

  struct Part: Sendable { init(beta: (any Beta)?) {} }

  /// A thread that needs the module for an optional parameter gives way when what installs the module waits for that
  /// thread. Others that wait for the module go on waiting.
  @Test(.unlessItHangs) func whoWaitsForAModuleGoesOnWaitingWhenAnotherThreadGivesWay() {
    let (began, waits, isAwake) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let hasReturned = Locked(false)
    let module = Setting { context in
      for _ in 1...2 { began.signal() }
      for _ in 1...2 { waits.wait() }
      #expect(context.link(Part.self) != nil)
      isAwake.wait()
      #expect(!hasReturned.withLock { $0 })
    }
    context.register(lifetime: .context, using: Part.init(beta:))
    context.register((any Beta).self, isolation: nil) { context in
      context.install(module)
      return Made()
    }
    onThreads(3) { number in
      if number == 0 { return context.install(module) }
      began.wait()
      let count = Tally()
      let hook = { @Sendable (point: Schedule) in
        if point != .waits { return }
        count.add()
        (count.count == 1 ? waits : isAwake).signal()
      }
      Schedule.$hook.withValue(hook) {
        if number == 1 { return _ = context.link(Part.self) }
        context.install(module)
        hasReturned.withLock { $0 = true }
        isAwake.signal()
      }
    }
    #expect(hasReturned.withLock { $0 })
  }

  // MARK: On the main actor

  final class Local: UDIModule {
    var installed = 0
    func register(in context: UDIContext) { installed += 1 }
  }

  /// Nor does a context remember modules that are gone.
  @MainActor @Test func modulesThatAreGoneAreForgotten() {
    for _ in 0..<100 { context.install(Local()) }
    #expect(context.change { node, _ in node.treeLocked.extras?.making.modules.count } == 1)
  }

  @MainActor struct LocalValue: @MainActor UDIModule {
    let local: Local
    func register(in context: UDIContext) { local.installed += 1 }
  }

  /// Not `Sendable`: each instance is installed only once, too, and not kept.
  @MainActor @Test func modulesThatAreNotSendable() {
    let first = Local()
    context.install(first, first)
    context.install(first, LocalValue(local: first))
    #expect(first.installed == 2)
    let other = UDIContext(tag: "other")
    weak var gone: Local?
    do {
      let local = Local()
      gone = local
      other.install(local, LocalValue(local: local))
      other.install(local)
      #expect(local.installed == 2)
    }
    #expect(gone == nil)
    context.install(Empty(), first)
    context.install(Empty())
    #expect(Empty.installed.withLock { $0.removeValue(forKey: context) } == 1)
  }
}
