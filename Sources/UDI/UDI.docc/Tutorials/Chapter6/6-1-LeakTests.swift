import Testing
import UDI
import UDITesting

@testable import Shelf

@MainActor @Suite struct LeakTests {
  @Test(.leakAudit) func sessionLeavesNothingBehind() async throws {
    AppContext.install(AppModule())
    let accounts = Accounts(in: AppContext)
    let scope = try await accounts.logIn("Ann")
    let list = ListModel().attached(to: scope)
    list.open("Trees")
    try await scope.close()
  }
}
