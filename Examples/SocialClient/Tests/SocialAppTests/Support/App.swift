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
  /// Makes the context of another window.
  func openWindow() throws -> UDIContext { try makeScope(tag: "window") }

  /// Logs in, in the window whose context this is.
  ///
  /// - Returns: The scope of the session.
  @discardableResult
  func logIn(_ handle: Handle = "ann", password: String = "apple") async throws -> UDIContext {
    try await obtain(SessionManager.self).logIn(handle, password: password, in: self)
  }

  /// Who is logged in, in the window whose context this is.
  var account: Handle? { link(Session.self)?.account.handle }
}

extension SocialServer.OpenEnds {
  static var none: Self { Self() }
}
