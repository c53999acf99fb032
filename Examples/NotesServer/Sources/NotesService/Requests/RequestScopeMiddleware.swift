import Hummingbird

/// Opens a scope for each request, and closes it when the request has been answered.
struct RequestScopeMiddleware<RequestWiring: Wiring>: RouterMiddleware {
  let wiring: RequestWiring

  func handle(
    _ request: Request, context: NotesRequestContext,
    next: (Request, NotesRequestContext) async throws -> Response
  ) async throws -> Response {
    try await wiring.withScope(of: RequestIdentity(id: context.id), logger: context.logger) { scope in
      var context = context
      context.openScope = scope
      return try await next(request, context)
    }
  }
}
