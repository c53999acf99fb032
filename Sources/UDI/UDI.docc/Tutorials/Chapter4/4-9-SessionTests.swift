import Testing
import UDI
import UDITesting

@testable import Shelf

@MainActor @Suite(.ownAppContext { $0.install(AppModule()) }) struct SessionTests {
  @Test(.timeLimit(.minutes(1))) func windowFollowsTheSession() async throws {
    let accounts = Accounts(in: AppContext)
    let window = WindowModel().attached(to: AppContext)
    let following = Task { await window.follow() }

    try await accounts.logIn("Ann")
    await wait { window.list != nil }
    window.list?.add("Trees")
    window.logOut()
    try await window.loggingOut?.value
    await wait { window.list == nil }
    following.cancel()

    let scope = try await accounts.logIn("Ann")
    #expect(try scope.require(Library.self).lines == ["Trees, 0 days"])
    #expect(AppContext.link(Library.self) == nil)
    try await scope.close()
  }

  @Test func secondSessionDoesNotTakeThePlaceOfTheFirst() async throws {
    let accounts = Accounts(in: AppContext)
    let ann = try await accounts.logIn("Ann")
    let ben = try await accounts.logIn("Ben")
    #expect(AppContext.linkAll(Session.self).map(\.account.name) == ["Ann", "Ben"])
    try await ben.close()
    #expect(AppContext.linkAll(Session.self).map(\.account.name) == ["Ann"])
    try await ann.close()
  }

  @Test func failedLogInLeavesNothing() async throws {
    AppContext.unregister(Disk.self)
    await #expect(throws: UDIWarmUpError.self) { try await Accounts(in: AppContext).logIn("Ann") }
    #expect(AppContext.children.isEmpty && AppContext.linkAll(Session.self).isEmpty)
  }
}
