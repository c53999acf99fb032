import Hummingbird
import UDI
import UDIInspector

/// Adds a page that shows the tree at work. Whoever can reach the page sees what goes on inside, so it is for the
/// loopback interface only.
///
/// - Parameters:
///   - router: The router that gets the route.
///   - root: The parent of the requests' contexts.
func addDebugRoutes(to router: Router<NotesRequestContext>, root: UDIContext) {
  let page = UDITreePage(root)
  router.get("/debug/contexts") { request, _ in
    guard let answer = page.response(to: request.uri.string) else { throw HTTPError(.notFound) }
    return Response(
      status: .ok, headers: [.contentType: answer.contentType],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
  }
}
