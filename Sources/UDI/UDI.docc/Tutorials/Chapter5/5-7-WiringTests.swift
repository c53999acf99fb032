import Testing
import UDI
import UDITesting

@testable import Shelf

@Suite(.ownAppContext { $0.install(AppModule()) }) struct WiringTests {
  @MainActor @Test func everythingCanBeMade() async throws {
    let accounts = Accounts(in: AppContext)
    let scope = try await accounts.logIn("Ann")
    await expectEverythingIsMade()
    try await scope.close()
  }

  @MainActor @Test func screensHaveWhatTheyNeed() async throws {
    let accounts = Accounts(in: AppContext)
    let scope = try await accounts.logIn("Ann")
    expectNeedsAreMet(by: WindowModel.self, ListModel.self, ReaderModel.self, StatusModel.self, in: scope)
    try await scope.close()
  }

  @Test func errorNamesWhatIsMissing() async throws {
    AppContext.install(SessionModule(account: Account(name: "Ann")))
    AppContext.unregister(Outbox.self)
    let error = await #expect(throws: UDILinkError.self) { try await AppContext.obtain(Reminder.self) }
    #expect(error?.description.hasPrefix("No Shelf.Mailer is registered in this tree.") == true)
  }

  @MainActor @Test func explanationSaysThatTheSessionIsClosedToOutsiders() async throws {
    let accounts = Accounts(in: AppContext)
    let scope = try await accounts.logIn("Ann")
    let explanation = AppContext.explain(Library.self).description
    #expect(explanation.contains(#"is in the scope "App / Ann", which is closed to lookups from outside"#))
    try await scope.close()
  }
}
