import Hummingbird
import UDI

/// Adds what shows the tree at work. Who can reach it sees what goes on inside, so it is for the loopback interface alone.
///
/// - Parameters:
///   - router: Where to.
///   - root: The parent of the requests' contexts.
func addDebugRoutes(to router: Router<NotesRequestContext>, root: UDIContext) {
  router.get("/debug/contexts.json") { _, _ in try Response.json(["contexts": root.children.count]) }
}
