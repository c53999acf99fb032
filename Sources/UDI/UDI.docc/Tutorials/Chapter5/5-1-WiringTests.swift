import Testing
import UDI
import UDITesting

@testable import Shelf

@Suite(.ownAppContext { $0.install(AppModule()) }) struct WiringTests {
  @MainActor @Test func everythingCanBeMade() async throws {
    let accounts = Accounts(in: AppContext)
    try await accounts.logIn("Ann")
    await expectEverythingIsMade()
    try await accounts.logOut()
  }
}
