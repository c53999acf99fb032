import Foundation
import Testing
import UDI
import UDIInspector

/// Sizes that nobody needs, to be sure that nothing breaks before. A chain of 100,000 contexts is in `TreeTests`.
@Suite(.serialized) struct LimitTests {
  /// `UDI_CHILDREN` sets another number. In the stage `long`, it is a million.
  @Test("A context with 100,000 children", .exceptUnderThreadSanitizer)
  func fanOut() throws {
    let count = ProcessInfo.processInfo.environment["UDI_CHILDREN"].flatMap { Int($0) } ?? 100_000
    let root = UDIContext(tag: "root")
    for index in 0..<count { try root.makeChild(tag: "\(index)") }
    #expect(root.children.count == count)
    let last = try #require(root.child(tag: "\(count - 1)"))
    let plain = Plain()
    last.bind(plain, as: (any Service).self)
    #expect(root.link((any Service).self) === plain)
    #expect(root.find("\(count / 2)") === root.children[count / 2])
    #expect(throws: UDITreeError.self) { try root.makeChild(tag: "0") }
    last.removeFromParent()
    #expect(root.link((any Service).self) == nil && root.children.count == count - 1)
    let explanation = root.explain((any Service).self)
    #expect(explanation.omittedCount == count - 12)
    #expect(root.snapshot().text(width: 2).hasSuffix("… \(count - 3) more contexts"))
  }

  @Test("A context with 10,000 keys, each seen from above")
  func keys() throws {
    let root = UDIContext(tag: "root")
    let context = try root.makeChild(tag: "context")
    let objects = (0..<10_000).map { Plain("\($0)") }
    for (index, object) in objects.enumerated() { context.bind(object, as: (any Service).self, named: UDIName(index)) }
    for (index, object) in objects.enumerated() {
      #expect(root.link((any Service).self, named: UDIName(index)) === object)
    }
    #expect(root.linkAll((any Service).self).count == objects.count)
    for index in objects.indices where index % 2 == 0 { context.unbind((any Service).self, named: UDIName(index)) }
    #expect(root.linkAll((any Service).self).count == objects.count / 2)
    context.removeFromParent()
    #expect(root.link((any Service).self, named: 1) == nil)
    #expect(context.link((any Service).self, named: 1) === objects[1])
  }

  @Test(
    "Tags and names of any text: empty, of any script, of one megabyte",
    arguments: ([
      "", " ", "/", "a/b", "\0", "\n\r\t", "e\u{301}", "שלום", "日本語", "👩‍👩‍👧‍👦", "\u{202E}abc", "\u{FFFF}",
      String(repeating: "x", count: 1 << 20), String(repeating: "👍🏽", count: 1 << 17),
    ] as [String]).map(AnyText.init))
  func texts(_ any: AnyText) throws {
    let text = any.text
    let root = UDIContext(tag: text)
    let child = try root.makeChild(tag: text)
    let plain = Plain()
    child.bind(plain, as: (any Service).self, named: UDIName(text))
    #expect(root.link((any Service).self, named: UDIName(text)) === plain)
    #expect(root.context(at: child.path) === child && root.find(text) === child)
    #expect(throws: UDITreeError.self) { try root.makeChild(tag: text) }
    let snapshot = root.snapshot()
    #expect(snapshot.text().split(separator: "\n").count == 3, "a text breaks no line")
    #expect(snapshot.mermaid().split(separator: "\n").count == 6)
    #expect(root.explain((any Service).self).description.split(separator: "\n").count == 5)
    #expect(try JSONDecoder().decode(UDISnapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot)
  }

  /// A text of any length and script. The log of the tests shows the beginning, with escapes.
  struct AnyText: CustomTestStringConvertible {
    let text: String

    var testDescription: String {
      let scalars = text.unicodeScalars
      let escaped = scalars.prefix(8).map { $0.escaped(asASCII: true) }.joined()
      return scalars.count > 8 ? "\"\(escaped)\"… (\(scalars.count) scalars)" : "\"\(escaped)\""
    }
  }

  @Test("Texts that Unicode calls equal are one tag and one name")
  func equalTexts() throws {
    let root = UDIContext(tag: "root")
    try root.makeChild(tag: "\u{E9}")
    #expect(throws: UDITreeError.self) { try root.makeChild(tag: "e\u{301}") }
    let plain = Plain()
    root.bind(plain, as: (any Service).self, named: "\u{E9}")
    #expect(root.link((any Service).self, named: "e\u{301}") === plain)
  }
}
