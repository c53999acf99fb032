import Hummingbird
import Logging
import UDI

/// Puts the service together: routes, middleware, and what has to be ended when the server has stopped.
///
/// - Parameters:
///   - configuration: Where to listen.
///   - wiring: Who makes what a request needs.
///   - debugging: The root context whose tree `/debug/contexts` shows; nil for no such page.
///   - logger: The logger that those of requests are made from.
///   - onListening: Called with the port once the server accepts connections.
/// - Returns: A service, to be run.
public func makeApplication(
  _ configuration: NotesConfiguration, wiring: some Wiring, debugging: UDIContext? = nil, logger: Logger,
  onListening: @escaping @Sendable (Int) async -> Void = { _ in }
) -> some ApplicationProtocol {
  Application(
    router: makeRouter(wiring: wiring, debugging: debugging),
    configuration: ApplicationConfiguration(address: .hostname(configuration.host, port: configuration.port)),
    // Services end in the opposite order to that in which they were started, and the server starts last.
    services: [StoreCloser(store: wiring.store)],
    onServerRunning: { channel in await onListening(channel.localAddress?.port ?? configuration.port) },
    logger: logger)
}

/// Puts together what answers a request, without a server.
///
/// - Parameters:
///   - wiring: Who makes what a request needs.
///   - debugging: The root context whose tree `/debug/contexts` shows; nil for no such page.
/// - Returns: The routes, with the middleware around them.
public func makeRouter(wiring: some Wiring, debugging: UDIContext? = nil) -> Router<NotesRequestContext> {
  let router = Router(context: NotesRequestContext.self, options: .autoGenerateHeadEndpoints)
  // Before the middleware, so that looking at the requests that are under way is none itself.
  if let debugging { addDebugRoutes(to: router, root: debugging) }
  router.add(middleware: IdentityMiddleware())
  router.add(middleware: ErrorMiddleware())
  router.add(middleware: RequestScopeMiddleware(wiring: wiring))
  addRoutes(to: router)
  return router
}
