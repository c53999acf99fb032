/// Carries requests to a server, and events back.
protocol Transport: Sendable {
  func send(_ request: Request, token: Token?) async throws -> Reply
  func openStream(_ token: Token, deliver: @escaping @Sendable (Event) -> Void) async throws
  func closeStream(_ token: Token) async
}

/// Reaches a server in the same process.
struct LoopbackTransport: Transport {
  let server: SocialServer

  func send(_ request: Request, token: Token?) async throws -> Reply { try server.answer(request, token: token) }
  func openStream(_ token: Token, deliver: @escaping @Sendable (Event) -> Void) async throws {
    try server.openStream(token, deliver: deliver)
  }
  func closeStream(_ token: Token) async { server.closeStream(token) }
}
