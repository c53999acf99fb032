import UDI

@MainActor final class Accounts {
  private let root: UDIContext

  init(in root: UDIContext) { self.root = root }

  @discardableResult
  func logIn(_ name: String) async throws -> UDIContext {
    let account = Account(name: name)
    return try await root.makeScope(tag: name) { scope in
      scope.install(SessionModule(account: account))
      try await scope.warmUp()
      scope.provide(Session(of: account))
    }
  }
}
