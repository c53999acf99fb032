import UDI

/// What logs in.
struct SessionsModule: UDIModule {
  func register(in context: UDIContext) {
    context.provide(SessionExtras { _ in })
    context.register(using: SignIn.init(client:vault:accounts:))
    context.register(using: SessionManager.init(signIn:extras:ids:log:))
  }
}

/// What is registered in each session's context after `SessionModule`. The app needs nothing; a test replaces this, and
/// so reaches contexts that do not exist yet.
struct SessionExtras: Sendable { let register: @Sendable (UDIContext) -> Void }
