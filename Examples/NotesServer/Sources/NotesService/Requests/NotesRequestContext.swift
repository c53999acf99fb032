import Hummingbird
import Logging

/// What the framework hands from one middleware to the next, and to the route.
public struct NotesRequestContext: RequestContext {
  /// What the framework keeps.
  public var coreContext: CoreRequestContextStorage
  /// Set by ``RequestScopeMiddleware``, for what comes after it.
  var openScope: (any RequestScope)?

  /// Makes the context of a request.
  public init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }

  /// The request's id, which the framework keeps in the logger.
  var id: String {
    get { logger[metadataKey: Self.idKey]?.description ?? "" }
    set { logger[metadataKey: Self.idKey] = .string(newValue) }
  }

  private static let idKey = "hb.request.id"

  /// What makes the request's handlers.
  var scope: any RequestScope {
    get throws {
      guard let openScope else { throw NoScope() }
      return openScope
    }
  }

  /// A route stands before the middleware that opens scopes.
  struct NoScope: Error {}
}
