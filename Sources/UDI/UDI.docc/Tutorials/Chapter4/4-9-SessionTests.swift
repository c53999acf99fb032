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
    try await accounts.logOut()
    await wait { window.list == nil }
    following.cancel()

    try await accounts.logIn("Ann")
    let scope = try AppContext.require(Session.self).scope
    #expect(try scope.require(Library.self).lines == ["Trees, 0 days"])
    #expect(AppContext.link(Library.self) == nil)
    try await accounts.logOut()
  }
}
