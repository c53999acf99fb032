import Foundation
import Testing
import UDI
import UDIInspector

@Suite struct SnapshotTests {
  @Test func aTreeAsText() throws {
    let root = UDIContext(tag: "App")
    let shop = try root.makeChild(tag: "Shop")
    try root.makeChild(tag: "Empty")
    try shop.makeChild(tag: "Cart")
    let (plain, member) = (Plain(), Member())
    root.bind(plain, as: (any Service).self)
    shop.bind(member, as: (any Loose).self, named: "x")
    do {
      let mortal = Plain()
      shop.bind(mortal, as: Plain.self)
    }
    let snapshot = root.snapshot()
    #expect(
      snapshot.description == """
        ▸ App
          • UDITests.Service: Plain
          ▸ Shop
            • UDITests.Loose named "x": Member
            • UDITests.Plain: dead
            ▸ Cart
          ▸ Empty
        """)
    #expect(snapshot == root.snapshot())
    let binding = try #require(snapshot.contexts[1].entries.first)
    #expect(binding.fileID == #fileID && binding.line > 0)
    #expect(try JSONDecoder().decode(UDISnapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot)
  }

  @Test func tagsThatBreakLinesAreSpelledOut() throws {
    let root = UDIContext(tag: "a\nb")
    try root.makeChild(tag: "tab\t")
    #expect(root.snapshot().description == "▸ a\\nb\n  ▸ tab\\t")
    #expect(root.description == "a\\nb")
    #expect(UDITreeError.duplicateTag("x\n", parent: ["a\nb"]).description.contains("\n") == false)
    // Marks that change the direction of the text behind them.
    for mark in ["\u{202E}", "\u{2066}", "\u{200F}", "\u{61C}"] {
      let description = UDITreeError.duplicateTag("x\(mark)y", parent: ["\(mark)"]).description
      #expect(!description.unicodeScalars.contains { $0.properties.isBidiControl })
    }
  }

  @Test func aSnapshotFromElsewhereMaySayAnything() throws {
    let json = """
      {"contexts": [
        {"tag": "a", "parent": 7, "search": "lineage", "removedBindings": [], "entries": []},
        {"tag": "b", "parent": 1, "scopeKind": "b", "search": "local", "removedBindings": [], "entries": []}
      ], "dependents": [], "uses": []}
      """
    let snapshot = try JSONDecoder().decode(UDISnapshot.self, from: Data(json.utf8))
    #expect(snapshot.description == "▸ a")
  }

  @Test func aSnapshotHoldsNothing() {
    let context = UDIContext(tag: "context")
    weak var observed: Plain?
    var snapshot: UDISnapshot?
    do {
      let plain = Plain()
      observed = plain
      context.bind(plain, as: (any Service).self)
      snapshot = context.snapshot()
    }
    #expect(observed == nil)
    #expect(snapshot?.contexts.first?.entries.first?.className == "Plain")
  }

  @Test func providersAreListedBehindBindings() throws {
    let context = UDIContext(tag: "context")
    let plain = Plain()
    context.register((any Alpha).self, lifetime: .context) { Made() }
    let line = #line + 1
    context.register((any Beta).self, named: "n", lifetime: .weak) { Made() }
    context.bind(plain, as: (any Service).self)
    _ = context.link((any Alpha).self)
    let snapshot = context.snapshot()
    #expect(
      snapshot.description == """
        ▸ context
          • UDITests.Service: Plain
          ◦ UDITests.Alpha: made, context
          ◦ UDITests.Beta named "n": not made, weak
        """)
    #expect(snapshot.contexts[0].entries[2].line == line && snapshot.contexts[0].entries[2].fileID == #fileID)
    let held = context.link((any Beta).self, named: "n")
    #expect(context.snapshot().contexts[0].entries[2].kind == .kept)
    withExtendedLifetime(held) {}
  }

  @Test func aContextSaysWhatItsLookupsWouldDo() throws {
    let root = UDIContext(tag: "root")
    try root.makeChild(tag: "child", search: .local).register((any Alpha).self) { Made() }
    root.register((any Beta).self) { (_, number: Int, text: String) in Made() }
    let contexts = root.snapshot().contexts
    #expect(contexts.map(\.search) == [.lineage, .local])
    #expect(contexts[0].entries.first?.argumentTypes == ["Swift.Int", "Swift.String"])
    #expect(contexts[1].entries.map(\.className) == [nil])
  }

  @Test func aProviderSaysWhatItKeeps() {
    let context = UDIContext(tag: "context")
    context.register((any Alpha).self, lifetime: .context) { Made() }
    #expect(context.snapshot().contexts[0].entries.first?.className == nil)
    _ = context.link((any Alpha).self)
    #expect(context.snapshot().contexts[0].entries.first?.className == "Made")
  }

  @Test func aSnapshotSaysWhatIsGone() throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let (first, second, moved) = (Plain(), Plain(), Plain())
    root.bind(first, as: (any Service).self, named: UDIName(1))
    root.bind(second, as: (any Service).self, named: UDIName(1))
    let replaced = #line - 1
    root.bind(moved, as: (any Service).self)
    child.bind(moved, as: (any Service).self)
    do { root.bind(Plain(), as: (any Service).self, named: "dead") }
    _ = root.link((any Service).self, named: "dead")
    let contexts = root.snapshot().contexts
    let gone = contexts[0].removedBindings
    #expect(gone.map(\.kind) == [.replaced, .withdrawn, .dead])
    #expect(gone.map(\.typeName) == Array(repeating: "UDITests.Service", count: 3))
    #expect(gone.map(\.name) == ["Swift.Int 1", nil, "dead"])
    #expect(gone.map(\.isAlive) == [true, true, false])
    #expect(gone.map(\.className) == ["Plain", "Plain", "Plain"])
    #expect(gone[0].endLine == replaced && gone[0].line == replaced - 1 && gone[0].endFileID == #fileID)
    #expect(gone[2].endFileID == nil)
    #expect(contexts[1].removedBindings.isEmpty)
    withExtendedLifetime((first, second, moved)) {}
  }

  @Test func overridesAreListedFirst() {
    let context = UDIContext(tag: "context")
    let plain = Plain()
    context.bind(plain, as: (any Service).self)
    let override = context.override(
      (any Service).self, named: nil, with: Plain(), isSendable: true, fileID: #fileID, line: #line)
    let snapshot = context.snapshot()
    #expect(snapshot.contexts[0].entries.map(\.kind) == [.override, .live])
    #expect(
      snapshot.description == """
        ▸ context
          ▪ UDITests.Service: Plain, put there by a test
          • UDITests.Service: Plain
        """)
    #expect(snapshot.mermaid().contains("[[\"UDITests.Service: Plain, put there by a test\"]]"))
    context.change { node, garbage in node.end(override, &garbage) }
    #expect(context.snapshot().contexts[0].entries.map(\.kind) == [.live])
  }

  @Test("What does not fit is counted: 10,000 contexts in a few lines")
  func largeTrees() throws {
    let root = UDIContext(tag: "App")
    let objects = (0..<5).map { _ in Plain() }
    for (index, object) in objects.enumerated() {
      root.multiBind(object, as: (any Service).self, named: UDIName(index))
    }
    for index in 0..<100 {
      let child = try root.makeChild(tag: "\(index)")
      for index in 0..<99 { try child.makeChild(tag: "\(index)") }
    }
    let snapshot = root.snapshot()
    #expect(snapshot.contexts.count == 10_001)
    #expect(
      snapshot.text(depth: 2, width: 2) == """
        ▸ App
          • UDITests.Service named "Swift.Int 0": Plain
          • UDITests.Service named "Swift.Int 1": Plain
          … 3 more bindings and providers
          ▸ 0
            … 99 more contexts
          ▸ 1
            … 99 more contexts
          … 98 more contexts, 9800 including all below
        """)
    #expect(snapshot.description.split(separator: "\n").count == 1 + 5 + 32 * (1 + 32 + 1) + 1)
    #expect(
      snapshot.text(depth: 1, width: 0)
        == "▸ App\n  … 5 more bindings and providers\n  … 100 more contexts, 10000 including all below")
    #expect(snapshot.text(depth: 0).isEmpty)
    #expect(snapshot.text(depth: .max, width: .max).split(separator: "\n").count == 10_006)
    #expect(snapshot.mermaid(depth: 2, width: 2).split(separator: "\n").count == 12)
    withExtendedLifetime(objects) {}
  }

  @Test("A diagram, with texts that Mermaid would take for its own spelled out")
  func mermaid() throws {
    let root = UDIContext(tag: "App \"<b>\" #1")
    let shop = try root.makeChild(tag: "Shop")
    let plain = Plain()
    shop.bind(plain, as: (any Service).self)
    do { shop.bind(Plain(), as: (any Loose).self, named: "x") }
    shop.register((any Alpha).self) { Made() }
    #expect(
      root.snapshot().mermaid() == """
        flowchart TD
          c0["App #quot;#lt;b#gt;#quot; #35;1"]
          c0 --> c1["Shop"]
          c1 -.- n1(["UDITests.Service: Plain"])
          c1 -.- n2(["UDITests.Loose named #quot;x#quot;: dead"]):::dead
          c1 --- n3[/"UDITests.Alpha: not made, context"/]
          classDef dead stroke-dasharray: 3 3, opacity: 0.5
          classDef more stroke-dasharray: 1 3
        """)
    // With a mark after it, a quotation mark is another character, but not to Mermaid.
    for mark in ["\u{301}", "\u{200D}", "\u{FE0F}"] {
      let line = UDIContext(tag: "a\"\(mark)] --> b[\"\(mark)").snapshot().mermaid().split(separator: "\n")[1]
      #expect(line.unicodeScalars.count { $0 == "\"" } == 2)
    }
  }
}
