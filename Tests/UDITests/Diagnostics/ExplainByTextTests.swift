import Testing
import UDI
import UDIInspector

private enum Side { case left }

/// Explanations for programs that know a key only by its texts.
@Suite @MainActor struct ExplainByTextTests {
  private let typeName = String(reflecting: (any Service).self)

  @Test func explainsAsTheVerbDoes() throws {
    let root = UDIContext(tag: "root")
    let child = try root.makeChild(tag: "child")
    let (plain, left, one) = (Plain(), Plain(), Plain())
    child.bind(plain, as: (any Service).self)
    root.bind(left, as: (any Service).self, named: UDIName(Side.left))
    root.bind(one, as: (any Service).self, named: "a \"quoted\" name")
    for context in [root, child] {
      for search in UDISearch.allCases {
        #expect(
          context.explain(typeNamed: typeName, named: nil, search: search)
            == context.explain((any Service).self, search: search))
        #expect(
          context.explain(typeNamed: typeName, named: UDIName(Side.left).description, search: search)
            == context.explain((any Service).self, named: UDIName(Side.left), search: search))
      }
    }
    let quoted = root.snapshot().contexts[0].entries[1].name
    #expect(
      child.explain(typeNamed: typeName, named: quoted, search: nil)
        == child.explain((any Service).self, named: "a \"quoted\" name"))
  }

  @Test func explainsALookupOnTheMainActor() async {
    let context = UDIContext(tag: "context")
    context.register((any Service).self) { @MainActor in Plain() }
    let here = context.explain((any Service).self).summary
    let elsewhere = await Task.detached { [typeName] in
      context.explain(typeNamed: typeName, named: nil, search: nil)?.summary
    }.value
    #expect(elsewhere == here)
  }

  @Test func knowsOnlyWhatIsRegistered() {
    let context = UDIContext(tag: "context")
    let plain = Plain()
    #expect(context.explain(typeNamed: typeName, named: nil, search: nil) == nil)
    context.bind(plain, as: (any Service).self)
    #expect(context.explain(typeNamed: typeName, named: nil, search: nil) != nil)
    #expect(context.explain(typeNamed: typeName, named: "\"name\"", search: nil) == nil)
  }

  @Test func knowsWhatIsGone() {
    let context = UDIContext(tag: "context")
    do { context.bind(Plain(), as: (any Service).self) }
    let explanation = context.explain((any Service).self)
    #expect(context.link((any Service).self) == nil)
    #expect(context.snapshot().contexts[0].entries.isEmpty)
    #expect(
      context.explain(typeNamed: typeName, named: nil, search: nil)?.summary
        == explanation.summary)
  }
}
