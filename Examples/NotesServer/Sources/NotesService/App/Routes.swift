import HTTPTypes
import Hummingbird

/// Adds the routes. A route asks the request's scope for its handler, and does not know how the handler was made.
func addRoutes(to router: Router<NotesRequestContext>) {
  router.get("/health") { _, context in
    try await context.scope.healthHandler().report()
  }
  router.get("/notes") { request, context in
    try await context.scope.notesHandler().list(request.uri.queryParameters)
  }
  router.post("/notes") { request, context in
    try await context.scope.notesHandler().create(request)
  }
  router.get("/notes/:id") { _, context in
    try await context.scope.notesHandler().show(context.parameters.require("id"))
  }
  router.put("/notes/:id") { request, context in
    try await context.scope.notesHandler().replace(context.parameters.require("id"), with: request)
  }
  router.delete("/notes/:id") { _, context in
    try await context.scope.notesHandler().delete(context.parameters.require("id"))
  }
  router.refuseOtherMethods(on: "/health", allowing: [.get, .head])
  router.refuseOtherMethods(on: "/notes", allowing: [.get, .head, .post])
  router.refuseOtherMethods(on: "/notes/:id", allowing: [.get, .head, .put, .delete])
}

extension Router {
  /// Answers all other methods of a path with 405, because the router itself only knows that it has no such route.
  fileprivate func refuseOtherMethods(on path: RouterPath, allowing allowed: [HTTPRequest.Method]) {
    let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options, .trace, .connect]
    for method in known where !allowed.contains(method) {
      on(path, method: method) { _, _ -> Response in throw APIError.methodNotAllowed(allowed) }
    }
  }
}
