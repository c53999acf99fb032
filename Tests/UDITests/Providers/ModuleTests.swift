import Testing
import TreeModel

@testable import UDI

@Suite struct ModuleTests {
  let context = UDIContext(tag: "context")

  /// Registers what a test wants. It has properties, so each instance is another module.
  struct Setting: UDIModule {
    let body: @Sendable (UDIContext) -> Void
    init(_ body: @escaping @Sendable (UDIContext) -> Void) { self.body = body }
    func register(in context: UDIContext) { body(context) }
  }

  /// Registers under its name, with the default lifetime that the context has at that moment.
  struct Named: UDIModule, Hashable {
    let name: String
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
    let standard = own ?? .unique
    let children = Locked<[UDIContext]>([])
    context.install(
      Setting { context in
        context.defaultLifetime = .context
        #expect(context.defaultLifetime == .context)
        context.install(
          Setting { context in
            #expect(context.defaultLifetime == standard)
            context.install(Named(name: "inner"))
            context.defaultLifetime = .weak
            context.install(Named(name: "innermost"))
            Named(name: "inner's own").register(in: context)
          })
        // What it installs does not change its own default lifetime.
        #expect(context.defaultLifetime == .context)
        Named(name: "outer").register(in: context)
        if let child = try? context.makeChild(tag: "child") { children.withLock { $0.append(child) } }
      },
      Named(name: "next"))
    #expect(context.defaultLifetime == standard)
    Named(name: "after").register(in: context)
    let lifetimes = ["inner", "innermost", "inner's own", "outer", "next", "after"].map { lifetime($0, in: context) }
    #expect(lifetimes == [standard, standard, .weak, .context, standard, standard])
    #expect(children.withLock { $0.map(\.defaultLifetime) } == [.context])
  }

  /// A module's default lifetime does not reach other contexts, nor theirs the module.
  @Test func otherContextsKeepTheirDefaultLifetime() throws {
    let child = try context.makeChild(tag: "child")
    context.install(
      Setting { [child] context in
        context.defaultLifetime = .context
        #expect(child.defaultLifetime == .unique)
        child.install(Named(name: "below"))
        child.defaultLifetime = .weak
      })
    #expect(lifetime("below", in: child) == .unique && child.defaultLifetime == .weak)
    #expect(context.defaultLifetime == .unique)
  }

  /// What other threads register meanwhile gets the context's default lifetime, and a default that they set stays.
  @Test func theDefaultLifetimeOfAModuleIsNotThatOfOtherThreads() {
    let (isSet, goOn) = (Meeting(3), Meeting(3))
    onThreads([
      {
        context.install(
          Setting { context in
            context.defaultLifetime = .context
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
    #expect(["module", "other module", "no module"].map { lifetime($0, in: context) } == [.context, .unique, .unique])
    #expect(context.defaultLifetime == .graph)
  }

  // MARK: The same module twice

  /// No stored properties, so all instances are the same module.
  struct Empty: UDIModule {
    static let installed = Locked<[UDIContext: Int]>([:])
    func register(in context: UDIContext) {
      Self.installed.withLock { $0[context, default: 0] += 1 }
      context.register((any Alpha).self, lifetime: .context) { Made() }
    }
  }

  @Test func aModuleWithoutPropertiesIsInstalledOnce() throws {
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

  /// The same if it is `Hashable`, so that `==` could compare it.
  struct Bare: UDIModule, Hashable {
    static let installed = Locked<[UDIContext: Int]>([:])
    func register(in context: UDIContext) { Self.installed.withLock { $0[context, default: 0] += 1 } }
  }

  @MainActor @Test(arguments: [false, true]) func bothFormsRecogniseAModuleWithoutProperties(_ isSendableFirst: Bool) {
    let same: any UDIModule = Bare()
    if isSendableFirst { context.install(Bare(), Bare()) }
    context.install(same, same)
    context.install(Bare())
    #expect(Bare.installed.withLock { $0.removeValue(forKey: context) } == 1)
  }

  /// Has no stored properties, but its cases are different modules.
  enum Variant: UDIModule {
    case first, second
    static let installed = Locked<[UDIContext: [Variant]]>([:])
    func register(in context: UDIContext) { Self.installed.withLock { $0[context, default: []].append(self) } }
  }

  @Test func theCasesOfAnEnumAreDifferentModules() {
    context.install(Variant.first, Variant.second, Variant.first)
    #expect(Variant.installed.withLock { $0.removeValue(forKey: context) ?? [] } == [.first, .second])
  }

  struct Numbered: UDIModule, Hashable {
    let number: Int
    let installed: Census
    static func == (left: Numbered, right: Numbered) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
    func register(in context: UDIContext) { installed.born() }
  }

  /// Equal to the other module, but of another type.
  struct OtherNumbered: UDIModule, Hashable {
    let number: Int
    let installed: Census
    static func == (left: OtherNumbered, right: OtherNumbered) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
    func register(in context: UDIContext) { installed.born() }
  }

  @Test func equalModulesAreInstalledOnce() {
    let installed = Census()
    context.install(Numbered(number: 1, installed: installed), Numbered(number: 2, installed: installed))
    context.install(Numbered(number: 2, installed: installed), Numbered(number: 1, installed: installed))
    #expect(installed.everBorn == 2)
    context.install(OtherNumbered(number: 1, installed: installed))
    #expect(installed.everBorn == 3)
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

  @Test func allOthersAreInstalledAgain() {
    let runs = Tally()
    let module = Setting { _ in runs.add() }
    context.install(module, module)
    #expect(runs.count == 2)
  }

  /// A module that installs itself, or another module that installs it.
  struct Mutual: UDIModule, Hashable {
    let isFirst: Bool
    func register(in context: UDIContext) {
      context.register((any Alpha).self, named: UDIName(isFirst), metadata: "") { Made() }
      context.install(self, Mutual(isFirst: !isFirst))
    }
  }

  @Test func modulesThatInstallOneAnother() {
    context.install(Mutual(isFirst: true))
    #expect(context.registrations(of: (any Alpha).self).count == 2)
  }

  // MARK: Threads

  /// Its `==` uses the library, and takes its time.
  struct Slow: UDIModule, Hashable {
    let number: Int
    let context: UDIContext
    let installed: Tally
    let meeting: Meeting
    static func == (left: Slow, right: Slow) -> Bool {
      _ = left.context.link((any Service).self)
      return left.number == right.number
    }
    func hash(into hasher: inout Hasher) {}
    func register(in context: UDIContext) {
      meeting.arrive()
      context.register((any Alpha).self, named: UDIName(number), lifetime: .context) { Made() }
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
        context.install(Slow(number: 1, context: context, installed: installed, meeting: coming))
        #expect(context.link((any Alpha).self, named: UDIName(1)) != nil)
      }
      #expect(installed.count == 1)
    }
  }

  @Test func threadsThatInstallManyModules() {
    let seed = UInt64.random(in: 0...UInt64.max)
    let (installed, open) = (Tally(), Meeting(0))
    onThreads(4) { thread in
      var random = SplitMix(seed: seed &+ UInt64(thread))
      for _ in 0..<200 {
        let number = Int.random(in: 0..<30, using: &random)
        context.install(Slow(number: number, context: context, installed: installed, meeting: open), Empty())
        #expect(context.link((any Alpha).self, named: UDIName(number)) != nil, "seed \(seed)")
      }
    }
    let count = context.registrations(of: (any Alpha).self).count
    #expect(installed.count == count - 1, "seed \(seed)")
    #expect(Empty.installed.withLock { $0.removeValue(forKey: context) } == 1)
  }

  /// Two threads install two modules that install each other: nobody waits forever.
  struct Crossed: UDIModule, Hashable {
    let number: Int
    let meeting: Meeting
    static func == (left: Crossed, right: Crossed) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
    func register(in context: UDIContext) {
      context.register((any Alpha).self, named: UDIName(number)) { Made() }
      meeting.arrive()
      context.install(Crossed(number: 1 - number, meeting: meeting))
    }
  }

  @Test func threadsThatInstallModulesThatInstallOneAnother() {
    for _ in 0..<20 {
      let context = UDIContext(tag: "context")
      let meeting = Meeting(2)
      onThreads(2) { number in context.install(Crossed(number: number, meeting: meeting)) }
      #expect(context.registrations(of: (any Alpha).self).count == 2)
    }
  }

  // MARK: On the main actor

  final class Local: UDIModule {
    var installed = 0
    func register(in context: UDIContext) { installed += 1 }
  }

  /// Nor does a context remember modules that are gone.
  @MainActor @Test func modulesThatAreGoneAreForgotten() {
    for _ in 0..<100 { context.install(Local()) }
    #expect(context.change { node, _ in node.treeLocked.extras?.modules.count } == 1)
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
    weak var gone: Local?
    do {
      let local = Local()
      gone = local
      context.install(local, LocalValue(local: local))
      context.install(local)
      #expect(local.installed == 2)
    }
    #expect(gone == nil)
    context.install(Empty(), first)
    context.install(Empty())
    #expect(Empty.installed.withLock { $0.removeValue(forKey: context) } == 1)
  }
}
