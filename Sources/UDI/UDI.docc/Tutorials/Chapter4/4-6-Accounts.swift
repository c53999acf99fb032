import UDI

@MainActor final class Accounts {
  private let root: UDIContext
  private var session: Session?

  init(in root: UDIContext) { self.root = root }

  func logIn(_ name: String) async throws {
    let account = Account(name: name)
    let scope = try root.makeScope(tag: name)
    scope.install(SessionModule(account: account))
    try await scope.warmUp()
    session = Session(of: account, scope: scope).attached(to: root)
  }

  func logOut() async throws {
    let scope = session?.scope
    session = nil
    try await scope?.close()
  }
}
