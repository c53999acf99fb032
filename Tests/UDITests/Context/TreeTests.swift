import Testing
import UDI
import UDIInspector

@Suite struct TreeTests {
  @Test func childrenKeepTheOrderInWhichTheyWereAdded() throws {
    let root = UDIContext(tag: "root")
    let tags = (0..<40).map { "child \($0)" }
    for tag in tags { try root.makeChild(tag: tag) }
    #expect(root.children.map(\.tag) == tags)
    #expect(tags.allSatisfy { root.child(tag: $0)?.parent === root })
    #expect(root.child(tag: "none") == nil)
  }

  @Test func addingMovesTheWholeBranch() throws {
    let root = UDIContext(tag: "root")
    let left = try root.makeChild(tag: "left")
    let right = try root.makeChild(tag: "right")
    let branch = try left.makeChild(tag: "branch")
    let leaf = try branch.makeChild(tag: "leaf")
    try right.addChild(branch)
    #expect(left.children.isEmpty)
    #expect(right.children == [branch])
    #expect(branch.parent === right)
    #expect(leaf.path == ["right", "branch", "leaf"])
  }

  @Test func addingAgainMovesBehindTheSiblings() throws {
    let root = UDIContext(tag: "root")
    let (a, b) = (Plain("a"), Plain("b"))
    let first = try root.makeChild(tag: "first")
    let second = try root.makeChild(tag: "second")
    first.bind(a, as: (any Service).self)
    second.bind(b, as: (any Service).self)
    #expect(root.link((any Service).self) === a)
    try root.addChild(first)
    #expect(root.children == [second, first])
    #expect(root.link((any Service).self) === b)
    try root.addChild(second)
    #expect(root.link((any Service).self) === a)
  }

  @Test func duplicateTagIsThrownAndNothingChanges() throws {
    let root = UDIContext(tag: "root")
    let first = try root.makeChild(tag: "twin")
    let elsewhere = UDIContext(tag: "elsewhere")
    let second = try elsewhere.makeChild(tag: "twin")
    #expect(throws: UDITreeError.duplicateTag("twin", parent: ["root"])) { try root.addChild(second) }
    #expect(throws: UDITreeError.duplicateTag("twin", parent: ["root"])) { try root.makeChild(tag: "twin") }
    #expect(root.children == [first])
    #expect(second.parent === elsewhere)
  }

  @Test func cyclesAreThrownAndNothingChanges() throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let grandchild = try child.makeChild(tag: "grandchild")
    #expect(throws: UDITreeError.cycle(child: ["root"], parent: ["root"])) { try root.addChild(root) }
    #expect(throws: UDITreeError.cycle(child: ["root"], parent: ["root", "child", "grandchild"])) {
      try grandchild.addChild(root)
    }
    #expect(throws: UDITreeError.cycle(child: ["root", "child"], parent: ["root", "child", "grandchild"])) {
      try grandchild.addChild(child)
    }
    #expect(root.descendants == [child, grandchild])
  }

  @Test func errorsNameBothContexts() {
    let duplicate = UDITreeError.duplicateTag("Pay", parent: ["App", "Shop"])
    #expect(duplicate.description.contains(#""Pay""#) && duplicate.description.contains(#""App / Shop""#))
    let own = UDITreeError.cycle(child: ["App"], parent: ["App"])
    #expect(own.description.contains("cannot be below itself"))
    let cycle = UDITreeError.cycle(child: ["App"], parent: ["App", "Shop"])
    #expect(cycle.description.contains(#"added to "App / Shop": a context cannot be below itself"#))
  }

  @Test func removing() throws {
    let root = UDIContext(tag: "root")
    let a = try root.makeChild(tag: "a")
    let b = try root.makeChild(tag: "b")
    let c = try root.makeChild(tag: "c")
    let deep = try a.makeChild(tag: "deep")
    #expect(root.removeChild(b))
    #expect(!root.removeChild(b))
    #expect(!root.removeChild(deep), "not a child, but a grandchild")
    #expect(root.removeChild(tag: "c") === c)
    #expect(root.removeChild(tag: "c") == nil)
    #expect(root.children == [a])
    #expect(a.removeFromParent())
    #expect(!a.removeFromParent())
    #expect(root.children.isEmpty && a.parent == nil)
    #expect(a.children == [deep] && deep.root === a)
    // A removed context can be added again, under the same tag.
    try root.addChild(a)
    #expect(deep.path == ["a", "deep"])
  }

  @Test func aParentHoldsItsChildren() throws {
    let root = UDIContext(tag: "root")
    weak var child: UDIContext?
    do { child = try root.makeChild(tag: "child").makeChild(tag: "grandchild") }
    #expect(child?.path == ["child", "grandchild"])
    root.removeChild(tag: "child")
    #expect(child == nil)
  }

  @Test func aChildHoldsItsParentWeakly() throws {
    var root: UDIContext? = UDIContext(tag: "root")
    weak let observed = root
    let child = try #require(try root?.makeChild(tag: "child"))
    let grandchild = try child.makeChild(tag: "grandchild")
    root = nil
    #expect(observed == nil)
    #expect(child.parent == nil)
    #expect(grandchild.parent === child)
    #expect(grandchild.root === child)
  }

  @Test func findIsBreadthFirstBelow() throws {
    let root = UDIContext(tag: "x")
    let a = try root.makeChild(tag: "a")
    let b = try root.makeChild(tag: "b")
    let deep = try a.makeChild(tag: "a1").makeChild(tag: "x")
    #expect(root.find("x") === deep, "the context's own tag does not count")
    #expect(root.find("x") === deep)
    let near = try b.makeChild(tag: "x")
    #expect(root.find("x") === near && root.find("x") === near)
    #expect(root.find("nowhere") == nil && root.find("nowhere") == nil)
    #expect(root.descendants.map(\.tag) == ["a", "b", "a1", "x", "x"])
  }

  @Test func pathsAndContextsAtThemAreInverses() throws {
    let root = UDIContext(tag: "root")
    let tags = ["Checkout", "", "a / b", "naïve 🧭", "e\u{301}", "\0"]
    var context = root
    for tag in tags {
      context = try context.makeChild(tag: tag)
      #expect(root.context(at: context.path) === context)
    }
    #expect(context.path == tags)
    #expect(root.context(at: []) === root)
    #expect(root.path.isEmpty && root.fullPath == ["root"])
    #expect(context.fullPath == ["root"] + tags)
    #expect(root.context(at: ["Checkout", "missing"]) == nil)
    #expect(context.root === root)
    #expect(root.child(tag: "Checkout")?.description == "root / Checkout")
  }

  @Test func searchIsHandedOnWhenAChildIsMade() throws {
    let root = UDIContext(tag: "root", search: .ancestors)
    let child = try root.makeChild(tag: "child")
    #expect(child.search == .ancestors)
    root.search = .local
    #expect(child.search == .ancestors)
    #expect(try root.makeChild(tag: "second").search == .local)
    #expect(try root.makeChild(tag: "third", search: .descendants).search == .descendants)
  }

  @Test func contextsAreEqualByIdentity() {
    let context = UDIContext(tag: "same")
    #expect(Set([context, context, UDIContext(tag: "same")]).count == 2)
  }

  /// Nothing recurses over depth: building, searching, printing and releasing a deep tree use little stack.
  @Test(.exceptUnderThreadSanitizer) func aChainOf100_000() throws {
    let depth = 100_000
    let service = Plain()
    var root: UDIContext? = UDIContext(tag: "\(depth)")
    root?.bind(service, as: (any Service).self)
    weak let last = root
    // Built from below, because while another test audits its leaks, each new context asks all contexts above it
    // whether they are audited.
    for level in (0..<depth).reversed() {
      let above = UDIContext(tag: "\(level)")
      try above.addChild(try #require(root))
      root = above
    }
    do {
      let root = try #require(root)
      #expect(root.link((any Service).self) === service)
      #expect(root.find("\(depth)") === last)
      #expect(last?.path.count == depth)
      #expect(root.descendants.count == depth)
      #expect(last?.link((any Other).self) == nil)
      #expect(last?.explain((any Other).self).omittedCount == depth + 1 - 12)
      #expect(root.explain((any Other).self).omittedCount == depth + 1 - 12)
      #expect(root.linkAll((any Service).self).count == 1)
      let text = root.snapshot().text(depth: .max)
      #expect(text.split(separator: "\n").count == depth + 2)
      #expect(
        text.hasSuffix("(\(depth)) ▸ \(depth)\n" + String(repeating: "  ", count: 33) + "• UDITests.Service: Plain"))
      // Moving the far end and back changes every level above.
      let half = try #require(root.find("\(depth / 2)"))
      half.removeFromParent()
      #expect(root.link((any Service).self) == nil)
      try root.addChild(half)
      #expect(root.link((any Service).self) === service)
    }
    root = nil
    #expect(last == nil)
  }

  @Test func aReleasedTreeLetsGoInTheOrderOfItsLevels() throws {
    // A context that somebody holds survives its parent, together with its own branch.
    var root: UDIContext? = UDIContext(tag: "root")
    let kept = try #require(try root?.makeChild(tag: "a").makeChild(tag: "kept"))
    weak let below = try kept.makeChild(tag: "below")
    weak let above = root?.child(tag: "a")
    root = nil
    #expect(above == nil)
    #expect(below != nil)
    #expect(kept.parent == nil)
  }
}
