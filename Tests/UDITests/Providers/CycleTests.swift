import Testing
import UDI

@Suite(.unlessItHangs) struct CycleTests {
  let context = UDIContext(tag: "context")

  func registerCycle(_ lifetime: UDILifetime, onEnter: @escaping @Sendable (String) -> Void = { _ in }) {
    context.register((any Alpha).self, lifetime: lifetime) { context in
      onEnter("A")
      return Made("a", parts: [try context.require((any Beta).self)])
    }
    context.register((any Beta).self, lifetime: lifetime) { context in
      onEnter("B")
      return Made("b", parts: [try context.require((any Alpha).self)])
    }
  }

  static let lifetimes = [UDILifetime.unique, .graph, .weak, .context, UDILifetime("own")]

  @Test(arguments: lifetimes) func requireThrowsThePath(_ lifetime: UDILifetime) {
    registerCycle(lifetime)
    for _ in 0..<2 {
      let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
      #expect(error?.cause == .cycle(["UDITests.Alpha", "UDITests.Beta", "UDITests.Alpha"]))
      #expect(error?.description.hasPrefix("UDITests.Alpha → UDITests.Beta → UDITests.Alpha: ") == true)
    }
    let error = #expect(throws: UDILinkError.self) { try context.require((any Beta).self) }
    #expect(error?.cause == .cycle(["UDITests.Beta", "UDITests.Alpha", "UDITests.Beta"]))
  }

  @Test(arguments: lifetimes) func linkGivesNilAndReports(_ lifetime: UDILifetime) {
    registerCycle(lifetime)
    let (linked, misuse) = MisuseLog.during { context.link((any Alpha).self) }
    #expect(linked == nil)
    #expect(misuse.map(\.kind) == [.notMade])
    #expect(misuse.first?.message.hasPrefix("UDITests.Alpha → UDITests.Beta → UDITests.Alpha: ") == true)
  }

  @Test func aCycleOfOne() {
    context.register((any Alpha).self) { context in try context.require((any Alpha).self) }
    let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
    #expect(error?.cause == .cycle(["UDITests.Alpha", "UDITests.Alpha"]))
  }

  /// The path begins where the cycle begins.
  @Test func whatLeadsToTheCycleIsNoPartOfIt() {
    registerCycle(.graph)
    context.register((any Gamma).self) { context in Made("c", parts: [try context.require((any Alpha).self)]) }
    let error = #expect(throws: UDILinkError.self) { try context.require((any Gamma).self) }
    #expect(error?.cause == .cycle(["UDITests.Alpha", "UDITests.Beta", "UDITests.Alpha"]))
  }

  /// One thread makes A and then wants B; the other makes B and then wants A.
  @Test(arguments: [UDILifetime.weak, .context, UDILifetime("own")])
  func acrossTwoThreads(_ lifetime: UDILifetime) {
    for _ in 0..<50 {
      let context = UDIContext(tag: "context")
      let meeting = Meeting(2)
      context.register((any Alpha).self, lifetime: lifetime) { context in
        meeting.arrive()
        return Made("a", parts: [try context.require((any Beta).self)])
      }
      context.register((any Beta).self, lifetime: lifetime) { context in
        meeting.arrive()
        return Made("b", parts: [try context.require((any Alpha).self)])
      }
      onThreads([
        {
          let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
          #expect(error?.isCycle == true)
        },
        {
          let error = #expect(throws: UDILinkError.self) { try context.require((any Beta).self) }
          #expect(error?.isCycle == true)
        },
      ])
    }
  }

  #if DEBUG
    /// Who waits for something that turns out to be part of a cycle gets a path that begins with what it asked for.
    @Test func whoWaitsForACycleGetsAPathOfItsOwn() {
      let (begun, waits) = (Meeting(2), Meeting(2))
      context.register((any Beta).self, lifetime: .context) { context in
        Made(parts: [try context.require((any Alpha).self)])
      }
      context.register((any Alpha).self, lifetime: .context) { context in
        begun.arrive()
        waits.arrive()
        return Made(parts: [try context.require((any Beta).self)])
      }
      onThreads([
        {
          let error = #expect(throws: UDILinkError.self) { try context.require((any Beta).self) }
          #expect(error?.cause == .cycle(["UDITests.Beta", "UDITests.Alpha", "UDITests.Beta"]))
        },
        {
          begun.arrive()
          let error = #expect(throws: UDILinkError.self) {
            try Schedule.$hook.withValue({ if $0 == .waits { waits.arrive() } }) {
              try context.require((any Alpha).self)
            }
          }
          #expect(error?.cause == .cycle(["UDITests.Alpha", "UDITests.Beta", "UDITests.Alpha"]))
        },
      ])
    }
  #endif

  @Test func deepNestingWithOtherArgumentsIsNoCycle() throws {
    context.register((any Alpha).self) { (context, depth: Int) in
      Made("\(depth)", parts: depth == 0 ? [] : [try context.require((any Alpha).self, with: depth - 1)])
    }
    context.register((any Beta).self) { (context, depth: Int) in
      Made("\(depth)", parts: [try context.require((any Beta).self, with: depth + 1)])
    }
    onDeepThread { [context] in
      #expect(throws: Never.self) { try context.require((any Alpha).self, with: 100) }
      let error = #expect(throws: UDILinkError.self) { try context.require((any Beta).self, with: 0) }
      #expect(error?.cause == .tooDeep(depth: 201, stackSize: nil))
      #expect(error?.description.hasPrefix("UDITests.Beta is too deep, inside 201 others.") == true)
    }
  }

  /// As which type the compiler sees them makes no difference.
  @Test func theSameArgumentsAreACycle() {
    let runs = Tally()
    context.register((any Alpha).self) { (context, depth: Int) in
      runs.add()
      return Made(parts: [try context.require((any Beta).self, with: depth, "x")])
    }
    context.register((any Beta).self) { (context, depth: any Sendable, _: String) in
      Made(parts: [try context.require((any Alpha).self, with: depth)])
    }
    let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, with: 1) }
    #expect(error?.cause == .cycle(["UDITests.Alpha", "UDITests.Beta", "UDITests.Alpha"]) && runs.count == 1)
  }

  struct Incomparable: Sendable { let depth: Int }

  @Test func argumentsThatCannotBeComparedAreNoCycle() {
    context.register((any Alpha).self) { (context, argument: Incomparable) in
      let next = Incomparable(depth: argument.depth - 1)
      return Made(parts: next.depth < 0 ? [] : [try context.require((any Alpha).self, with: next)])
    }
    onDeepThread { [context] in
      #expect(throws: Never.self) { try context.require((any Alpha).self, with: Incomparable(depth: 50)) }
    }
  }

  @Test func completionsWithTheSameArgumentsAreACycle() {
    let (linked, journal) = (Tally(), Journal())
    context.register((any Alpha).self) { (_, number: Int) in
      linked.add()
      return Made("\(number)")
    }.onCreate { context, alpha in
      let number = Int((alpha as? Made)?.label ?? "") ?? 0
      do { _ = try context.require((any Alpha).self, with: max(number - 1, 0)) } catch {
        journal.add((error as? UDILinkError)?.isCycle == true ? "cycle at \(number)" : "\(error)")
      }
    }
    #expect(context.link((any Alpha).self, with: 3) != nil)
    #expect(linked.count == 4 && journal.all == ["cycle at 0"])
  }

  /// A factory that continues endlessly under other names would overflow the stack. Before that, it gets an error.
  @Test func withoutEndOnASmallStack() {
    @Sendable func register(_ number: Int) {
      context.register((any Alpha).self, named: UDIName(number)) { context in
        register(number + 1)
        return try context.require((any Alpha).self, named: UDIName(number + 1))
      }
    }
    register(0)
    onDeepThread(stackSize: 1 << 20) { [context] in
      let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, named: 0) }
      #expect(error?.isTooDeep(forStackOf: 1 << 20) == true)
    }
  }

  /// A graph without a cycle, but deeper than a small stack allows, is not called a cycle. What is deep inside can be made
  /// first.
  @Test func aDeepGraphOnASmallStack() {
    for index in 0..<300 {
      context.register((any Alpha).self, named: UDIName(index)) { context in
        Made(parts: index == 0 ? [] : [try context.require((any Alpha).self, named: UDIName(index - 1))])
      }
    }
    onDeepThread(stackSize: 512 << 10) { [context] in
      let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, named: 299) }
      #expect(error?.isTooDeep(forStackOf: 512 << 10) == true)
      let text = error?.description ?? ""
      #expect(text.contains(" others, for a stack of ") && text.contains(" KiB. "), "\(text)")
      #expect(!text.contains("make the one before"), "\(text)")
      #expect(text.contains("First make what is needed further in"))
      for index in 0..<300 { #expect(context.link((any Alpha).self, named: UDIName(index)) != nil) }
    }
  }

  #if DEBUG
    /// A thread with more stack, which waits for an instance that is too deep for another thread, makes it.
    @Test func whoWaitsForWhatIsTooDeepForAnotherThreadMakesIt() {
      let (begun, waits, calls) = (Meeting(2), Meeting(2), Tally())
      for index in 0..<300 {
        context.register((any Alpha).self, named: UDIName(index)) { context in
          if index == 299 {
            calls.add()
            if calls.count == 1 {
              begun.arrive()
              waits.arrive()
            }
          }
          return Made(parts: index == 0 ? [] : [try context.require((any Alpha).self, named: UDIName(index - 1))])
        }
      }
      onThreads([
        { [context] in
          onDeepThread(stackSize: 512 << 10) {
            let error = #expect(throws: UDILinkError.self) { try context.require((any Alpha).self, named: 299) }
            #expect(error?.isTooDeep(forStackOf: 512 << 10) == true)
          }
        },
        { [context] in
          onDeepThread {
            begun.arrive()
            let found = Schedule.$hook.withValue({ if $0 == .waits { waits.arrive() } }) {
              try? context.require((any Alpha).self, named: 299)
            }
            #expect(found != nil && calls.count == 2)
          }
        },
      ])
    }
  #endif

  /// The same provider for another context is no cycle: here each context asks its parent's.
  @Test func anotherContextIsNoCycle() throws {
    context.register((any Alpha).self, lifetime: .unique) { context in
      guard let parent = context.parent else { return Made("root") }
      return Made(context.tag, parts: [try parent.require((any Alpha).self, search: .ancestors)])
    }
    let child = try context.makeChild(tag: "child").makeChild(tag: "grandchild", search: .ancestors)
    let made = try #require(child.link((any Alpha).self) as? Made)
    #expect(made.label == "grandchild" && ((made.parts[0] as? Made)?.parts[0] as? Made)?.label == "root")
  }

  @Test(arguments: [UDILifetime.graph, .weak, .context])
  func twoObjectsReferToEachOther(_ lifetime: UDILifetime) throws {
    context.register((any Alpha).self, lifetime: lifetime) {
      Left()
    }.onCreate { context, alpha in
      (alpha as? Left)?.right = context.link((any Beta).self) as? Right
    }
    context.register((any Beta).self, lifetime: lifetime) {
      Right()
    }.onCreate { context, beta in
      (beta as? Right)?.left = context.link((any Alpha).self) as? Left
    }
    let left = try #require(context.link((any Alpha).self) as? Left)
    #expect(left.right != nil && left.right?.left === left)
    if lifetime != .graph {
      #expect(context.link((any Beta).self) === left.right)
    }
  }

  @Test func completionsRunOnceAtTheEndInTheOrderOfMaking() {
    let log = Journal()
    context.register((any Gamma).self, lifetime: .graph) {
      Made("c")
    }.onCreate { _, _ in
      log.add("c done")
    }
    context.register((any Beta).self, lifetime: .graph) { context in
      defer { log.add("b made") }
      return Made("b", parts: [try context.require((any Gamma).self)])
    }.onCreate { _, _ in
      log.add("b done")
    }
    context.register((any Alpha).self, lifetime: .unique) { context in
      defer { log.add("a made") }
      return Made("a", parts: [try context.require((any Beta).self), try context.require((any Gamma).self)])
    }.onCreate { _, _ in
      log.add("a done")
    }
    _ = context.link((any Alpha).self)
    #expect(log.all == ["b made", "a made", "c done", "b done", "a done"])
  }

  /// Registers something whose completion links something else, and notes what it does. Gives up if nothing else stops
  /// it.
  func registerCompletion(
    _ name: UDIName, _ lifetime: UDILifetime, linking other: UDIName, _ made: Tally, _ journal: Journal = Journal()
  ) {
    context.register((any Alpha).self, named: name, lifetime: lifetime) {
      made.add()
      return made.count < 1000 ? Made("\(name)") : nil
    }.onCreate { context, _ in
      do { _ = try context.require((any Alpha).self, named: other) } catch { journal.add("\(error)") }
    }
  }

  static let keepsNothing = UDILifetime("keeps nothing", storage: .custom { Nothing() })

  final class Nothing: UDIStorage {
    func load() -> UDIMade? { nil }
    func store(_ made: UDIMade) {}
    func reset() {}
  }

  @Test func completionsThatMakeEachOther() {
    let (made, journal) = (Tally(), Journal())
    registerCompletion("parent", .unique, linking: "child", made, journal)
    registerCompletion("child", .unique, linking: "parent", made, journal)
    for _ in 0..<2 { #expect(context.link((any Alpha).self, named: "parent") != nil) }
    #expect(made.count == 4)
    let (parent, child) = ("UDITests.Alpha named \"parent\"", "UDITests.Alpha named \"child\"")
    #expect(journal.all.count == 2 && journal.all.allSatisfy { $0.hasPrefix("\(parent) → \(child) → \(parent): ") })
  }

  @Test func aCompletionThatLinksItsOwnType() {
    let made = Tally()
    context.register((any Alpha).self, lifetime: .unique) {
      made.count < 1000 ? Made() : nil
    }.onCreate { context, _ in
      made.add()
      #expect(context.link((any Alpha).self) == nil)
    }
    let (linked, misuse) = MisuseLog.during { context.link((any Alpha).self) }
    #expect(linked != nil && made.count == 1)
    #expect(misuse.map(\.kind) == [.notMade])
    #expect(misuse.first?.message.hasPrefix("UDITests.Alpha → UDITests.Alpha: ") == true)
    // The thread is as it was before, so the next link is a link of its own.
    context.register((any Beta).self, lifetime: .graph) { Made() }
    #expect(context.link((any Beta).self) !== context.link((any Beta).self))
  }

  @Test func completionsUnderAStorageThatKeepsNothing() {
    let (made, journal) = (Tally(), Journal())
    registerCompletion("parent", Self.keepsNothing, linking: "child", made, journal)
    registerCompletion("child", Self.keepsNothing, linking: "parent", made, journal)
    #expect(context.link((any Alpha).self, named: "parent") != nil)
    #expect(made.count < 500 && journal.all.count == 1)
  }

  @Test func completionsWithArgumentsThatChange() {
    let made = Tally()
    context.register((any Alpha).self) { (_, number: Int) in
      made.add()
      return number < 1000 ? Made("\(number)") : nil
    }.onCreate { context, alpha in
      _ = context.link((any Alpha).self, with: (Int((alpha as? Made)?.label ?? "") ?? 0) + 1)
    }
    let (_, misuse) = MisuseLog.during { context.link((any Alpha).self, with: 0) }
    #expect(made.count < 500 && misuse.map(\.kind) == [.notMade])
    // Equal arguments are a cycle at once.
    let again = Tally()
    context.register((any Beta).self) { (_, number: Int) in
      again.add()
      return again.count < 1000 ? Made("\(number)") : nil
    }.onCreate { context, beta in
      _ = context.link((any Beta).self, with: 1 - (Int((beta as? Made)?.label ?? "") ?? 0))
    }
    let (_, others) = MisuseLog.during { context.link((any Beta).self, with: 0) }
    #expect(again.count == 2 && others.map(\.kind) == [.notMade])
  }

  /// Only what a completion itself leads to is a cycle, not what another completion of the same link has made.
  @Test func completionsSideBySideAreNoCycle() {
    let (made, journal) = (Tally(), Journal())
    registerCompletion("part", .unique, linking: "leaf", made, journal)
    context.register((any Alpha).self, named: "leaf", lifetime: .unique) { Made("leaf") }
    context.register((any Beta).self, lifetime: .unique) { context in
      Made(parts: try (0..<3).map { _ in try context.require((any Alpha).self, named: "part") })
    }.onCreate { context, _ in
      for _ in 0..<3 { #expect(context.link((any Alpha).self, named: "part") != nil) }
    }
    #expect(context.link((any Beta).self) != nil)
    #expect(made.count == 6 && journal.all.isEmpty)
  }

  /// The first instance is fresh, so the other one's partner has yet to be made.
  @Test(arguments: [UDILifetime.graph, .weak, .context])
  func aFreshOneOfTwoThatReferToEachOther(_ lifetime: UDILifetime) {
    let (made, journal) = (Tally(), Journal())
    registerCompletion("left", lifetime, linking: "right", made, journal)
    registerCompletion("right", lifetime, linking: "left", made, journal)
    #expect(context.link((any Alpha).self, named: "left", fresh: true) != nil)
    #expect(made.count == 3 && journal.all.isEmpty)
  }

  @Test func aCompletionThatLinksItsOwnTypeFresh() {
    for lifetime in Self.lifetimes {
      let made = Tally()
      context.register((any Alpha).self, lifetime: lifetime) {
        made.count < 1000 ? Made() : nil
      }.onCreate { context, _ in
        made.add()
        _ = context.link((any Alpha).self, fresh: true)
      }
      let (_, misuse) = MisuseLog.during { context.link((any Alpha).self) }
      #expect(made.count == 1 && misuse.map(\.kind) == [.notMade])
    }
  }

  final class Outer: Sendable {
    let inner: Inner?
    init(_ inner: Inner?) { self.inner = inner }
  }

  final class Inner: Sendable {
    let outer: Outer?
    init(_ outer: Outer?) { self.outer = outer }
  }

  /// The graph shares one instance within a link. Asking for an instance that is being made for another context is a
  /// cycle, and does not make a second instance.
  @Test func whatTheGraphMakesIsNotMadeForAnotherContextMeanwhile() throws {
    let made = Tally()
    let child = try context.makeChild(tag: "child", search: .ancestors)
    context.register(Outer.self, lifetime: .graph) { context in
      made.add()
      return Outer(context.tag == "child" ? context.link(Inner.self) : nil)
    }
    context.register(Inner.self, lifetime: .context) { context in Inner(try context.require(Outer.self)) }
    let (outer, misuse) = MisuseLog.during { child.link(Outer.self) }
    #expect(outer != nil && outer?.inner == nil && made.count == 1)
    let path = ["UDITests.CycleTests.Outer", "UDITests.CycleTests.Inner", "UDITests.CycleTests.Outer"]
    #expect(misuse.count == 1 && misuse.first?.message.hasPrefix(path.joined(separator: " → ")) == true)
    // The same with arguments. Other arguments than those of the factory that runs give another instance.
    context.register(Outer.self, named: "n", lifetime: .graph) { (context, number: Int) in
      made.add()
      let other = context.parent ?? context
      return number > 2 ? Outer(nil) : Outer(Inner(try other.require(Outer.self, named: "n", with: number | 1)))
    }
    let error = #expect(throws: UDILinkError.self) { try child.require(Outer.self, named: "n", with: 1) }
    #expect(error?.cause == .cycle(Array(repeating: "UDITests.CycleTests.Outer named \"n\"", count: 2)))
    #expect(try child.require(Outer.self, named: "n", with: 3).inner == nil)
    #expect(made.count == 3)
  }
}

extension UDILinkError {
  /// Whether there is too little left of a stack of about the given size. The C library may give a new thread the stack of
  /// one that has ended, which is up to four times as large.
  func isTooDeep(forStackOf size: Int) -> Bool {
    guard case .tooDeep(let depth, let stack?) = cause else { return false }
    return depth > 10 && stack > size - (64 << 10) && stack <= 4 * size
  }

  var isCycle: Bool { if case .cycle = cause { true } else { false } }
}
