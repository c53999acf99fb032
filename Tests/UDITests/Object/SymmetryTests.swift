import Foundation
import Testing
import UDI

/// The verbs that contexts and objects have in common.
@Suite struct SymmetryTests {
  /// Each form of each verb that looks up, as `API/UDI.txt` declares it, has the same types and throws the same errors.
  @Test("Objects have all that contexts have to look up with, and the other way round")
  func lookups() throws {
    let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let interface = try String(contentsOf: project.appending(path: "API/UDI.txt"), encoding: .utf8)
    var (ofContexts, ofObjects): ([String], [String]) = ([], [])
    for line in interface.split(separator: "\n") where line.contains("search: UDISearch?") {
      guard let colon = line.firstRange(of: ": ") else { continue }
      let (symbol, declaration) = (line[..<colon.lowerBound], String(line[colon.upperBound...]))
      // These make contexts, list registrations, or are awaited on the main actor. Only contexts have them.
      let others = ["make", "withScope", "registrations"].map { "UDIContext.\($0)" }
      if symbol.hasPrefix("UDIContext."), !symbol.contains("OnMainActor"), !others.contains(where: symbol.hasPrefix) {
        ofContexts.append(declaration)
      }
      // An object's `link` stores what it finds in a property. `linkInLine` is what `link` is on contexts.
      if symbol.hasPrefix("UDIObject."), !symbol.hasPrefix("UDIObject.link(") {
        ofObjects.append(
          declaration.replacing("linkInLine", with: "link")
            .replacing(", fileID: StaticString = #fileID, line: UInt = #line", with: ""))
      }
    }
    #expect(ofContexts.sorted() == ofObjects.sorted())
    #expect(ofContexts.count > 20)
  }
}
