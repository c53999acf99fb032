import Hummingbird
import Logging
import NIOHTTP1

/// Turns every error into the one form that clients know, and logs internal errors.
struct ErrorMiddleware: RouterMiddleware {
  func handle(
    _ request: Request, context: NotesRequestContext,
    next: (Request, NotesRequestContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as HTTPParserError {
      // The bytes are not HTTP: the server answers 400 and closes the connection.
      throw error
    } catch {
      let known = APIError(error)
      if known == nil { context.logger.error("A request failed", error: error) }
      return try (known ?? .internalError).response(from: request, context: context)
    }
  }
}
