import Testing
import UDI

@Suite(.unlessItHangs) struct SharedCreationTests {
  static let lifetimes = [
    UDILifetime.weak, .context, UDILifetime("own"), UDILifetime("mine", storage: .custom { Strong() }),
  ]

  /// The simplest possible storage.
  final class Strong: UDIStorage {
    private let made = Locked<UDIMade?>(nil)
    func load() -> UDIMade? { made.withLock { $0 } }
    func store(_ made: UDIMade) { self.made.withLock { $0 = made } }
    func reset() { made.withLock { $0 = nil } }
  }

  /// The factory does not end before a good many threads are on their way to it.
  @Test(arguments: lifetimes) func sixtyFourThreadsGetTheSame(_ lifetime: UDILifetime) {
    let context = UDIContext(tag: "context")
    let (census, coming, linked) = (Census(), Meeting(33), Collected())
    context.register((any Alpha).self, lifetime: lifetime) {
      coming.arrive()
      return Made("a", census)
    }
    onThreads(64) { _ in
      // One of the threads is in the factory; half of the others have come this far.
      if !linked.isFirst() { coming.arrive() }
      linked.add(context.link((any Alpha).self))
    }
    #expect(census.everBorn == 1)
    #expect(linked.all.count == 64 && linked.all.allSatisfy { $0 === linked.all[0] })
  }

  /// Each factory waits until the other one has begun.
  @Test func unrelatedProvidersDoNotWaitForEachOther() {
    let context = UDIContext(tag: "context")
    let meeting = Meeting(2)
    context.register((any Alpha).self, lifetime: .context) {
      meeting.arrive()
      return Made()
    }
    context.register((any Beta).self, lifetime: .context) {
      meeting.arrive()
      return Made()
    }
    onThreads([
      { #expect(context.link((any Alpha).self) != nil) }, { #expect(context.link((any Beta).self) != nil) },
    ])
  }

  @Test func differentArgumentsDoNotWaitForEachOther() {
    let context = UDIContext(tag: "context")
    let meeting = Meeting(2)
    context.register((any Alpha).self, lifetime: .context) { (_, number: Int) in
      meeting.arrive()
      return Made("\(number)")
    }
    onThreads(2) { number in #expect((context.link((any Alpha).self, with: number) as? Made)?.label == "\(number)") }
  }

  @Test func aFailureIsSharedByThoseWhoWaitAndThenTriedAgain() {
    let context = UDIContext(tag: "context")
    let (calls, coming) = (Tally(), Meeting(2))
    context.register((any Alpha).self, lifetime: .context) { () throws -> Made in
      calls.add()
      coming.arrive()
      throw OutOfOrder(code: calls.count)
    }
    onThreads(2) { index in
      if index == 1 { coming.arrive() }
      #expect(throws: OutOfOrder.self) { try context.require((any Alpha).self) }
    }
    #expect(throws: OutOfOrder.self) { try context.require((any Alpha).self) }
    #expect((2...3).contains(calls.count))
  }

  @Test func aResetWhileItIsMadeIsNotForgotten() {
    let context = UDIContext(tag: "context")
    let census = Census()
    context.register((any Alpha).self, lifetime: .context) { context in
      if census.everBorn == 0 { context.reset() }
      return Made("a", census)
    }
    let first = context.link((any Alpha).self)
    #expect(first != nil)
    let second = context.link((any Alpha).self)
    #expect(second !== first && second === context.link((any Alpha).self))
  }

  @Test func replacedWhileItIsMade() {
    let context = UDIContext(tag: "context")
    context.register((any Alpha).self, lifetime: .context) { context in
      context.register((any Alpha).self, lifetime: .context, replaces: true) { Made("new") }
      return Made("old")
    }
    #expect((context.link((any Alpha).self) as? Made)?.label == "old")
    #expect((context.link((any Alpha).self) as? Made)?.label == "new")
  }

  /// Factories, hooks and deinitialisers that do everything that is possible.
  @Test func factoriesAndDeinitialisersMayDoAnything() throws {
    let root = UDIContext(tag: "root")
    let farewells = Tally()
    @Sendable func useTree() {
      if let child = try? root.makeChild(tag: "temporary") {
        let plain = Plain()
        child.bind(plain, as: (any Other).self)
        _ = root.link((any Other).self)
        child.register((any Gamma).self, lifetime: .context) { Made() }
        _ = root.link((any Gamma).self)
        root.removeChild(child)
      }
    }
    for lifetime in SharedCreationTests.lifetimes + [.unique, .graph] {
      root.register((any Service).self, named: UDIName(lifetime.name), lifetime: lifetime) { _ in
        useTree()
        return Farewell {
          farewells.add()
          useTree()
        }
      }
    }
    for lifetime in SharedCreationTests.lifetimes + [.unique, .graph] {
      #expect(root.link((any Service).self, named: UDIName(lifetime.name)) != nil)
    }
    root.reset()
    for lifetime in SharedCreationTests.lifetimes + [.unique, .graph] {
      _ = root.link((any Service).self, named: UDIName(lifetime.name))
      root.unregister((any Service).self, named: UDIName(lifetime.name))
    }
    #expect(farewells.count == 12)
    #expect(root.children.isEmpty)
  }

  /// A thread whose wait has ended no longer counts as waiting, even before it wakes up.
  @Test func whoHasWaitedIsInNobodysWay() {
    for _ in 0..<100 {
      let context = UDIContext(tag: "context")
      let (alphaBegun, betaBegun) = (Meeting(2), Meeting(2))
      context.register((any Beta).self, lifetime: .context) {
        betaBegun.arrive()
        alphaBegun.arrive()
        return Made("b")
      }
      context.register((any Alpha).self, lifetime: .context) { context in
        alphaBegun.arrive()
        return Made("a", parts: [try context.require((any Beta).self)])
      }
      onThreads([
        {
          #expect(throws: Never.self) { try context.require((any Beta).self) }
          #expect(throws: Never.self) { try context.require((any Alpha).self) }
        },
        {
          betaBegun.arrive()
          #expect(throws: Never.self) { try context.require((any Alpha).self) }
        },
      ])
    }
  }

  #if DEBUG
    /// A thread that has waited does not keep what it has waited for.
    @Test func whoHasWaitedHoldsNothing() {
      let (context, census) = (UDIContext(tag: "context"), Census())
      let (begun, waits, hasLinked) = (Meeting(2), Meeting(2), Meeting(2))
      context.register((any Alpha).self, lifetime: .weak) {
        begun.arrive()
        waits.arrive()
        return Made("a", census)
      }
      onThreads([
        {
          #expect(context.link((any Alpha).self) != nil)
          hasLinked.arrive()
        },
        {
          begun.arrive()
          let found = Schedule.$hook.withValue({ if $0 == .waits { waits.arrive() } }) {
            context.link((any Alpha).self) != nil
          }
          hasLinked.arrive()
          #expect(found && census.everBorn == 1 && census.alive == 0)
        },
      ])
    }
  #endif

  @Test func threeThreadsInACircle() {
    for _ in 0..<50 {
      let context = UDIContext(tag: "context")
      let meeting = Meeting(3)
      context.register((any Alpha).self, lifetime: .context) { context in
        meeting.arrive()
        return Made(parts: [try context.require((any Beta).self)])
      }
      context.register((any Beta).self, lifetime: .context) { context in
        meeting.arrive()
        return Made(parts: [try context.require((any Gamma).self)])
      }
      context.register((any Gamma).self, lifetime: .context) { context in
        meeting.arrive()
        return Made(parts: [try context.require((any Alpha).self)])
      }
      onThreads([
        { #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) } },
        { #expect(throws: UDILinkError.self) { try context.require((any Beta).self) } },
        { #expect(throws: UDILinkError.self) { try context.require((any Gamma).self) } },
      ])
    }
  }

  /// Contexts and providers that come and go within one link: the library does not confuse those that are gone with
  /// those that came later.
  @Test func theGraphDoesNotConfuseProviders() throws {
    let context = UDIContext(tag: "context")
    context.register((any Gamma).self, lifetime: .unique) { _ in
      let labels = (0..<50).map { index in
        let request = UDIContext(tag: "request")
        request.register((any Alpha).self, lifetime: .graph) { Made("\(index)") }
        return (request.link((any Alpha).self) as? Made)?.label ?? ""
      }
      return Made(labels.joined(separator: " "))
    }
    let made = try #require(context.link((any Gamma).self) as? Made)
    #expect(made.label == (0..<50).map { "\($0)" }.joined(separator: " "))
  }

  @Test func aResetBeginsAnew() {
    let context = UDIContext(tag: "context")
    let census = Census()
    let (begun, reset) = (Meeting(2), Meeting(2))
    context.register((any Alpha).self, lifetime: .context) {
      let made = Made("a", census)
      if census.everBorn == 1 {
        begun.arrive()
        reset.arrive()
      }
      return made
    }
    onThreads([
      { _ = context.link((any Alpha).self) },
      {
        begun.arrive()
        context.reset()
        let after = context.link((any Alpha).self)
        reset.arrive()
        #expect(after != nil && context.link((any Alpha).self) === after)
      },
    ])
    #expect(census.everBorn == 2)
  }

  @Test func endlessRecursionIsAnError() {
    let context = UDIContext(tag: "context")
    context.register((any Alpha).self, lifetime: .context) { (context, number: Int) in
      Made(parts: [try context.require((any Alpha).self, with: number + 1)])
    }
    context.register((any Beta).self, lifetime: .context) { (context, number: Int) in
      context.reset()
      return Made(parts: [try context.require((any Beta).self, with: number)])
    }
    #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, with: 0) }
    #expect(throws: UDILinkError.self) { try context.require((any Beta).self, with: 0) }
    @Sendable func registerAnew(_ context: UDIContext) throws -> Made {
      context.register((any Gamma).self, lifetime: .context, replaces: true) { try registerAnew($0) }
      return Made(parts: [try context.require((any Gamma).self)])
    }
    context.register((any Gamma).self, lifetime: .context) { try registerAnew($0) }
    onDeepThread { #expect(throws: UDILinkError.self) { try context.require((any Gamma).self) } }
  }

  /// One storage for two providers: each provider ignores what it did not store.
  @Test func aSharedStorageMixesNothingUp() {
    let context = UDIContext(tag: "context")
    let storage = Strong()
    let shared = UDILifetime("shared", storage: .custom { storage })
    context.register((any Alpha).self, lifetime: shared) { Made("a") }
    context.register((any Service).self, lifetime: shared) { Plain("s") }
    #expect((context.link((any Alpha).self) as? Made)?.label == "a")
    #expect((context.link((any Service).self) as? Plain)?.label == "s")
  }

  @Test func manyThreadsRegisterLinkAndReset() {
    let context = UDIContext(tag: "context")
    let census = Census()
    onThreads(8) { index in
      for round in 0..<300 {
        switch (index + round) % 6 {
        case 0: context.register((any Alpha).self, lifetime: .context, replaces: true) { Made("a", census) }
        case 1: context.reset()
        case 2: context.register((any Alpha).self, lifetime: .weak, replaces: true) { Made("a", census) }
        case 3: context.unregister((any Alpha).self)
        default: withExtendedLifetime(context.link((any Alpha).self)) {}
        }
      }
    }
    context.unregister((any Alpha).self)
    #expect(census.alive == 0)
  }
}

/// What the threads have linked.
final class Collected: Sendable {
  private let objects = Locked<[(any Alpha)?]>([])
  private let hasFirst = Locked(false)
  var all: [(any Alpha)?] { objects.withLock { $0 } }
  func add(_ object: (any Alpha)?) { objects.withLock { $0.append(object) } }
  func isFirst() -> Bool {
    hasFirst.withLock { hasFirst in
      defer { hasFirst = true }
      return !hasFirst
    }
  }
}
