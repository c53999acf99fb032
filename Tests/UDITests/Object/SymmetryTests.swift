import Foundation
import Testing
import UDI

/// What contexts and objects have in common.
@Suite struct SymmetryTests {
  /// Each form of each verb that looks up, as `API/UDI.txt` declares it: with the same types, and throwing the same.
  @Test("Objects have all that contexts have to look up with, and the other way round")
  func lookups() throws {
    let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let interface = try String(contentsOf: project.appending(path: "API/UDI.txt"), encoding: .utf8)
    var (ofContexts, ofObjects): ([String], [String]) = ([], [])
    for line in interface.split(separator: "\n") where line.contains("search: UDISearch?") {
      guard let colon = line.firstRange(of: ": ") else { continue }
      let (symbol, declaration) = (line[..<colon.lowerBound], String(line[colon.upperBound...]))
      // These make contexts, list registrations, or are awaited on the main actor: contexts alone have them.
      let others = ["make", "withScope", "registrations"].map { "UDIContext.\($0)" }
      if symbol.hasPrefix("UDIContext."), !symbol.contains("OnMainActor"), !others.contains(where: symbol.hasPrefix) {
        ofContexts.append(declaration)
      }
      // An object's `link` keeps what it finds in a property, and `linkInLine` is what `link` is on contexts.
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
