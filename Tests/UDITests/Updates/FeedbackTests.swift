import Testing
import UDI

/// What a lookup for a consumer causes is no news, neither to that consumer nor to another one.
///
/// After each change the tests wait until all consumers wait. A consumer that keeps itself busy never waits, and is
/// given far too many elements.
@MainActor struct FeedbackTests {
  let root = UDIContext(tag: "root")
  let makings = Tally()

  private func settle(_ others: UDIContext...) async {
    #expect(await UDITests.settle([root] + others), "consumers keep themselves busy")
  }

  /// How the instances that a provider makes come to be bound.
  enum Manner: CaseIterable {
    case itself, helper, onCreate, inFactory, attachedInFactory, otherKey, later
    case inChild, inAddedChild, inSetUp, providedInChild, keptInChild, upwardsInSetUp

    /// Whether something else is bound as well, under the key of the instance.
    var bindsHelper: Bool { [.helper, .keptInChild, .upwardsInSetUp].contains(self) }
  }

  /// Registers a provider whose instances are bound in a given manner.
  private func register(_ manner: Manner, _ lifetime: UDILifetime, _ label: String = "made") {
    let makings = makings
    switch manner {
    case .onCreate:
      root.register((any Service).self, lifetime: lifetime) {
        makings.add()
        return Plain(label) as any Service
      }.onCreate { context, made in
        context.bind(made, as: (any Service).self)
      }
    default:
      root.register((any Service).self, lifetime: lifetime) { (context: UDIContext) -> any Service in
        makings.add()
        switch manner {
        case .itself: return Member(label) { $0.bind($0, as: (any Service).self) }
        case .helper:
          let helper = Plain("helper")
          return Member(label) { $0.bind(helper, as: (any Service).self) }
        case .inFactory:
          let plain = Plain(label)
          context.bind(plain, as: (any Service).self)
          return plain
        case .attachedInFactory: return Member(label) { $0.bind($0, as: (any Service).self) }.attached(to: context)
        case .otherKey: return Member(label) { $0.bind($0, as: (any Other).self) }
        case .inChild:
          let child = try context.makeChild(tag: "child \(makings.count)")
          let helper = Plain("helper")
          child.bind(helper, as: (any Other).self)
          return Keeper(label, helper) { child.removeFromParent() }
        case .inAddedChild:
          let child = UDIContext(tag: "child \(makings.count)")
          let helper = Plain("helper")
          child.bind(helper, as: (any Other).self)
          try context.addChild(child)
          return Keeper(label, helper) { child.removeFromParent() }
        case .providedInChild:
          let child = UDIContext(tag: "child \(makings.count)")
          child.provide(Plain("helper") as any Other, as: (any Other).self)
          try context.addChild(child)
          return Keeper(label, nil) { child.removeFromParent() }
        case .inSetUp:
          let helper = Plain("helper")
          let child = UDIContext(tag: "child \(makings.count)") { $0.bind(helper, as: (any Other).self) }
          try context.addChild(child)
          return Keeper(label, helper) { child.removeFromParent() }
        case .keptInChild:
          let child = UDIContext(tag: "child \(makings.count)")
          child.register((any Other).self, lifetime: .context) { [weak context] in
            let helper = Member("helper")
            context?.bind(helper, as: (any Service).self)
            return helper
          }
          _ = child.link((any Other).self)
          try context.addChild(child)
          return Keeper(label, nil) { child.removeFromParent() }
        case .upwardsInSetUp:
          let helper = Plain("helper")
          let child = UDIContext(tag: "child \(makings.count)") { [weak context] _ in
            context?.bind(helper, as: (any Service).self)
          }
          _ = child.link((any Other).self)
          return Keeper(label, helper) {}
        case .later:
          return Member(label) { member in Task { @MainActor in member.bind(member, as: (any Service).self) } }
        case .onCreate: throw OutOfOrder()
        }
      }
    }
  }

  @Test("One element when it begins, and then none but what is bound by hand", arguments: Manner.allCases, [1, 2, 3])
  func nothingOfItsOwn(_ manner: Manner, _ count: Int) async {
    for lifetime in [UDILifetime.unique, .graph, .weak, .context, UDILifetime("own", storage: .weak)] {
      let before = makings.count
      register(manner, lifetime)
      let consumers = (0..<count).map { _ in Follower(root.updates(of: (any Service).self)) }
      let others = (0..<count).map { _ in Follower(root.updates(of: (any Other).self)) }
      await settle()
      let isKept = lifetime == .context
      #expect((1...(isKept ? 1 : count)).contains(makings.count - before), "\(lifetime)")
      let marker = Plain("marker")
      root.bind(marker, as: (any Service).self)
      root.bind(marker, as: (any Other).self)
      await settle()
      for consumer in consumers where !isKept {
        // A task that binds an instance lives long enough for the others to find the instance.
        let expected = Array(repeating: "made", count: manner == .later ? consumer.seen.count - 1 : 1) + ["marker"]
        #expect(consumer.seen == expected && consumer.seen.count <= count + 1, "\(lifetime)")
      }
      for other in others where !isKept { #expect(other.seen == [nil, "marker"], "\(lifetime)") }
      // An instance that is kept also keeps what it binds.
      for consumer in consumers + others where isKept {
        #expect(consumer.seen.count <= 3 && consumer.seen.last == "marker", "\(lifetime)")
      }
      for consumer in consumers + others { await consumer.end() }
      root.unregister((any Service).self)
    }
  }

  @Test("What a consumer holds others find, and it is gone when it lets go", arguments: Manner.allCases, [1, 2])
  func held(_ manner: Manner, _ count: Int) async {
    register(manner, .unique)
    let holder = Follower(root.updates(of: (any Service).self), holds: true)
    await settle()
    let others = (0..<count).map { _ in Follower(root.updates(of: (any Service).self)) }
    await settle()
    let another = Follower(root.updates(of: (any Other).self))
    await settle()
    let found = manner.bindsHelper ? "helper" : "made"
    #expect(holder.seen == (manner.bindsHelper ? ["made", "helper"] : ["made"]))
    for other in others { #expect(other.seen == [found]) }
    holder.letGo()
    await settle()
    let marker = Plain("marker")
    root.bind(marker, as: (any Service).self)
    root.bind(marker, as: (any Other).self)
    await settle()
    #expect(holder.seen.suffix(2) == [found, "marker"])
    for other in others { #expect(other.seen == [found, "marker"]) }
    // The other key has no provider. By then, what is bound under it in the root comes from another instance, which
    // nobody held.
    let isBelow = [.inChild, .inAddedChild, .inSetUp, .providedInChild, .keptInChild].contains(manner)
    #expect(another.seen == (isBelow ? ["helper", nil, "marker"] : [nil, "marker"]))
    for consumer in [holder, another] + others { await consumer.end() }
  }

  @Test("Nothing that others change is lost", arguments: Manner.allCases, [1, 2])
  func whatOthersChange(_ manner: Manner, _ count: Int) async throws {
    register(manner, .unique)
    let consumers = (0..<count).map { _ in Follower(root.updates(of: (any Service).self)) }
    func expect(_ label: String?, _ what: Comment, line: SourceLocation = #_sourceLocation) async {
      await settle()
      for consumer in consumers {
        #expect(consumer.take() == [label], what, sourceLocation: line)
      }
    }
    await expect("made", "the beginning")
    var member: Member? = Member("by hand")
    root.bind(try #require(member), as: (any Service).self)
    await expect("by hand", "bound by hand")
    member = nil
    await expect("made", "its death")
    member = Member("attached") { $0.bind($0, as: (any Service).self) }.attached(to: root)
    await expect("attached", "attached by hand")
    member?.attachedContext = nil
    await expect("made", "detached by hand")
    register(manner, .unique, "second")
    await expect("second", "a registration")
    root.reset()
    await expect("second", "a reset")
    root.unregister((any Service).self)
    await expect(nil, "no provider any more")
    let plain = Plain("plain")
    root.bind(plain, as: (any Service).self)
    await expect("plain", "bound by hand again")
    root.unbind((any Service).self)
    await expect(nil, "unbound by hand")
    let branch = UDIContext(tag: "branch")
    let inBranch = Plain("in a branch")
    branch.bind(inBranch, as: (any Service).self)
    try root.addChild(branch)
    await expect("in a branch", "a branch is added")
    branch.unbind((any Service).self)
    await expect(nil, "unbound in the branch")
    branch.register((any Service).self, lifetime: .unique) { Plain("of the branch") }
    await expect("of the branch", "a provider in the branch")
    branch.removeFromParent()
    await expect(nil, "the branch is removed")
    try root.addChild(branch)
    await expect("of the branch", "it comes back")
    register(manner, .unique, "third")
    await expect("third", "a provider in front of it")
    for consumer in consumers { await consumer.end() }
  }

  @Test("A provider that comes behind something that a look has brought is asked when that goes")
  func providerBehind() async {
    register(.itself, .unique)
    let holder = Follower(root.updates(of: (any Service).self), holds: true)
    await settle()
    let other = Follower(root.updates(of: (any Service).self))
    await settle()
    register(.itself, .unique, "second")
    await settle()
    holder.letGo()
    await settle()
    #expect(holder.seen == ["made", "second"])
    // Perhaps first one that it had made itself, and then the one that is held.
    #expect([["made", "second"], ["made", "second", "second"]].contains(other.seen))
    #expect(makings.count <= 3)
    for consumer in [holder, other] { await consumer.end() }
  }

  @Test("That goes for one who found it there, too")
  func providerBehindWhatWasFound() async {
    register(.itself, .unique)
    let holder = Follower(root.updates(of: (any Service).self), holds: true)
    await settle()
    let other = Follower(root.updates(of: (any Service).self))
    await settle()
    register(.itself, .unique, "second")
    await holder.end()
    holder.letGo()
    await settle()
    #expect(other.seen == ["made", "second"])
    await other.end()
  }

  @Test("What somebody bound and a look replaced is gone: a provider is asked when what replaced it goes")
  func replacedByLook() async {
    register(.otherKey, .unique)
    root.register((any Other).self, lifetime: .unique) { context in
      let helper = Plain("helper")
      return Member("other") { _ in context.bind(helper, as: (any Service).self) }
    }
    let plain = Plain("by hand")
    root.bind(plain, as: (any Service).self)
    let consumer = Follower(root.updates(of: (any Service).self))
    await settle()
    let holder = Follower(root.updates(of: (any Other).self), holds: true)
    await settle()
    #expect(consumer.seen == ["by hand", "helper"])
    await holder.end()
    holder.letGo()
    // A helper that takes no part in the tree is found dead when something touches it.
    _ = root.linkAll((any Service).self, search: .local)
    await settle()
    #expect(consumer.seen == ["by hand", "helper", "made"])
    await consumer.end()
  }

  /// How a context that a lookup adds comes to have something.
  enum Content: CaseIterable { case bound, provided, kept }

  @Test("A context that a look adds and that goes again is no news", arguments: Content.allCases, [1, 2])
  func contextsOfLooks(_ content: Content, _ count: Int) async throws {
    // The provider is two levels below, so what is in a child of the root comes before it.
    let makings = makings
    try root.makeChild(tag: "a").makeChild(tag: "b").register((any Service).self, lifetime: .unique) { context in
      makings.add()
      let child = UDIContext(tag: "child \(makings.count)")
      let helper = Plain("helper")
      switch content {
      case .bound: child.bind(helper, as: (any Service).self)
      case .provided: child.provide(helper as any Service, as: (any Service).self)
      case .kept:
        child.register((any Service).self, lifetime: .context) { helper }
        _ = child.link((any Service).self)
      }
      try context.addChild(child)
      return Keeper("made", helper) { child.removeFromParent() }
    }
    let consumers = (0..<count).map { _ in Follower(root.updates(of: (any Service).self)) }
    await settle()
    #expect(makings.count == count)
    for consumer in consumers {
      #expect(consumer.seen == ["made"])
      await consumer.end()
    }
  }

  @Test("Where there was nothing at all, a provider that another consumer's look brings is asked")
  func providerByLook() async {
    let consumer = Follower(root.updates(of: (any Other).self))
    await settle()
    root.register((any Service).self, lifetime: .unique) { context in
      context.register((any Other).self) { Plain("of a look") }
      return Plain("made")
    }
    let others = (0..<2).map { _ in Follower(root.updates(of: (any Service).self)) }
    await settle()
    #expect(consumer.seen == [nil, "of a look"])
    for consumer in others { #expect(consumer.seen == ["made"]) }
    for consumer in others + [consumer] { await consumer.end() }
  }

  @Test("What a kept instance binds is no feedback, whoever had it made: its death is told", arguments: [true, false])
  func helpersOfWhatIsKept(_ isBoundOnCreate: Bool) async {
    root.register((any Service).self) { Plain("fallback") }
    let parts = Locked<[Member]>([])
    root.register((any Other).self, lifetime: .context) {
      let part = Member("part")
      parts.withLock { $0 = [part] }
      return Member("kept") { if !isBoundOnCreate { $0.bind(part, as: (any Service).self) } }
    }.onCreate { context, _ in
      if isBoundOnCreate { parts.withLock { $0 }.forEach { context.bind($0, as: (any Service).self) } }
    }
    let others = Follower(root.updates(of: (any Other).self))
    await settle()
    let consumer = Follower(root.updates(of: (any Service).self))
    await settle()
    parts.withLock { $0 = [] }
    root.unbind((any Service).self)
    await settle()
    #expect(others.seen == ["kept"])
    #expect(consumer.seen == ["part", "fallback"])
    for consumer in [consumer, others] { await consumer.end() }
  }

  @Test("What a factory binds is no news, also after it has had something made that is kept")
  func afterSomethingKept() async {
    root.register((any Other).self, lifetime: .context) { Plain("part") }
    root.register((any Service).self) { context in
      _ = context.link((any Other).self)
      return Member("made") { $0.bind($0, as: (any Service).self) }
    }
    let consumer = Follower(root.updates(of: (any Service).self))
    await settle()
    #expect(consumer.seen == ["made"])
    await consumer.end()
  }

  @Test("What is bound for a while, when something kept is made for a look, is no news to that consumer")
  func boundForAWhile() async {
    root.register((any Other).self, lifetime: .context) { context in
      context.bind(Plain("brief"), as: (any Service).self)
      context.unbind((any Service).self)
      return Plain("part")
    }
    root.register((any Service).self) { context in
      _ = context.link((any Other).self)
      return Plain("made")
    }
    let consumer = Follower(root.updates(of: (any Service).self))
    await settle()
    #expect(consumer.seen == ["made"])
    await consumer.end()
  }

  @Test("A provider that fails is asked once by each consumer, whatever it binds before", arguments: [1, 2, 3])
  func failures(_ count: Int) async {
    for lifetime in [UDILifetime.unique, .graph, .weak, .context] {
      let makings = makings
      let before = makings.count
      root.register((any Service).self, lifetime: lifetime) { context in
        makings.add()
        _ = Member { $0.bind($0, as: (any Service).self) }.attached(to: context)
        throw OutOfOrder()
      }
      await withReporter(.silent) {
        let consumers = (0..<count).map { _ in Follower(root.updates(of: (any Service).self)) }
        let waiters = (0..<count).map { _ in Task { try? await root.linkWhenAvailable((any Service).self) } }
        await settle()
        // A consumer that waits first looks without a watcher.
        #expect(makings.count - before <= 6 * count, "\(lifetime)")
        let marker = Plain("marker")
        root.bind(marker, as: (any Service).self)
        await settle()
        for consumer in consumers {
          #expect(consumer.seen == [nil, "marker"], "\(lifetime)")
          await consumer.end()
        }
        for waiter in waiters { #expect(await waiter.value === marker) }
      }
      root.unregister((any Service).self)
    }
  }

  @Test("A value that is kept is given once to each consumer, also if another one has it made")
  func keptValues() async {
    root.register(String.self, lifetime: .context) { "value" }
    let consumers = (0..<3).map { _ in Follower(root.updates(of: String.self)) }
    await settle()
    for consumer in consumers { #expect(consumer.seen == ["value"]) }
    root.reset()
    await settle()
    for consumer in consumers {
      #expect(consumer.seen == ["value", "value"])
      await consumer.end()
    }
  }

  @Test("What is not Sendable, on the main actor")
  func mainActor() async throws {
    let makings = makings
    root.register((any Display).self, lifetime: .unique) {
      makings.add()
      return Screen() as any Display
    }
    let root = root
    var count = 0
    let tasks = (0..<2).map { _ in
      Task { @MainActor in
        for await found in root.updates(of: (any Display).self) {
          count += 1
          if found?.label == "marker" { return }
        }
      }
    }
    await settle()
    let marker = Screen("marker")
    root.bind(marker, as: (any Display).self)
    for task in tasks { await task.value }
    #expect(count == 4 && makings.count == 2)
    #expect(try await root.linkWhenAvailable((any Display).self) === marker)
  }

  @Test("Off the main actor, on many threads: as many makings as consumers")
  func offTheMainActor() async throws {
    registerForAnyThread()
    let (root, given) = (root, Tally())
    let marker = Plain("marker")
    let consumers = (0..<8).map { _ in
      Task.detached {
        for await found in root.updates(of: (any Service).self) {
          if found === marker { return }
          given.add()
        }
      }
    }
    await eventually { given.count >= 8 }
    let plain = Plain()
    // Gives a turn to those who would be notified of something.
    for index in 0..<500 {
      root.bind(plain, as: (any Other).self, named: UDIName(index % 3))
      await Task.yield()
    }
    root.bind(marker, as: (any Service).self)
    for consumer in consumers { await consumer.value }
    #expect(1...8 ~= makings.count, "nobody but a consumer's first look has anything made")
  }

  /// Registers a provider whose factory does not belong to the main actor, as those that are written in this suite do. Its instances bind
  /// themselves.
  nonisolated private func registerForAnyThread() {
    let makings = makings
    root.register((any Service).self, lifetime: .unique) {
      makings.add()
      return Member("made") { $0.bind($0, as: (any Service).self) } as any Service
    }
  }

  @Test("A provider that another consumer's look brings in front of what somebody bound is not asked")
  func providerInFront() async throws {
    let makings = makings
    let bound = Plain("bound")
    try root.makeChild(tag: "child").bind(bound, as: (any Service).self)
    root.register((any Other).self, lifetime: .unique) { (context: UDIContext) -> any Other in
      context.register((any Service).self, lifetime: .unique) {
        makings.add()
        return Plain("made") as any Service
      }
      return Plain()
    }
    let first = Follower(root.updates(of: (any Service).self))
    await settle()
    let second = Follower(root.updates(of: (any Other).self))
    await settle()
    #expect(first.take() == ["bound"] && second.take() == ["plain"] && makings.count == 0)
    await first.end()
    await second.end()
  }

  /// A factory that moves the context of a consumer.
  @Test(arguments: UDISearch.allCases)
  func aFactoryThatMovesItsConsumers(_ search: UDISearch) async throws {
    let (root, makings) = (self.root, self.makings)
    let panel = try root.makeChild(tag: "panel", search: search)
    root.register((any Service).self, lifetime: .unique) {
      makings.add()
      try? root.addChild(panel)
      return Plain("made")
    }
    let followers = (0..<2).map { _ in Follower(panel.updates(of: (any Service).self)) }
    await settle(panel)
    #expect(makings.count <= 4)
    for follower in followers { await follower.end() }
  }

  @Test("A value that a provider keeps is given again when it comes back")
  func valueComesBack() async throws {
    let side = try root.makeChild(tag: "side")
    // The provider of the value is registered during a consumer's lookup.
    root.register((any Other).self) { (_: UDIContext) -> any Other in
      side.register(String.self, lifetime: .context) { "value" }
      return Plain()
    }
    let looker = Follower(root.updates(of: (any Other).self))
    await settle(side)
    let consumer = Follower(root.updates(of: String.self))
    await settle(side)
    #expect(consumer.take() == ["value"])
    root.removeChild(side)
    await settle(side)
    #expect(consumer.take() == [nil])
    try root.addChild(side)
    await settle(side)
    #expect(root.link(String.self) == "value")
    #expect(consumer.take() == ["value"])
    await looker.end()
    await consumer.end()
  }
}

/// Holds a helper, and does something when it dies.
private final class Keeper: Service, Loose {
  let label: String
  let helper: Plain?
  let farewell: @Sendable () -> Void

  init(_ label: String, _ helper: Plain?, farewell: @escaping @Sendable () -> Void) {
    self.label = label
    self.helper = helper
    self.farewell = farewell
  }

  deinit { farewell() }
}

private protocol Display: AnyObject { var label: String { get } }

@MainActor private final class Screen: @MainActor UDIObject, @MainActor Display {
  let _attachedContext = UDIAttachment()
  let label: String
  init(_ label: String = "made") { self.label = label }
  func didAttachContext() { bind(self, as: (any Display).self) }
}
