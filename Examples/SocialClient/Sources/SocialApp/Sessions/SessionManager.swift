import UDI

/// Logs in. To log out, close the session's scope. If the server does not accept the token any more, that happens by
/// itself.
struct SessionManager: Sendable {
  let signIn: SignIn
  let extras: SessionExtras
  let ids: IDSource
  let log: Log

  /// Logs in, makes everything that belongs to the session, and only then shows the session to the rest of its window.
  ///
  /// If anything fails, nothing of the session is left: what has been made is closed again.
  ///
  /// - Parameter window: The context of the window. It has one session at a time.
  /// - Returns: The scope of the session.
  /// - Throws: `AlreadyLoggedIn` if another log-in was faster, for example because the button was pressed twice.
  @MainActor @discardableResult
  func logIn(_ handle: Handle, password: String, in window: UDIContext) async throws -> UDIContext {
    let number = ids.next()
    let scope = try await window.makeScope(tag: "session \(number)") { scope in
      let account = Account(handle: handle)
      var client = try await signIn.logIn(handle, password: password)
      client.expire = { [weak scope, log] in
        // Detached, because something that the closing waits for may have sent the request.
        Task.detached {
          do { try await scope?.close(because: Expired(), within: .seconds(5)) } catch { log.write("\(error)") }
        }
      }
      scope.install(SessionModule(account: account, client: client, number: number))
      extras.register(scope)
      try await scope.warmUp()
      // From here on, nothing waits. So on the main actor, no other log-in comes in between.
      if window.link(Session.self) != nil { throw AlreadyLoggedIn() }
      // What comes last is closed first. Nobody finds the session while the rest is being closed.
      scope.provide(Session(of: account, notices: try scope.require())).onClose { session in
        session.attachedContext = nil
      }
    }
    log.write("logged in \(handle)")
    return scope
  }
}

/// The window has a session already.
struct AlreadyLoggedIn: Error {}

/// Why a session ends: the server does not accept its token any more.
struct Expired: Sendable {}
