import Testing
import UDI

@Suite struct CycleTests {
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

  /// The path begins where the cycle does.
  @Test func whatLeadsToTheCycleIsNoPartOfIt() {
    registerCycle(.graph)
    context.register((any Gamma).self) { context in Made("c", parts: [try context.require((any Alpha).self)]) }
    let error = #expect(throws: UDILinkError.self) { try context.require((any Gamma).self) }
    #expect(error?.cause == .cycle(["UDITests.Alpha", "UDITests.Beta", "UDITests.Alpha"]))
  }

  /// One thread makes A and then wants B, the other makes B and then wants A.
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
      #expect(error?.cause == .cycle(["UDITests.Beta", "UDITests.Beta"]))
    }
  }

  /// A factory that goes on under other names would overflow the stack; it is an error with the innermost keys before that.
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
      guard case .cycle(let path) = error?.cause else { return #expect(Bool(false), "it is a cycle") }
      #expect(path.count == 11)
    }
  }

  /// The same provider for another context is no cycle: here each asks the parent's.
  @Test func anotherContextIsNoCycle() throws {
    context.register((any Alpha).self) { context in
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
    } onCreate: { context, alpha in
      (alpha as? Left)?.right = context.link((any Beta).self) as? Right
    }
    context.register((any Beta).self, lifetime: lifetime) {
      Right()
    } onCreate: { context, beta in
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
    } onCreate: { _, _ in
      log.add("c done")
    }
    context.register((any Beta).self, lifetime: .graph) { context in
      defer { log.add("b made") }
      return Made("b", parts: [try context.require((any Gamma).self)])
    } onCreate: { _, _ in
      log.add("b done")
    }
    context.register((any Alpha).self) { context in
      defer { log.add("a made") }
      return Made("a", parts: [try context.require((any Beta).self), try context.require((any Gamma).self)])
    } onCreate: { _, _ in
      log.add("a done")
    }
    _ = context.link((any Alpha).self)
    #expect(log.all == ["b made", "a made", "c done", "b done", "a done"])
  }
}

extension UDILinkError {
  var isCycle: Bool { if case .cycle = cause { true } else { false } }
}
