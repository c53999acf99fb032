import Testing

@testable import UDI

/// `updates(ofAll:)`: what `linkAll` would give, as it changes.
@MainActor struct UpdatesOfAllTests {
  let root = UDIContext(tag: "root")
  let (left, right, leaf): (UDIContext, UDIContext, UDIContext)
  private let follower: AllFollower

  init() throws {
    (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    leaf = try left.makeChild(tag: "leaf")
    follower = AllFollower(root.updates(ofAll: (any Module).self))
  }

  /// Expects elements since the last call; none if there are none.
  private func expect(
    _ elements: [String]..., from follower: AllFollower? = nil, line: SourceLocation = #_sourceLocation
  ) async {
    #expect(await settle([root, left, right, leaf]), "consumers keep themselves busy", sourceLocation: line)
    #expect((follower ?? self.follower).take() == elements, sourceLocation: line)
  }

  // MARK: - What an element is

  @Test("The first element comes at once, also where there is nothing")
  func first() async throws {
    var updates = root.updates(ofAll: (any Module).self).makeAsyncIterator()
    #expect(try #require(await updates.next()).isEmpty)
  }

  @Test("All in search order, each with its name")
  func namesAndOrder() async {
    let plains = ["1", "2", "3", "4", "5"].map { Plain($0) }
    right.bind(plains[3], as: (any Module).self, named: "a")
    leaf.bind(plains[4], as: (any Module).self)
    root.bind(plains[0], as: (any Module).self, named: "b")
    root.bind(plains[1], as: (any Module).self)
    left.provide(plains[2] as any Module, as: (any Module).self, named: "a")
    await expect(["b: 1", "2", "a: 3", "a: 4", "5"])
    #expect(root.linkAll((any Module).self).map { ($0 as? Plain)?.label } == ["1", "2", "3", "4", "5"])
    var updates = root.updates(ofAll: (any Module).self).makeAsyncIterator()
    let found = await updates.next() ?? []
    #expect(found.map(\.name) == ["b", nil, "a", "a", nil])
    #expect(zip(found, plains).allSatisfy { $0.dependency === $1 })
  }

  @Test(arguments: UDISearch.allCases)
  func searches(_ search: UDISearch) async {
    let follower = AllFollower(left.updates(ofAll: (any Module).self, search: search))
    await expect([], from: follower)
    let plains = [(leaf, "leaf"), (left, "left"), (right, "right"), (root, "root")].map { context, tag in
      let plain = Plain(tag)
      context.bind(plain, as: (any Module).self)
      return plain
    }
    let expected =
      switch search {
      case .lineage: ["left", "leaf", "root"]
      case .descendants: ["left", "leaf"]
      case .local: ["left"]
      case .ancestors: ["left", "root"]
      }
    await expect(expected, from: follower)
    root.unbind((any Module).self)
    left.unbind((any Module).self)
    leaf.unbind((any Module).self)
    await expect([], from: follower)
    withExtendedLifetime(plains) {}
  }

  // MARK: - One element for each kind of change

  @Test("Bound, replaced and withdrawn, also where it is not the first one")
  func bindings() async {
    let (first, second, third) = (Plain("first"), Plain("second"), Plain("third"))
    await expect([])
    root.bind(first, as: (any Module).self)
    await expect(["first"])
    leaf.bind(second, as: (any Module).self)
    await expect(["first", "second"])
    leaf.bind(third, as: (any Module).self, named: "a")
    await expect(["first", "second", "a: third"])
    leaf.bind(third, as: (any Module).self)
    await expect(["first", "a: third", "third"])
    right.bind(third, as: (any Module).self)
    await expect(["first", "third", "a: third"])
    #expect(root.linkAll((any Module).self).count == 3)
    leaf.unbind((any Module).self, named: "a")
    await expect(["first", "third"])
    root.unbind((any Module).self)
    await expect(["third"])
  }

  @Test("The same instance under another name, and in another order")
  func namesAlone() async {
    let (first, second) = (Plain("first"), Plain("second"))
    root.bind(first, as: (any Module).self, named: "a")
    root.bind(second, as: (any Module).self)
    await expect(["a: first", "second"])
    root.multiBind(first, as: (any Module).self, named: "b")
    root.unbind((any Module).self, named: "a")
    await expect(["second", "b: first"])
    root.bind(second, as: (any Module).self)
    await expect(["b: first", "second"])
  }

  @Test("The death of an object: at once, or when its binding is next touched")
  func deaths() async {
    let first = Plain("first")
    root.bind(first, as: (any Module).self)
    var member: Member? = Member { $0.bind($0, as: (any Module).self, named: "a") }.attached(to: leaf)
    var plain: Plain? = Plain()
    right.bind(plain!, as: (any Module).self)
    await expect(["first", "plain", "a: member"])
    member = nil
    await expect(["first", "plain"])
    plain = nil
    await expect()
    _ = right.link((any Module).self, search: .local)
    await expect(["first"])
    withExtendedLifetime((member, plain)) {}
  }

  @Test("An object is attached, attached elsewhere, and detached")
  func attachments() async {
    let first = Plain("first")
    root.bind(first, as: (any Module).self)
    let member = Member { $0.bind($0, as: (any Module).self) }.attached(to: leaf)
    await expect(["first", "member"])
    member.attachedContext = UDIContext(tag: "elsewhere")
    await expect(["first"])
    member.attachedContext = right
    await expect(["first", "member"])
    member.attachedContext = nil
    await expect(["first"])
  }

  @Test("Registered, replaced, reset and unregistered")
  func providers() async {
    let makings = Tally()
    func register(_ label: String) {
      leaf.register((any Module).self, named: "a", lifetime: .context) {
        makings.add()
        return Plain("\(label) \(makings.count)") as any Module
      }
    }
    let first = Plain("first")
    root.bind(first, as: (any Module).self)
    await expect(["first"])
    register("made")
    await expect(["first", "a: made 1"])
    register("again")
    await expect(["first", "a: again 2"])
    leaf.reset()
    await expect(["first", "a: again 3"])
    leaf.unregister((any Module).self, named: "a")
    await expect(["first"])
    leaf.provide(Plain("provided"), as: (any Module).self)
    await expect(["first", "provided"])
    #expect(makings.count == 3)
  }

  @Test("What `obtain` makes, and what it has made is dropped")
  func asynchronous() async throws {
    let first = Plain("first")
    root.bind(first, as: (any Module).self)
    leaf.register((any Module).self, named: "a", lifetime: .context) { () async -> any Module in Plain("made") }
      .implements((any Module).self, named: "b")
    await expect(["first"])
    _ = try await leaf.obtain((any Module).self, named: "a")
    await expect(["first", "a: made", "b: made"])
    leaf.reset()
    await expect(["first"])
  }

  @Test("Another type of a provider's instances")
  func aliases() async {
    let other = leaf.register((any Other).self, lifetime: .context) { Plain("made") }
    await expect([])
    other.implements((any Module).self, named: "a")
    await expect(["a: made"])
  }

  @Test("Branches that come, go and change places")
  func branches() async throws {
    let plains = (1...4).map { Plain("\($0)") }
    for (context, plain) in zip([root, left, right, leaf], plains) { context.bind(plain, as: (any Module).self) }
    await expect(["1", "2", "3", "4"])
    left.removeFromParent()
    await expect(["1", "3"])
    try right.addChild(left)
    await expect(["1", "3", "2", "4"])
    try root.addChild(left)
    await expect()
    try root.addChild(right)
    await expect(["1", "2", "3", "4"])
  }

  @Test("Contexts above: what they have, and others that take their place")
  func above() async throws {
    let other = UDIContext(tag: "other")
    let follower = AllFollower(leaf.updates(ofAll: (any Module).self))
    let (near, far, elsewhere) = (Plain("near"), Plain("far"), Plain("elsewhere"))
    leaf.bind(near, as: (any Module).self)
    other.bind(elsewhere, as: (any Module).self, named: "a")
    await expect(["near"], from: follower)
    root.bind(far, as: (any Module).self)
    await expect(["near", "far"], from: follower)
    try other.addChild(left)
    await expect(["near", "a: elsewhere"], from: follower)
    left.removeFromParent()
    await expect(["near"], from: follower)
    root.bind(elsewhere, as: (any Module).self)
    await expect(from: follower)
  }

  @Test("The context's own search")
  func ownSearch() async {
    let (here, below) = (Plain("here"), Plain("below"))
    root.bind(here, as: (any Module).self)
    leaf.bind(below, as: (any Module).self)
    await expect(["here", "below"])
    root.search = .local
    await expect(["here"])
  }

  @Test("A context that is closed, with all below it")
  func closing() async throws {
    let plains = [Plain("left"), Plain("leaf"), Plain("right")]
    for (context, plain) in zip([left, leaf, right], plains) { context.bind(plain, as: (any Module).self) }
    await expect(["left", "right", "leaf"])
    try await left.close()
    await settle([root])
    #expect(follower.take().last == ["right"])
  }

  @Test("A scope shows nothing outside, sees what is above, and may come and go")
  func scopes() async throws {
    let scope = try left.makeScope(tag: "scope")
    let inside = AllFollower(scope.updates(ofAll: (any Module).self))
    await expect([])
    let (above, within) = (Plain("above"), Plain("within"))
    scope.bind(within, as: (any Module).self)
    #expect(await settle([scope]))
    root.bind(above, as: (any Module).self)
    await expect(["above"])
    #expect(await settle([scope]))
    #expect(inside.take().last == ["within", "above"])
    try await scope.close()
    await expect()
    #expect(inside.take().isEmpty)
    await inside.end()
  }

  // MARK: - No element without a change

  @Test("Nothing that leaves the set as it is makes an element, whatever providers there are")
  func noNews() async throws {
    let makings = Tally()
    left.register((any Module).self, lifetime: .unique) {
      makings.add()
      return Plain("made \(makings.count)") as any Module
    }
    let plain = Plain()
    leaf.bind(plain, as: (any Module).self)
    let local = AllFollower(right.updates(ofAll: (any Module).self, search: .local))
    let way = AllFollower(leaf.updates(ofAll: (any Module).self, search: .ancestors))
    await expect(["made 1", "plain"])
    await expect([], from: local)
    _ = way.take()
    let count = makings.count
    // Under other types, in a scope, in another tree, and behind a binding.
    root.bind(plain, as: (any Other).self, named: "a")
    try root.makeScope(tag: "scope").bind(plain, as: (any Module).self, named: "b")
    UDIContext(tag: "other").multiBind(plain, as: (any Module).self)
    leaf.register((any Module).self) { Plain("hidden") as any Module }
    await expect()
    await expect(from: local)
    // Beside the way up.
    right.bind(plain, as: (any Module).self, named: "c")
    let branch = UDIContext(tag: "branch")
    branch.bind(plain, as: (any Module).self, named: "d")
    try root.addChild(branch)
    await expect(["c: plain"], from: local)
    await expect(from: way)
    #expect(makings.count == count + 1, "the one who sees these changes has another one made, and nobody else")
  }

  @Test("A change that is taken back before the consumer looks makes no element")
  func takenBack() async {
    let (first, second) = (Plain("first"), Plain("second"))
    root.bind(first, as: (any Module).self)
    await expect(["first"])
    leaf.bind(second, as: (any Module).self)
    leaf.unbind((any Module).self)
    root.unbind((any Module).self)
    root.bind(first, as: (any Module).self)
    await expect()
  }

  @Test("Values that a provider keeps stay the same")
  func keptValues() async {
    let values = AllFollower(root.updates(ofAll: String.self))
    root.provide("one", as: String.self, named: "a")
    leaf.register(String.self, lifetime: .context) { "two" }
    await expect(["a: one", "two"], from: values)
    leaf.bind(Plain(), as: (any Module).self)
    root.register(String.self, named: "b") { "three" }
    root.unregister(String.self, named: "b")
    await expect(from: values)
    leaf.reset()
    await expect(["a: one", "two"], from: values)
    await values.end()
  }

  @Test("A type that only others follow, or nobody any more, is not followed")
  func followers() async {
    func count() -> Int { Tree.change { _ in unsafe TypeIdentity.of((any Unknown).self).followers } }
    #expect(count() == 0)
    let (first, second) = (root.updates(ofAll: (any Unknown).self), root.updates(of: (any Unknown).self))
    do {
      let iterators = (first.makeAsyncIterator(), first.makeAsyncIterator(), second.makeAsyncIterator())
      #expect(count() == 2)
      withExtendedLifetime(iterators) {}
    }
    #expect(count() == 0)
  }

  // MARK: - Providers

  @Test("Whatever a provider makes and binds for a consumer keeps no consumer busy", arguments: [1, 3], [true, false])
  func feedback(_ count: Int, _ holds: Bool) async {
    await follower.end()
    let makings = Tally()
    root.register((any Module).self, lifetime: .unique) {
      makings.add()
      let helper = Plain("helper")
      return Member("made") { member in
        member.bind(member, as: (any Module).self, named: "itself")
        member.bind(helper, as: (any Module).self, named: "helper")
      }
    }
    leaf.register((any Module).self, lifetime: .unique) { context in
      makings.add()
      let child = try context.makeChild(tag: "child \(makings.count)")
      let helper = Plain("helper")
      child.bind(helper, as: (any Module).self)
      return Member("made") { $0.bind(helper, as: (any Module).self, named: "below") }
    }
    let followers = (0..<count).map { _ in AllFollower(root.updates(ofAll: (any Module).self), holds: holds) }
    #expect(await settle([root]), "consumers keep themselves busy")
    #expect(makings.count == 2 * count)
    for follower in followers {
      #expect(1...(3 * count + 1) ~= follower.seen.count)
      await follower.end()
    }
  }

  @Test("A provider that keeps nothing makes another one after each change, and only then")
  func unique() async {
    let makings = Tally()
    root.register((any Module).self, lifetime: .unique) {
      makings.add()
      return Plain("made \(makings.count)") as any Module
    }
    await expect(["made 1"])
    let plain = Plain()
    leaf.bind(plain, as: (any Module).self)
    await expect(["made 2", "plain"])
    #expect(makings.count == 2)
  }

  @Test("What another lookup has made is seen")
  func madeByOthers() async {
    leaf.register((any Module).self, named: "a", lifetime: .weak) { Plain("made") }
    await expect(["a: made"])
    #expect(follower.last.allSatisfy { $0 == nil })
    let made = leaf.link((any Module).self, named: "a")
    await expect(["a: made"])
    #expect(made != nil && follower.last.first! === made)
  }

  @Test("A look that makes nothing finds what came meanwhile, beside what was made before and is still held")
  func keptOnly() async {
    await follower.end()
    let (makings, held) = (Tally(), Locked<[Plain]>([]))
    root.register((any Module).self, lifetime: .unique) {
      makings.add()
      let plain = Plain("made")
      held.withLock { $0 = [plain] }
      return plain as any Module
    }
    let follower = AllFollower(root.updates(ofAll: (any Module).self))
    await expect(["made"], from: follower)
    // An object that a look for somebody else makes, and that binds itself.
    leaf.register((any Other).self, lifetime: .unique) {
      Member("helper") { $0.bind($0, as: (any Module).self) } as any Other
    }
    let looker = Follower(leaf.updates(of: (any Other).self), holds: true)
    await expect(["made", "helper"], from: follower)
    await looker.end()
    looker.letGo()
    await expect(["made"], from: follower)
    // If nobody holds what was made, the consumer is told of everything when something else changes.
    held.withLock { $0 = [] }
    let another = Follower(leaf.updates(of: (any Other).self), holds: true)
    await expect(from: follower)
    #expect(makings.count == 1)
    let plain = Plain()
    right.bind(plain, as: (any Module).self)
    await expect(["made", "plain", "helper"], from: follower)
    #expect(makings.count == 2)
    for follower in [looker, another] { await follower.end() }
    await follower.end()
  }

  @Test("A provider that fails is left out, and so is one that is asynchronous; only the former is reported")
  func failures() async {
    await follower.end()
    let first = Plain("first")
    leaf.bind(first, as: (any Module).self)
    root.register((any Module).self, named: "a", lifetime: .unique) { throw OutOfOrder() }
    left.register((any Module).self) { () async -> any Module in Plain("late") }
    let log = MisuseLog()
    let follower = withReporter(log.reporter) { AllFollower(root.updates(ofAll: (any Module).self)) }
    await expect(["first"], from: follower)
    // What a look for somebody else brings is seen beside them, and they are not asked again.
    leaf.register((any Other).self, lifetime: .unique) {
      Member("helper") { $0.bind($0, as: (any Module).self, named: "b") } as any Other
    }
    let looker = Follower(leaf.updates(of: (any Other).self), holds: true)
    await expect(["first", "b: helper"], from: follower)
    #expect(log.all.map(\.kind) == [.notMade])
    await looker.end()
    await follower.end()
  }
}

private protocol Unknown: AnyObject, Sendable {}
