import Hummingbird
import Logging
import UDI

/// Puts the service together: routes, middleware, and what has to be ended when the server has stopped.
///
/// - Parameters:
///   - configuration: Where to listen.
///   - wiring: Who makes what a request needs.
///   - debugging: The root context whose children `GET /debug/contexts.json` counts; nil for no such route.
///   - logger: The logger that those of requests are made from.
///   - onListening: Called with the port once the server accepts connections.
/// - Returns: A service, to be run.
public func makeApplication(
  _ configuration: NotesConfiguration, wiring: some Wiring, debugging: UDIContext? = nil, logger: Logger,
  onListening: @escaping @Sendable (Int) async -> Void = { _ in }
) -> some ApplicationProtocol {
  let router = Router(context: NotesRequestContext.self, options: .autoGenerateHeadEndpoints)
  // Before the middleware, so that looking at the requests that are under way is none itself.
  if let debugging { addDebugRoutes(to: router, root: debugging) }
  router.add(middleware: IdentityMiddleware())
  router.add(middleware: ErrorMiddleware())
  router.add(middleware: RequestScopeMiddleware(wiring: wiring))
  addRoutes(to: router)
  return Application(
    router: router,
    configuration: ApplicationConfiguration(address: .hostname(configuration.host, port: configuration.port)),
    // Services end in the opposite order to that in which they were started, and the server starts last.
    services: [StoreCloser(store: wiring.store)],
    onServerRunning: { channel in await onListening(channel.localAddress?.port ?? configuration.port) },
    logger: logger)
}
