import HTTPTypes
import Hummingbird
import Logging

/// Gives each request its id: the client's, if that is well-formed, and otherwise the one that the framework made. The
/// response carries the id, and so does every line that the request's logger writes.
struct IdentityMiddleware: RouterMiddleware {
  func handle(
    _ request: Request, context: NotesRequestContext,
    next: (Request, NotesRequestContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    if let identity = request.headers[.requestID].flatMap(RequestIdentity.init(header:)) { context.id = identity.id }
    var response = try await next(request, context)
    response.headers[.requestID] = context.id
    context.logger.info(
      "\(request.method) \(request.uri.path)", metadata: ["status": "\(response.status.code)"])
    return response
  }
}
