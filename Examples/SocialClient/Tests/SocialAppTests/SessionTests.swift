import Testing
import UDI
import UDITesting

@testable import SocialApp

/// What README says about sessions, from log-in to log-out.
@Suite(.ownAppContext) struct SessionTests {
  @Test func nobodySeesASessionBeforeAllOfItHasBeenMade() async throws {
    compose(AppContext)
    let root = AppContext
    AppContext.provide(
      SessionExtras { scope in
        scope.register(Int.self, lifetime: .context) { () async in root.linkAll(Session.self).count }
      }, replaces: true)
    let session = try await AppContext.logIn()
    #expect(session.link(Int.self) == 0)
    #expect(AppContext.linkAll(Session.self).map(\.attachedContext) == [session])
  }

  @Test func failedLogInLeavesNothing() async throws {
    let server = compose(AppContext)
    AppContext.provide(
      SessionExtras { scope in
        scope.register(LiveUpdates.self, lifetime: .context, replaces: true) { () async throws in throw Broken() }
      }, replaces: true)
    await #expect(throws: RequestError.unauthorized) { try await AppContext.logIn(password: "pear") }
    #expect(AppContext.accounts.isEmpty && AppContext.children.isEmpty)
    // The server has given a token, but opens no stream.
    await #expect(throws: UDIWarmUpError.self) { try await AppContext.logIn() }
    #expect(AppContext.accounts.isEmpty && AppContext.children.isEmpty)
    #expect(server.openEnds == .none)
    try await AppContext.close()
  }

  @Test func secondSessionDoesNotTakeThePlaceOfTheFirst() async throws {
    compose(AppContext)
    let ann = try await AppContext.logIn()
    let ben = try await AppContext.logIn("ben", password: "banana")
    let benAgain = try await AppContext.logIn("ben", password: "banana")
    #expect(AppContext.accounts == ["ann", "ben", "ben"])
    try await benAgain.close()
    #expect(AppContext.accounts == ["ann", "ben"])
    try await ben.close()
    #expect(AppContext.accounts == ["ann"])
    try await ann.close()
    #expect(AppContext.accounts.isEmpty)
  }

  @Test @MainActor func screenMayOpenDuringALogOut() async throws {
    compose(AppContext)
    let (reached, closer) = AsyncStream.makeStream(of: Void.self)
    let (released, test) = AsyncStream.makeStream(of: Void.self)
    AppContext.provide(
      SessionExtras { scope in
        scope.provide(0) { _ in
          closer.finish()
          for await _ in released {}
        }
      }, replaces: true)
    let session = try await AppContext.logIn()
    let home = HomeModel().attached(to: session)
    try await home.timeline.refresh()
    home.logOut()
    for await _ in reached {}

    // The session is no longer seen. What it has is there until it has been closed, but nothing new is made.
    #expect(AppContext.accounts.isEmpty)
    #expect(FeedModel().attached(to: session).lines == home.timeline.lines)
    let error = #expect(throws: UDILinkError.self) { try home.timeline.openAuthor(at: 0) }
    #expect(error?.cause == .contextClosed(fullPath: session.fullPath))
    test.finish()
    await home.loggingOut?.value

    let late = MiniPlayerModel().attached(to: session)
    #expect(late.texts["Log in"] == "Log in")
    let lateError = #expect(throws: UDILinkError.self) { try late.require(Timeline.self) }
    #expect(lateError?.cause == .contextClosed(fullPath: session.fullPath))
  }

  @Test @MainActor func buttonKeepsTheTaskThatLogsOut() async throws {
    let server = compose(AppContext)
    AppContext.provide(
      SessionExtras { scope in scope.provide(0) { _ in throw Broken() } }, replaces: true)
    let home = HomeModel().attached(to: try await AppContext.logIn())
    home.logOut()
    home.logOut()
    await home.loggingOut?.value
    #expect(home.failure?.contains("Broken") == true)
    #expect(AppContext.children.isEmpty && server.openEnds == .none)
  }
}
