import Testing
import TreeModel
import UDI

@Suite struct LinkTests {
  /// A tree with one service in each context: root → (a → (a1, a2), b → (b1)).
  struct Family {
    let root = UDIContext(tag: "root")
    let contexts: [String: UDIContext]
    let services: [String: Plain]

    init() throws {
      var contexts = ["root": root]
      for (tag, parent) in [("a", "root"), ("b", "root"), ("a1", "a"), ("a2", "a"), ("b1", "b")] {
        contexts[tag] = try contexts[parent]?.makeChild(tag: tag)
      }
      var services: [String: Plain] = [:]
      for (tag, context) in contexts {
        services[tag] = Plain(tag)
        context.bind(services[tag]!, as: (any Service).self)
      }
      self.contexts = contexts
      self.services = services
    }

    func found(from tag: String, _ search: UDISearch?) -> String? {
      (contexts[tag]!.link((any Service).self, search: search) as? Plain)?.label
    }

    func all(from tag: String, _ search: UDISearch) -> [String] {
      contexts[tag]!.linkAll((any Service).self, search: search).compactMap { ($0 as? Plain)?.label }
    }

    func drop(_ tags: String...) { for tag in tags { contexts[tag]!.unbind((any Service).self) } }
  }

  @Test func descendantsIsBreadthFirst() throws {
    let family = try Family()
    #expect(family.all(from: "root", .descendants) == ["root", "a", "b", "a1", "a2", "b1"])
    for expected in ["root", "a", "b", "a1", "a2", "b1"] {
      #expect(family.found(from: "root", .descendants) == expected)
      family.drop(expected)
    }
    #expect(family.found(from: "root", .descendants) == nil)
  }

  @Test func localIsTheContextAlone() throws {
    let family = try Family()
    #expect(family.all(from: "a", .local) == ["a"])
    family.drop("a")
    #expect(family.found(from: "a", .local) == nil)
    #expect(family.found(from: "a", .descendants) == "a1")
    #expect(family.all(from: "a", .local).isEmpty)
  }

  @Test func ancestorsGoesUp() throws {
    let family = try Family()
    #expect(family.all(from: "a2", .ancestors) == ["a2", "a", "root"])
    for expected in ["a2", "a", "root"] {
      #expect(family.found(from: "a2", .ancestors) == expected)
      family.drop(expected)
    }
    #expect(family.found(from: "a2", .ancestors) == nil)
  }

  /// Below, the same as `descendants`; if nothing is there, what each context above has itself.
  @Test func lineageGoesDownThenUp() throws {
    let family = try Family()
    #expect(family.all(from: "a", .lineage) == family.all(from: "a", .descendants) + ["root"])
    for expected in ["a", "a1", "a2", "root"] {
      #expect(family.found(from: "a", .lineage) == expected)
      family.drop(expected)
    }
    #expect(family.found(from: "a", .lineage) == nil, "the siblings are there, and not entered")
    #expect(family.found(from: "b", .lineage) == "b")
  }

  @Test func noSearchEntersASibling() throws {
    let family = try Family()
    family.drop("b", "b1", "root")
    for search in UDISearch.allCases {
      #expect(family.found(from: "b", search) == nil)
      #expect(family.found(from: "b1", search) == nil)
    }
  }

  @Test func theContextsOwnSearchIsTheDefault() throws {
    let family = try Family()
    family.drop("a", "a1", "a2")
    #expect(family.contexts["a"]!.search == .lineage)
    #expect(family.found(from: "a", nil) == "root")
    #expect(family.contexts["a"]!.linkAll((any Service).self).count == 1)
    #expect(family.found(from: "a", .local) == nil)
    family.contexts["a"]!.search = .descendants
    #expect(family.found(from: "a", nil) == nil)
    #expect(family.contexts["a"]!.linkAll((any Service).self).isEmpty)
    family.contexts["a"]!.search = .ancestors
    #expect(family.found(from: "a", nil) == "root")
  }

  @Test func aDeadBindingIsNoHit() throws {
    for search in [UDISearch.descendants, .ancestors] {
      let root = UDIContext(tag: "root")
      let middle = try root.makeChild(tag: "middle")
      let leaf = try middle.makeChild(tag: "leaf")
      let order = search == .descendants ? [root, middle, leaf] : [leaf, middle, root]
      let last = Plain("last")
      do {
        let mortal = [Plain(), Plain()]
        for (context, service) in zip(order, mortal) { context.bind(service, as: (any Service).self) }
        order[2].bind(last, as: (any Service).self)
        #expect(order[0].link((any Service).self, search: search) === mortal[0])
        withExtendedLifetime(mortal) {}
      }
      #expect(boundHere(order[0]) == ["UDITests.Service: dead"])
      #expect(order[0].link((any Service).self, search: search) === last)
      #expect(order.map { boundHere($0).count } == [0, 0, 1], "what was found dead is gone")
    }
  }

  @Test func linkAllPassesOverTheDead() throws {
    let root = UDIContext(tag: "root")
    var services = (0..<5).map { Plain("\($0)") }
    for (index, service) in services.enumerated() {
      try root.makeChild(tag: "\(index)").bind(service, as: (any Service).self)
    }
    services.remove(at: 2)
    services.remove(at: 0)
    #expect(root.linkAll((any Service).self).map { ($0 as? Plain)?.label } == ["1", "3", "4"])
    #expect(root.children.map { boundHere($0).count } == [0, 1, 0, 1, 1])
  }

  @Test func namesAreExact() {
    let context = UDIContext(tag: "context")
    let (plain, named) = (Plain("plain"), Plain("named"))
    context.bind(named, as: (any Service).self, named: "x")
    #expect(context.link((any Service).self) == nil)
    context.bind(plain, as: (any Service).self)
    #expect(context.link((any Service).self) === plain)
    #expect(context.link((any Service).self, named: "x") === named)
    #expect(context.link((any Service).self, named: "y") == nil)
    #expect(context.link((any Other).self, named: "x") == nil)
    #expect(context.linkAll((any Service).self).map { ($0 as? Plain)?.label } == ["named", "plain"])
  }

  @Test func linkAllOfAllNamesGoesByContext() throws {
    let root = UDIContext(tag: "root")
    let (a, b) = (try root.makeChild(tag: "a"), try root.makeChild(tag: "b"))
    let a1 = try a.makeChild(tag: "a1")
    let services = (0..<6).map { Plain("\($0)") }
    a1.bind(services[5], as: (any Service).self)
    b.bind(services[4], as: (any Service).self)
    a.bind(services[2], as: (any Service).self, named: "x")
    a.bind(services[3], as: (any Service).self, named: "y")
    root.bind(services[0], as: (any Service).self, named: "y")
    root.bind(services[1], as: (any Service).self, named: "x")
    let labels = { (search: UDISearch, context: UDIContext) in
      context.linkAll((any Service).self, search: search).compactMap { ($0 as? Plain)?.label }.joined()
    }
    #expect(labels(.descendants, root) == "012345")
    #expect(labels(.ancestors, a1) == "52301")
    #expect(labels(.local, a) == "23")
  }

  @Test func namedLookupsTakeEverySearch() throws {
    let root = UDIContext(tag: "root")
    let leaf = try root.makeChild(tag: "middle").makeChild(tag: "leaf")
    let service = Plain()
    root.bind(service, as: (any Service).self, named: "x")
    #expect(leaf.link((any Service).self, named: "x", search: .ancestors) === service)
    #expect(leaf.link((any Service).self, named: "x") === service)
    #expect(leaf.link((any Service).self, named: "x", search: .descendants) == nil)
    leaf.bind(service, as: (any Service).self, named: "x")
    #expect(root.link((any Service).self, named: "x") === service)
    #expect(root.link((any Service).self, named: "x", search: .local) == nil)
    do {
      let mortal = Plain()
      root.bind(mortal, as: (any Service).self, named: "x")
    }
    #expect(root.link((any Service).self, named: "x") === service, "past the dead one")
  }

  @Test func requireThrowsWhatWasMissing() throws {
    let root = UDIContext(tag: "App")
    let shop = try root.makeChild(tag: "Shop")
    let service = Plain()
    shop.bind(service, as: (any Service).self)
    #expect(try root.require((any Service).self) === service)
    let error = #expect(throws: UDILinkError.self) {
      try shop.require((any Other).self, named: "x", search: .ancestors)
    }
    let explanation = try #require(error?.explanation)
    #expect(explanation.typeName == "UDITests.Other")
    #expect(explanation.name == "x")
    #expect(explanation.fullPath == ["App", "Shop"])
    #expect(explanation.search == .ancestors)
    #expect(explanation == shop.explain((any Other).self, named: "x", search: .ancestors))
    for (search, words) in [
      (UDISearch.local, "itself (.local)"), (.descendants, "and below ("), (.ancestors, "and above ("),
    ] {
      let error = #expect(throws: UDILinkError.self) { try shop.require((any Other).self, search: search) }
      #expect(error?.description.contains(words) == true)
    }
  }

  @Test func movesCarryTheirBindings() throws {
    let root = UDIContext(tag: "root")
    let (a, b) = (try root.makeChild(tag: "a"), try root.makeChild(tag: "b"))
    let branch = try a.makeChild(tag: "branch")
    let (deep, near) = (Plain("deep"), Plain("near"))
    try branch.makeChild(tag: "leaf").bind(deep, as: (any Service).self)
    b.bind(near, as: (any Service).self)
    #expect(a.link((any Service).self) === deep)
    try b.addChild(branch)
    #expect(a.link((any Service).self) == nil)
    #expect(b.link((any Service).self) === near)
    b.unbind((any Service).self)
    #expect(b.link((any Service).self) === deep && root.link((any Service).self) === deep)
    branch.removeFromParent()
    #expect(root.link((any Service).self) == nil && branch.link((any Service).self) === deep)
  }

  /// Around the numbers at which the index changes how it stores siblings, removing from the front and from the end.
  @Test(arguments: [1, 2, 3, 63, 64, 65, 66, 100, 129, 257], [false, true])
  func siblingsInAllSizes(count: Int, fromTheEnd: Bool) throws {
    let root = UDIContext(tag: "root")
    let services = (0..<count).map { Plain("\($0)") }
    let contexts = try services.map { try root.makeChild(tag: $0.label) }
    for (context, service) in zip(contexts, services) { context.bind(service, as: (any Service).self) }
    var left = Array(services.indices)
    while !left.isEmpty {
      #expect(root.link((any Service).self) === services[left[0]])
      #expect(root.linkAll((any Service).self).count == left.count)
      let index = fromTheEnd ? left.removeLast() : left.removeFirst()
      if index.isMultiple(of: 2) {
        contexts[index].removeFromParent()
      } else {
        contexts[index].unbind((any Service).self)
      }
    }
    #expect(root.link((any Service).self) == nil)
  }

  /// More siblings with one key than fit into a block of the index, removing from the front, from the end and in
  /// between.
  @Test func manySiblings() throws {
    let root = UDIContext(tag: "root")
    let services = (0..<2000).map { Plain("\($0)") }
    for (index, service) in services.enumerated() {
      try root.makeChild(tag: "\(index)").bind(service, as: (any Service).self)
    }
    var expected = Array(services.indices)
    var generator = SplitMix(seed: 5)
    while expected.count > 1 {
      #expect(root.link((any Service).self) === services[expected[0]])
      let position = [0, expected.count - 1, Int.random(in: expected.indices, using: &generator)].randomElement(
        using: &generator)!
      root.removeChild(tag: "\(expected.remove(at: position))")
    }
    #expect(root.linkAll((any Service).self).count == 1)
  }

  #if DEBUG
    /// Otherwise the next context might go away, or this one be moved, between the two.
    @Test func aLookupUpwardsGoesHandOverHand() throws {
      let root = UDIContext(tag: "root")
      let leaf = try root.makeChild(tag: "middle").makeChild(tag: "leaf")
      let plain = Plain()
      root.bind(plain, as: (any Service).self)
      let held = Locked<[Int]>([])
      Schedule.$hook.withValue({ point in
        if point == .climbing { held.withLock { $0.append(heldLocks) } }
      }) {
        #expect(leaf.link((any Service).self) === plain)
      }
      #expect(held.withLock { $0 } == [2, 2])
    }
  #endif
}
