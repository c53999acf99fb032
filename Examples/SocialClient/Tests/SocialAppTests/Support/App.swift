import Testing
import UDI
import UDITesting

@testable import SocialApp

/// Composes the app in a context, and returns its server.
@discardableResult
func compose(_ context: UDIContext, configuration: AppConfiguration = AppConfiguration()) -> SocialServer {
  let server = SocialServer()
  context.install(AppModule(server: server, configuration: configuration))
  return server
}

extension UDIContext {
  func logIn(_ handle: Handle = "ann", password: String = "apple") async throws {
    try await obtain(SessionManager.self).logIn(handle, password: password)
  }

  func logOut() async throws { try await obtain(SessionManager.self).logOut() }

  /// The context of the session.
  func session() throws -> UDIContext { try require(Session.self).scope }
}

extension SocialServer.OpenEnds {
  static var none: Self { Self() }
}
