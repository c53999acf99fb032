import Testing
import UDI
import UDIInspector
import UDITesting

// The code in "Seeing the living tree": `.ci/articles` compares it with this. The example with a server is in NotesServer.

@Suite(.ownAppContext) struct InspectorArticle {
  @Test func theTreeIsInTheFile() throws {
    try AppContext.makeChild(tag: "Checkout")
    #expect(UDITreePage(AppContext).html().contains("\"tag\":\"Checkout\""))
  }

  /// Only compiled, because it would write to the current folder.
  func inAFile() throws {
    try UDITreePage(AppContext).write(to: "tree.html")
  }
}
