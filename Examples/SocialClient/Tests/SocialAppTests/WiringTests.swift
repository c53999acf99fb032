import Testing
import UDI
import UDIInspector
import UDITesting

@testable import SocialApp

@Suite(.ownAppContext) struct WiringTests {
  @Test func everythingCanBeMade() async throws {
    compose(AppContext)
    await expectEverythingIsMade()
    try await AppContext.openWindow().logIn()
    await expectEverythingIsMade()
  }

  @Test func screensHaveWhatTheyNeed() async throws {
    compose(AppContext)
    expectNeedsAreMet(by: WindowModel.self, LogInModel.self, BadgeModel.self)
    let session = try await AppContext.openWindow().logIn()
    expectNeedsAreMet(
      by: HomeModel.self, FeedModel.self, ConversationModel.self, ProfileModel.self, NoticesModel.self,
      SearchModel.self, ComposerModel.self, PlayerModel.self, MiniPlayerModel.self, in: session)
  }

  @Test func graphHasMoreThanFortyServices() async throws {
    compose(AppContext)
    try await AppContext.warmUp()
    try await AppContext.openWindow().logIn()
    let entries = AppContext.snapshot().contexts.flatMap(\.entries)
    #expect(entries.count { $0.kind == .kept } > 40)
  }

  @Test func logOutClosesThingsInOrder() async throws {
    let server = compose(AppContext)
    let transport = RecordingTransport(server)
    AppContext.provide(transport, as: (any Transport).self, replaces: true)
    let session = try await AppContext.openWindow().logIn()
    let beginning = transport.log.count
    try await session.close()
    #expect(transport.log[beginning...] == ["closeStream", "removeDevice", "logOut"])
    #expect(server.openEnds == .none)
    #expect(try AppContext.require(BackgroundScheduler.self).count == 0)
  }

  @Test func oneErrorNamesEverythingThatIsMissing() async throws {
    compose(AppContext)
    AppContext.unregister(RetryPolicy.self)
    let error = await #expect(throws: UDIWarmUpError.self) { try await AppContext.warmUp() }
    let failed = Set(error?.failures.map(\.typeName) ?? [])
    #expect(failed == ["SocialApp.APIClient", "SocialApp.SignIn", "SocialApp.SessionManager"])
    #expect(error?.description.contains("No SocialApp.RetryPolicy is registered in this tree.") == true)
  }

  @Test func nobodyOutsideSeesIntoASession() async throws {
    compose(AppContext)
    let window = try AppContext.openWindow()
    let session = try await window.logIn()
    #expect(window.link(Timeline.self) == nil)
    #expect(AppContext.link(Session.self) == nil)
    #expect(session.link(Timeline.self) != nil)
    #expect(try session.require(Account.self).handle == "ann")
  }
}
