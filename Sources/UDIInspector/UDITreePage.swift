public import UDI

/// A page that shows a tree while the program runs.
///
/// The page shows which objects are bound where, whether they are alive, and which instances have been made. It also
/// shows which objects and factories need which dependencies, and the way of any lookup.
///
/// A program with a server mounts the page at any path. One route is enough, because all requests of the page go to its
/// own path, and differ only in the query:
///
/// ```swift
/// let page = UDITreePage(AppContext)
/// router.get("/debug/contexts") { request, _ in
///   guard let answer = page.response(to: request.uri.string) else { throw HTTPError(.notFound) }
///   return Response(
///     status: .ok, headers: [.contentType: answer.contentType],
///     body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
/// }
/// ```
///
/// Any other program writes the page to a file: ``write(to:)``. The file contains everything but the way of lookups: to
/// show one, the page has to ask the program.
///
/// The page shows the names of types and classes, tags, names of dependencies, places in the source, and the messages
/// of errors that factories threw. It shows no values. Mount it where only developers can reach it.
///
/// The page's requests make no instance. They change nothing in the tree, except that asking for the way of a lookup
/// may withdraw bindings whose objects have been released, as lookups do.
public struct UDITreePage: Sendable {
  let context: UDIContext

  /// Makes the page of a context.
  ///
  /// - Parameter context: The context at the top of the page, normally a root. The page holds it strongly.
  public init(_ context: UDIContext) { self.context = context }

  /// A server's answer to a request of the page.
  public struct Response: Sendable, Hashable {
    /// The value of the header `Content-Type`.
    public let contentType: String
    /// The body.
    public let body: [UInt8]

    init(_ contentType: String, _ body: String) {
      self.contentType = "\(contentType); charset=utf-8"
      self.body = Array(body.utf8)
    }
  }

  /// Returns the answer to a request of the page.
  ///
  /// - Parameter target: The request's target as in HTTP: the path, and the query if there is one. The path can be
  ///   anything. Without a query, the answer is the page itself.
  /// - Returns: The answer, or nil if the page never makes such a request. If it is nil, answer with the status 404.
  /// - Complexity: O(contexts and bindings), if the request is for the data.
  public func response(to target: String) -> Response? {
    guard let (resource, values) = query(of: target) else { return nil }
    switch resource {
    case "": return Response("text/html", servedPage)
    case "style.css": return Response("text/css", pageStyle)
    case "script.js": return Response("text/javascript", pageScript)
    case "data.json": return Response("application/json", data(unless: values["version"]?.first))
    case "way.json": return way(values).map { Response("application/json", $0) }
    default: return nil
    }
  }

  /// Returns the page as a single file, with the current data.
  ///
  /// The file loads nothing, and can neither update itself nor look anything up.
  ///
  /// - Returns: The text of an HTML file.
  /// - Complexity: O(contexts and bindings).
  public func html() -> String { writtenPage(data()) }

  /// The data of the page, as JSON.
  ///
  /// - Parameter known: The version that the page already has. If this is still the current version, only the version
  ///   is returned.
  private func data(unless known: String? = nil) -> String {
    let tree = context.snapshot().pageData(at: context.fullPath)
    let version = String(tree.hashValue, radix: 16)
    return jsonObject(["version": jsonText(version), "tree": version == known ? nil : tree])
  }
}
