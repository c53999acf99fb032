import Foundation
import Testing
import UDI

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
    let binding = try #require(snapshot.contexts[1].bindings.first)
    #expect(binding.fileID == #fileID && binding.line > 0)
    #expect(try JSONDecoder().decode(UDISnapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot)
  }

  @Test func tagsThatBreakLinesAreSpelledOut() throws {
    let root = UDIContext(tag: "a\nb")
    try root.makeChild(tag: "tab\t")
    #expect(root.snapshot().description == "▸ a\\nb\n  ▸ tab\\t")
    #expect(root.description == "a\\nb")
    #expect(UDITreeError.duplicateTag("x\n", parent: ["a\nb"]).description.contains("\n") == false)
  }

  @Test func aSnapshotFromElsewhereMaySayAnything() throws {
    let json = """
      {"contexts": [
        {"tag": "a", "parent": 7, "bindings": [], "providers": []},
        {"tag": "b", "parent": 1, "bindings": [], "providers": []}
      ]}
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
    #expect(snapshot?.contexts.first?.bindings.first?.className == "Plain")
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
    #expect(snapshot.contexts[0].providers[1].line == line && snapshot.contexts[0].providers[1].fileID == #fileID)
    let held = context.link((any Beta).self, named: "n")
    #expect(context.snapshot().contexts[0].providers[1].isMade)
    withExtendedLifetime(held) {}
  }
}
