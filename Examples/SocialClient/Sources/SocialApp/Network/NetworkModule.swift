import UDI

/// The way to the server.
struct NetworkModule: UDIModule {
  let server: SocialServer

  func register(in context: UDIContext) {
    context.provide(LoopbackTransport(server: server), as: (any Transport).self)
    context.register { Reachability() }
    context.register(using: RetryPolicy.init(configuration:))
    context.register(using: APIClient.init(transport:policy:reachability:metrics:log:))
    context.register(using: PushGateway.init(ids:))
  }
}

/// Stands for the platform's push service: gives each registration of this device a name.
struct PushGateway: Sendable {
  let ids: IDSource
  func register() -> String { "device-\(ids.next())" }
}
