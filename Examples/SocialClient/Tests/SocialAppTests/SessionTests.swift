import Observation
import Testing
import UDI
import UDITesting

@testable import SocialApp

/// What README says about sessions, from log-in to log-out.
@Suite(.ownAppContext) struct SessionTests {
  @Test func nobodySeesASessionBeforeAllOfItHasBeenMade() async throws {
    compose(AppContext)
    let window = try AppContext.openWindow()
    AppContext.provide(
      SessionExtras { scope in
        scope.register(Int.self) { () async in window.linkAll(Session.self).count }
      }, replaces: true)
    let session = try await window.logIn()
    #expect(session.link(Int.self) == 0)
    #expect(window.linkAll(Session.self).map(\.attachedContext) == [session])
  }

  @Test func failedLogInLeavesNothing() async throws {
    let server = compose(AppContext)
    AppContext.provide(
      SessionExtras { scope in
        scope.register(LiveUpdates.self, replaces: true) { () async throws in throw Broken() }
      }, replaces: true)
    let window = try AppContext.openWindow()
    await #expect(throws: RequestError.unauthorized) { try await window.logIn(password: "pear") }
    #expect(window.account == nil && window.children.isEmpty)
    // The server has given a token, but opens no stream.
    await #expect(throws: UDIWarmUpError.self) { try await window.logIn() }
    #expect(window.account == nil && window.children.isEmpty)
    #expect(server.openEnds == .none)
  }

  @Test func eachWindowHasASessionOfItsOwn() async throws {
    let server = compose(AppContext)
    let windows = try (1...3).map { _ in try AppContext.openWindow() }
    let ann = try await windows[0].logIn()
    try await windows[1].logIn("ben", password: "banana")
    let benAgain = try await windows[2].logIn("ben", password: "banana")
    #expect(windows.map(\.account) == ["ann", "ben", "ben"])
    try await benAgain.close()
    #expect(windows.map(\.account) == ["ann", "ben", nil])
    try await ann.close()
    #expect(windows.map(\.account) == [nil, "ben", nil])
    #expect(server.openEnds == SocialServer.OpenEnds(sessions: 1, streams: 1, devices: 1))
    // Closing a window logs out.
    try await windows[1].close()
    #expect(server.openEnds == .none)
  }

  @Test func secondLogInDoesNotTakeThePlaceOfTheFirst() async throws {
    let server = compose(AppContext)
    let window = try AppContext.openWindow()
    let session = try await window.logIn()
    await #expect(throws: AlreadyLoggedIn.self) { try await window.logIn("ben", password: "banana") }
    #expect(window.account == "ann" && window.children == [session])
    try await session.close()

    async let first = window.logIn()
    async let second = window.logIn()
    let scopes = [try? await first, try? await second].compactMap { $0 }
    #expect(scopes.count == 1 && window.children == scopes)
    try await window.close()
    #expect(server.openEnds == .none)
  }

  @Test(.timeLimit(.minutes(10))) @MainActor func observersAreToldWhenASessionComesAndGoes() async throws {
    compose(AppContext)
    let window = try WindowModel.open(in: AppContext)
    // Each is observed alone, because a change of either would end a wait for both.
    func observe() -> (title: Observed<String>, badge: Observed<Int>, home: Observed<Handle?>) {
      (Observed { window.title }, Observed { window.badge.count }, Observed { window.home?.account.handle })
    }

    let before = observe()
    #expect(before.title.value == "Log in" && before.badge.value == 0 && before.home.value == nil)
    await window.logIn.logIn("ann", password: "apple")
    await before.title.change()
    await before.badge.change()
    await before.home.change()

    let unread = Observed { window.badge.count }
    try #require(window.session).notices.insert([Notice(id: 1, kind: .follow, from: "ben", post: nil)])
    await unread.change()

    let during = observe()
    #expect(during.title.value == "@ann" && during.badge.value == 1 && during.home.value == "ann")
    try await window.session?.attachedContext?.close()
    await during.title.change()
    await during.badge.change()
    await during.home.change()
    #expect(window.title == "Log in" && window.badge.count == 0)
  }

  @Test(.timeLimit(.minutes(10)), arguments: [false, true])
  @MainActor func sessionEndsWhenItHasExpired(isInBackground: Bool) async throws {
    let server = compose(AppContext)
    let window = try WindowModel.open(in: AppContext)
    await window.logIn.logIn("ann", password: "apple")
    while window.home == nil { await Task.yield() }
    let title = Observed { window.title }
    server.expireSessions()
    if isInBackground {
      await AppContext.link(BackgroundScheduler.self)?.run()
    } else {
      await #expect(throws: RequestError.unauthorized) { try await window.home?.timeline.refresh() }
    }
    await title.change()
    #expect(window.title == "Log in")
    await window.logIn.logIn("ann", password: "apple")
    #expect(window.logIn.failure == nil && server.openEnds.sessions == 1)
  }

  @Test @MainActor func screenMayOpenDuringALogOut() async throws {
    compose(AppContext)
    let (reached, closer) = AsyncStream.makeStream(of: Void.self)
    let (released, test) = AsyncStream.makeStream(of: Void.self)
    AppContext.provide(
      SessionExtras { scope in
        scope.provide(0).onClose { _ in
          closer.finish()
          for await _ in released {}
        }
      }, replaces: true)
    let window = try AppContext.openWindow()
    let session = try await window.logIn()
    let home = HomeModel().attached(to: session)
    try await home.timeline.refresh()
    home.logOut()
    for await _ in reached {}

    // The session is no longer seen. What it has is there until it has been closed, but nothing new is made.
    #expect(window.account == nil)
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
      SessionExtras { scope in scope.provide(0).onClose { _ in throw Broken() } }, replaces: true)
    let window = try AppContext.openWindow()
    let home = HomeModel().attached(to: try await window.logIn())
    home.logOut()
    home.logOut()
    await home.loggingOut?.value
    #expect(home.failure?.contains("Broken") == true)
    #expect(window.children.isEmpty && server.openEnds == .none)
  }

  /// Something that has been read, and whose reader waits for a change.
  @MainActor private struct Observed<Value> {
    let value: Value
    private let changes: AsyncStream<Void>

    init(_ read: () -> Value) {
      let (changes, observer) = AsyncStream.makeStream(of: Void.self)
      self.changes = changes
      value = withObservationTracking(read) { observer.finish() }
    }

    func change() async { for await _ in changes {} }
  }
}
