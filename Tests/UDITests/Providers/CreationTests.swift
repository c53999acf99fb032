import Testing
import UDI

@Suite struct CreationTests {
  static let lifetimes = [
    UDILifetime.weak, .context, UDILifetime("own"), UDILifetime("mine", storage: .custom { Strong() }),
  ]

  /// The simplest storage there is.
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
      // One of them is in the factory; half of the others have come as far as this.
      if !linked.isFirst() { coming.arrive() }
      linked.add(context.link((any Alpha).self))
    }
    #expect(census.everBorn == 1)
    #expect(linked.all.count == 64 && linked.all.allSatisfy { $0 === linked.all[0] })
  }

  /// Each factory waits for the other one to have begun.
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
      context.register((any Alpha).self, lifetime: .context) { Made("new") }
      return Made("old")
    }
    #expect((context.link((any Alpha).self) as? Made)?.label == "old")
    #expect((context.link((any Alpha).self) as? Made)?.label == "new")
  }

  /// Factories, hooks and deinitialisers that do everything there is to do.
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
    for lifetime in CreationTests.lifetimes + [.unique, .graph] {
      root.register((any Service).self, named: UDIName(lifetime.name), lifetime: lifetime) { _ in
        useTree()
        return Farewell {
          farewells.add()
          useTree()
        }
      }
    }
    for lifetime in CreationTests.lifetimes + [.unique, .graph] {
      #expect(root.link((any Service).self, named: UDIName(lifetime.name)) != nil)
    }
    root.reset()
    for lifetime in CreationTests.lifetimes + [.unique, .graph] {
      _ = root.link((any Service).self, named: UDIName(lifetime.name))
      root.unregister((any Service).self, named: UDIName(lifetime.name))
    }
    #expect(farewells.count == 12)
    #expect(root.children.isEmpty)
  }

  @Test func manyThreadsRegisterLinkAndReset() {
    let context = UDIContext(tag: "context")
    let census = Census()
    onThreads(8) { index in
      for round in 0..<300 {
        switch (index + round) % 6 {
        case 0: context.register((any Alpha).self, lifetime: .context) { Made("a", census) }
        case 1: context.reset()
        case 2: context.register((any Alpha).self, lifetime: .weak) { Made("a", census) }
        case 3: context.unregister((any Alpha).self)
        default: withExtendedLifetime(context.link((any Alpha).self)) {}
        }
      }
    }
    context.unregister((any Alpha).self)
    #expect(census.alive == 0)
  }
}

/// What threads have linked.
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
