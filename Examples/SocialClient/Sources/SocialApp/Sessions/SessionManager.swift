import UDI

/// Logs in. To log out, close the session's scope.
final class SessionManager: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
  private let signIn: SignIn
  private let extras: SessionExtras
  private let ids: IDSource
  private let log: Log

  init(signIn: SignIn, extras: SessionExtras, ids: IDSource, log: Log) {
    self.signIn = signIn
    self.extras = extras
    self.ids = ids
    self.log = log
  }

  /// Logs in, makes everything that belongs to the session, and only then shows the session to others.
  ///
  /// If anything fails, nothing of the session is left: what has been made is closed again.
  ///
  /// - Returns: The scope of the session.
  @discardableResult
  func logIn(_ handle: Handle, password: String) async throws -> UDIContext {
    guard let root = attachedContext else { throw CancellationError() }
    let number = ids.next()
    let scope = try await root.makeScope(tag: "session \(number)") { scope in
      let account = Account(handle: handle)
      let client = try await signIn.logIn(handle, password: password)
      scope.install(SessionModule(account: account, client: client, number: number))
      extras.register(scope)
      try await scope.warmUp()
      // What comes last is closed first. Nobody finds the session while the rest is being closed.
      scope.provide(Session(of: account), onClose: { session in session.attachedContext = nil })
    }
    log.write("logged in \(handle)")
    return scope
  }
}
