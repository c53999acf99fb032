import UDI

/// What a program without a library would ask asynchronously.
private final class AsynchronousStore: Sendable {
  private let stored = Plain()
  @inline(never) @concurrent func plain() async -> any K5 { stored }
}

/// The costs of providers: of what they keep, of what they make, and of registering them.
func providerScenarios(_ plain: Plain) -> [Scenario] {
  let context = UDIContext(tag: "providers")
  context.register((any K0).self, lifetime: .context) { Plain() }
  context.register((any K1).self, lifetime: .weak) { Plain() }
  context.register((any K2).self, lifetime: .unique) { Plain() }
  context.register((any K3).self, lifetime: .unique) { (_, number: Int) in makePlain(number) }
  context.register((any K4).self, lifetime: .context) { (_, number: Int) in Plain() }
  let observed = context.link((any K1).self)
  opaque(context.link((any K0).self))
  let asynchronous = UDIContext(tag: "asynchronous")
  asynchronous.register((any K5).self, lifetime: .context) { await AsynchronousStore().plain() }
  let store = AsynchronousStore()
  let member = Member().attached(to: asynchronous)
  _ = timedInTask { opaque(try? await asynchronous.obtain((any K5).self)) }
  let graph = UDIContext(tag: "graph")
  registerGraph(in: graph)
  let parent = UDIContext(tag: "parent")
  parent.bind(plain, as: (any K5).self)
  parent.bind(plain, as: (any K6).self)
  let parentNode = NodeByHand("parent")
  parentNode.bind(plain, as: keys[5].id)
  parentNode.bind(plain, as: keys[6].id)
  let cache = CacheByHand()
  keepAlive(context, graph, observed as AnyObject, parent)

  return [
    .loop(".context, already made", .againstFloor(0.9), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any K0).self)) }
    },
    .loop(".weak, alive", .againstFloor(1.6), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(context.link((any K1).self)) }
    },
    .loop("by hand: a call of an initialiser", .printed) { count in
      for _ in 0..<count { opaque(makePlain()) }
    },
    .loop(".unique", .against("by hand: a call of an initialiser", 6.6), operations: 5000) { count in
      for _ in 0..<count { opaque(context.link((any K2).self)) }
    },
    // The instance is the one allocation.
    .loop(
      "a link with one argument", .against("by hand: a call of an initialiser", 12), operations: 2000,
      mostAllocations: 1
    ) { count in
      for number in 0..<count { opaque(context.link((any K3).self, with: number)) }
    },
    .loop("by hand: kept for one argument, already made", .printed, operations: 2000) { count in
      for number in 0..<count { opaque(cache.instance([number & 7])) }
    },
    .loop(
      ".context with one argument, already made", .against("by hand: kept for one argument, already made", 2.3),
      operations: 2000, mostAllocations: 2
    ) { count in
      for number in 0..<count { opaque(context.link((any K4).self, with: number & 7)) }
    },
    // The call by hand allocates nothing, either, but runs on the same threads as `obtain`.
    Scenario("an asynchronous call that returns a stored object", .printed, operations: 20_000) {
      timedInTask { for _ in 0..<20_000 { opaque(await store.plain()) } }
    },
    Scenario(
      "obtain, made and kept", .against("an asynchronous call that returns a stored object", 0.8), operations: 20_000,
      mostAllocations: 0.01
    ) {
      timedInTask { for _ in 0..<20_000 { opaque(try? await asynchronous.obtain((any K5).self)) } }
    },
    Scenario(
      "object.obtain, made and kept", .against("an asynchronous call that returns a stored object", 1.35),
      operations: 20_000, mostAllocations: 0.01
    ) {
      timedInTask { for _ in 0..<20_000 { opaque(try? await member.obtain((any K5).self)) } }
    },
    Scenario("by hand: register 16 in a new node, each", .printed, operations: 1600) {
      var time = 0.0
      for _ in 0..<100 {
        let node = NodeByHand("new")
        time += timed { registerSixteen(in: node) }
      }
      return time
    },
    Scenario(
      "register 16 in a new context, each", .against("by hand: register 16 in a new node, each", 4.2), operations: 1600
    ) {
      var time = 0.0
      for _ in 0..<100 {
        let context = UDIContext(tag: "new")
        time += timed { registerSixteen(in: context) }
      }
      return time
    },
    .loop("by hand: register 3, make 3, link 2, end it", .printed, operations: 500) { count in
      for _ in 0..<count { useSession(of: parentNode) }
    },
    .loop(
      "the same by a scope: register 3, make 3, link 2, end it",
      .against("by hand: register 3, make 3, link 2, end it", 4.5), operations: 500, mostAllocations: 16
    ) { count in
      for _ in 0..<count { useSession(of: parent) }
    },
    .loop("by hand: a graph of 9 instances", .printed, operations: 500) { count in
      for _ in 0..<count { opaque(graphByHand()) }
    },
    .loop("graph of 21 links, 9 instances", .against("by hand: a graph of 9 instances", 9), operations: 500) { count in
      for _ in 0..<count { opaque(graph.link((any Top).self)) }
    },
  ]
}

/// What the factory of `.unique` does.
@inline(never)
private func makePlain() -> (any K2)? { Plain() }

@inline(never)
private func makePlain(_ number: Int) -> (any K3)? { Plain() }

@inline(never)
private func registerSixteen(in context: UDIContext) {
  context.register((any F0).self) { Plain() }
  context.register((any F1).self) { Plain() }
  context.register((any F2).self) { Plain() }
  context.register((any F3).self) { Plain() }
  context.register((any F4).self) { Plain() }
  context.register((any F5).self) { Plain() }
  context.register((any F6).self) { Plain() }
  context.register((any F7).self) { Plain() }
  context.register((any F8).self) { Plain() }
  context.register((any F9).self) { Plain() }
  context.register((any F10).self) { Plain() }
  context.register((any F11).self) { Plain() }
  context.register((any F12).self) { Plain() }
  context.register((any F13).self) { Plain() }
  context.register((any F14).self) { Plain() }
  context.register((any F15).self) { Plain() }
}

@inline(never)
private func registerSixteen(in node: NodeByHand) {
  node.register(ObjectIdentifier((any F0).self)) { Plain() }
  node.register(ObjectIdentifier((any F1).self)) { Plain() }
  node.register(ObjectIdentifier((any F2).self)) { Plain() }
  node.register(ObjectIdentifier((any F3).self)) { Plain() }
  node.register(ObjectIdentifier((any F4).self)) { Plain() }
  node.register(ObjectIdentifier((any F5).self)) { Plain() }
  node.register(ObjectIdentifier((any F6).self)) { Plain() }
  node.register(ObjectIdentifier((any F7).self)) { Plain() }
  node.register(ObjectIdentifier((any F8).self)) { Plain() }
  node.register(ObjectIdentifier((any F9).self)) { Plain() }
  node.register(ObjectIdentifier((any F10).self)) { Plain() }
  node.register(ObjectIdentifier((any F11).self)) { Plain() }
  node.register(ObjectIdentifier((any F12).self)) { Plain() }
  node.register(ObjectIdentifier((any F13).self)) { Plain() }
  node.register(ObjectIdentifier((any F14).self)) { Plain() }
  node.register(ObjectIdentifier((any F15).self)) { Plain() }
}

// MARK: - A session

@inline(never)
private func useSession(of parent: UDIContext) {
  guard let scope = try? parent.makeScope(tag: "session") else { fatalError("two scopes with one tag") }
  scope.register((any K7).self, lifetime: .context) { Plain() }
  scope.register((any K8).self, lifetime: .context) { Plain() }
  scope.register((any K9).self, lifetime: .context) { Plain() }
  opaque(scope.link((any K7).self))
  opaque(scope.link((any K8).self))
  opaque(scope.link((any K9).self))
  opaque(scope.link((any K5).self))
  opaque(scope.link((any K6).self))
  parent.removeChild(scope)
}

@inline(never)
private func useSession(of parent: NodeByHand) {
  let node = parent.makeChild("session")
  node.register(keys[7].id) { Plain() }
  node.register(keys[8].id) { Plain() }
  node.register(keys[9].id) { Plain() }
  opaque(node.instance(keys[7].id))
  opaque(node.instance(keys[8].id))
  opaque(node.instance(keys[9].id))
  opaque(node.link(keys[5].id))
  opaque(node.link(keys[6].id))
  parent.remove(node)
}

// MARK: - A graph: one on top, which takes four, each of which takes the same four

private protocol Top: AnyObject, Sendable {}
private protocol Middle0: AnyObject, Sendable {}
private protocol Middle1: AnyObject, Sendable {}
private protocol Middle2: AnyObject, Sendable {}
private protocol Middle3: AnyObject, Sendable {}
private protocol Bottom0: AnyObject, Sendable {}
private protocol Bottom1: AnyObject, Sendable {}
private protocol Bottom2: AnyObject, Sendable {}
private protocol Bottom3: AnyObject, Sendable {}

private final class Leaf: Bottom0, Bottom1, Bottom2, Bottom3 {}

private final class Inner: Middle0, Middle1, Middle2, Middle3 {
  let a: (any Bottom0)?
  let b: (any Bottom1)?
  let c: (any Bottom2)?
  let d: (any Bottom3)?
  init(_ a: (any Bottom0)?, _ b: (any Bottom1)?, _ c: (any Bottom2)?, _ d: (any Bottom3)?) {
    (self.a, self.b, self.c, self.d) = (a, b, c, d)
  }
}

private final class Outer: Top {
  let a: (any Middle0)?
  let b: (any Middle1)?
  let c: (any Middle2)?
  let d: (any Middle3)?
  init(_ a: (any Middle0)?, _ b: (any Middle1)?, _ c: (any Middle2)?, _ d: (any Middle3)?) {
    (self.a, self.b, self.c, self.d) = (a, b, c, d)
  }
}

/// Links the whole graph.
func linkGraphOnce(_ context: UDIContext) -> AnyObject? { context.link((any Top).self) }

@inline(never)
private func graphByHand() -> any Top {
  let (a, b, c, d) = (Leaf(), Leaf(), Leaf(), Leaf())
  return Outer(Inner(a, b, c, d), Inner(a, b, c, d), Inner(a, b, c, d), Inner(a, b, c, d))
}

func registerGraph(in context: UDIContext) {
  context.register((any Bottom0).self, lifetime: .graph) { Leaf() }
  context.register((any Bottom1).self, lifetime: .graph) { Leaf() }
  context.register((any Bottom2).self, lifetime: .graph) { Leaf() }
  context.register((any Bottom3).self, lifetime: .graph) { Leaf() }
  let inner: @Sendable (UDIContext) -> Inner = { context in
    Inner(
      context.link((any Bottom0).self), context.link((any Bottom1).self), context.link((any Bottom2).self),
      context.link((any Bottom3).self))
  }
  context.register((any Middle0).self, lifetime: .graph) { inner($0) }
  context.register((any Middle1).self, lifetime: .graph) { inner($0) }
  context.register((any Middle2).self, lifetime: .graph) { inner($0) }
  context.register((any Middle3).self, lifetime: .graph) { inner($0) }
  context.register((any Top).self, lifetime: .graph) { context in
    Outer(
      context.link((any Middle0).self), context.link((any Middle1).self), context.link((any Middle2).self),
      context.link((any Middle3).self))
  }
}
