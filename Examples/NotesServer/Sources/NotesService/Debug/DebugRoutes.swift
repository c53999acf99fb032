import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import UDI

/// Adds a page that shows the tree at work. Whoever can reach the page sees what goes on inside, so it is for the
/// loopback interface only.
///
/// - Parameters:
///   - router: The router that gets the routes.
///   - root: The parent of the requests' contexts.
func addDebugRoutes(to router: Router<NotesRequestContext>, root: UDIContext) {
  router.get("/debug/contexts") { _, _ in page(PackageResources.contexts_html, "text/html; charset=utf-8") }
  router.get("/debug/contexts.css") { _, _ in page(PackageResources.contexts_css, "text/css; charset=utf-8") }
  router.get("/debug/contexts.js") { _, _ in page(PackageResources.contexts_js, "text/javascript; charset=utf-8") }
  router.get("/debug/contexts.json") { _, _ in try Response.json(TreeView(root.snapshot())) }
  router.get("/debug/explain") { request, _ in
    let query = request.uri.queryParameters
    guard let key = query.get("key"), let explain = explainableKeys[key] else {
      throw APIError.invalidParameter("key must be one of \(explainableKeys.keys.sorted().joined(separator: ", "))")
    }
    guard let context = root.context(at: tags(query.get("path") ?? "")) else {
      throw APIError.invalidParameter("there is no such context any more")
    }
    return try Response.json(["explanation": explain(context).description])
  }
}

/// The tags in a path as the page writes it: `/tag/tag`, each tag percent-encoded.
private func tags(_ path: String) -> [String] {
  path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
}

private func page(_ bytes: [UInt8], _ type: String) -> Response {
  let headers: HTTPFields = [
    .contentType: type,
    .cacheControl: "no-store",
    // The page loads nothing from elsewhere, and this header makes the browser enforce that.
    .contentSecurityPolicy: "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
  ]
  return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
}
