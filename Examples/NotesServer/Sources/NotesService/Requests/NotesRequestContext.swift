import Hummingbird
import Logging

/// What the framework passes from one middleware to the next, and to the route.
public struct NotesRequestContext: RequestContext {
  /// The framework's own part.
  public var coreContext: CoreRequestContextStorage
  /// Set by ``RequestScopeMiddleware``, for everything that comes after it.
  var openScope: (any RequestScope)?

  /// Makes the context of a request.
  public init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }

  /// The request's id, which the framework keeps in the logger.
  var id: String {
    get { logger[metadataKey: Self.idKey]?.description ?? "" }
    set { logger[metadataKey: Self.idKey] = .string(newValue) }
  }

  private static let idKey = "hb.request.id"

  /// The scope that makes the request's handlers.
  var scope: any RequestScope {
    get throws {
      guard let openScope else { throw NoScope() }
      return openScope
    }
  }

  /// A route was added before the middleware that opens scopes.
  struct NoScope: Error {}
}
