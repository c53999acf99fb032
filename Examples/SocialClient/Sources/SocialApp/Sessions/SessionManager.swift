import UDI

/// Logs in and out. At most one account is logged in at a time.
actor SessionManager: UDIFinalObject {
  let _attachedContext = UDIAttachment()
  private let signIn: SignIn
  private let extras: SessionExtras
  private let ids: IDSource
  private let log: Log
  private var session: Session?

  init(signIn: SignIn, extras: SessionExtras, ids: IDSource, log: Log) {
    self.signIn = signIn
    self.extras = extras
    self.ids = ids
    self.log = log
  }

  /// Logs in, makes everything that belongs to the session, and only then shows the session to others.
  ///
  /// If anything cannot be made, nobody is logged in, and what has been made is closed again.
  func logIn(_ handle: Handle, password: String) async throws {
    try await logOut()
    let token = try await signIn.logIn(handle, password: password)
    guard let root = attachedContext else { throw CancellationError() }
    let number = ids.next()
    let account = Account(handle: handle)
    let scope = try root.makeScope(tag: "session \(number)")
    scope.install(SessionModule(account: account, token: token, number: number))
    extras.register(scope)
    do {
      try await scope.warmUp()
    } catch {
      try? await scope.close()
      throw error
    }
    let previous = session  // Somebody else may have logged in meanwhile.
    session = Session(of: account, scope: scope).attached(to: root)
    log.write("logged in \(handle)")
    try await previous?.scope.close()
  }

  /// Lets go of the session, so that screens go away, and then closes what belonged to it.
  func logOut() async throws {
    guard let scope = session?.scope else { return }
    session = nil
    defer { log.write("logged out") }
    try await scope.close()
  }
}
