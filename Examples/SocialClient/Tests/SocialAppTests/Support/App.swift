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
  /// Logs in.
  ///
  /// - Returns: The scope of the session.
  @discardableResult
  func logIn(_ handle: Handle = "ann", password: String = "apple") async throws -> UDIContext {
    try await obtain(SessionManager.self).logIn(handle, password: password)
  }

  /// Who is logged in, the latest last.
  var accounts: [Handle] { linkAll(Session.self).map(\.account.handle) }
}

extension SocialServer.OpenEnds {
  static var none: Self { Self() }
}
