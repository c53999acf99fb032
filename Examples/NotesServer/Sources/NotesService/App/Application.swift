import Hummingbird
import Logging
import UDI

/// Puts the server together: routes and middleware.
///
/// - Parameters:
///   - configuration: Where to listen.
///   - wiring: Makes the objects that a request needs.
///   - debugging: The root context whose tree `/debug/contexts` shows; nil to leave out that page.
///   - logger: The logger from which the loggers of requests are made.
///   - onListening: Called with the port once the server accepts connections.
/// - Returns: A server that is ready to run.
public func makeApplication(
  _ configuration: NotesConfiguration, wiring: some Wiring, debugging: UDIContext? = nil, logger: Logger,
  onListening: @escaping @Sendable (Int) async -> Void = { _ in }
) -> some ApplicationProtocol {
  Application(
    router: makeRouter(wiring: wiring, debugging: debugging),
    configuration: ApplicationConfiguration(address: .hostname(configuration.host, port: configuration.port)),
    onServerRunning: { channel in
      logger.info("Accepting requests")
      await onListening(channel.localAddress?.port ?? configuration.port)
    },
    logger: logger)
}

/// Puts together the routes and the middleware, without a server.
///
/// - Parameters:
///   - wiring: Makes the objects that a request needs.
///   - debugging: The root context whose tree `/debug/contexts` shows; nil to leave out that page.
/// - Returns: The routes, with the middleware around them.
public func makeRouter(wiring: some Wiring, debugging: UDIContext? = nil) -> Router<NotesRequestContext> {
  let router = Router(context: NotesRequestContext.self, options: .autoGenerateHeadEndpoints)
  // Added before the middleware, so that the page's own requests do not show up among the requests in the tree.
  if let debugging { addDebugRoutes(to: router, root: debugging) }
  router.add(middleware: IdentityMiddleware())
  router.add(middleware: ErrorMiddleware())
  router.add(middleware: RequestScopeMiddleware(wiring: wiring))
  addRoutes(to: router)
  return router
}
