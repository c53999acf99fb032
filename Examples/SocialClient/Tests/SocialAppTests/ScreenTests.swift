import Testing
import UDI
import UDITesting

@testable import SocialApp

@MainActor @Suite struct ScreenTests {
  @Test(.ownAppContext, .timeLimit(.minutes(10))) func windowFollowsTheSession() async throws {
    compose(AppContext)
    let window = try WindowModel.open(in: AppContext)
    #expect(window.home == nil)
    await window.logIn.logIn("ann", password: "apple")
    while window.home == nil { await Task.yield() }
    #expect(window.home?.account.handle == "ann")
    // The button is pressed once more.
    await window.logIn.logIn("ann", password: "apple")
    #expect(window.logIn.failure == nil)
    window.home?.logOut()
    while window.home != nil { await Task.yield() }
    await window.logIn.logIn("ben", password: "banana")
    while window.home == nil { await Task.yield() }
    #expect(window.home?.account.handle == "ben")
  }

  @Test(.leakAudit) func barSaysWhatPlays() {
    compose(AppContext)
    expectNeedsAreMet(by: MiniPlayerModel.self)
    let bar = MiniPlayerModel().attached(to: AppContext)
    #expect(bar.title == "Nothing plays")
    withExtendedLifetime(PlayerModel("Rain").attached(to: AppContext)) { #expect(bar.title == "Rain") }
    #expect(bar.title == "Nothing plays")
  }

  @Test(.ownAppContext) func filtersAreAsked() async throws {
    compose(AppContext)
    let session = try await AppContext.openWindow().logIn()
    let feed = FeedModel().attached(to: session)
    try await feed.refresh()
    #expect(feed.lines.count == 2)
    try session.require(Preferences.self).mutedWords = ["Rain"]
    #expect(feed.lines == ["@ben: Good morning #weather"])
    try feed.openAuthor(at: 0).block()
    #expect(feed.lines.isEmpty)
  }

  @Test(.ownAppContext) func draftSurvivesTheScreen() async throws {
    compose(AppContext)
    let session = try await AppContext.openWindow().logIn()
    ComposerModel().attached(to: session).text = "Half a sen"
    let composer = ComposerModel().attached(to: session)
    #expect(composer.text == "Half a sen")
    #expect(await composer.send() == "sent")
    #expect(ComposerModel().attached(to: session).text == "")
  }

  @Test(.leakAudit) func sessionLeavesNothingBehind() async throws {
    compose(AppContext)
    let session = try await AppContext.openWindow().logIn()
    let home = HomeModel().attached(to: session)
    try await home.timeline.refresh()
    let player = PlayerModel("Rain").attached(to: session)
    #expect(player.title == "Rain")
    _ = try home.timeline.openAuthor(at: 0)
  }

  @Test(.ownAppContext) func auditNamesAScreenThatStays() async throws {
    var kept: FeedModel?
    let found = await leaks {
      compose(AppContext)
      kept = (try? await AppContext.logIn()).map { FeedModel().attached(to: $0) }
      try? await AppContext.close()
    }
    #expect(found.map(\.className) == ["FeedModel"])
    withExtendedLifetime(kept) {}
  }
}
