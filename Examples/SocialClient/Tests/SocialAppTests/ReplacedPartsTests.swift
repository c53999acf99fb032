import Testing
import UDI
import UDITesting

@testable import SocialApp

/// What is registered or provided with `replaces: true` replaces what was there.
@Suite(.ownAppContext) struct ReplacedPartsTests {
  @Test func outboxKeepsPostsWhileTheNetworkIsDown() async throws {
    let server = compose(AppContext)
    let transport = RecordingTransport(server)
    AppContext.provide(transport, as: (any Transport).self, replaces: true)
    let session = try await AppContext.openWindow().logIn()

    transport.set(isOnline: false)
    let tried = transport.log.count
    await #expect(throws: RequestError.offline) { try await session.require(Publisher.self).publish("Hello") }
    #expect(transport.log.count == tried + 3)
    #expect(try session.require(Outbox.self).count == 1)
    #expect(try !AppContext.require(Reachability.self).isOnline)

    transport.set(isOnline: true)
    try await AppContext.require(BackgroundScheduler.self).run()
    #expect(try session.require(Outbox.self).count == 0)
    #expect(try session.require(Timeline.self).visible.last?.text == "Hello")
  }

  @Test func clockIsReplacedBeforeTheLogIsMade() throws {
    compose(AppContext)
    AppContext.provide(StoppedClock(), as: (any WallClock).self, replaces: true)
    let log = try AppContext.require(Log.self)
    log.write("Hello")
    #expect(log.latest == ["42 s: Hello"])
  }

  @Test func overrideLastsForAPartOfATest() async throws {
    compose(AppContext)
    let session = try await AppContext.openWindow().logIn()
    let reader = Preferences(database: try session.require())
    reader.mutedWords = ["weather"]
    withOverride(of: Preferences.self, with: Preferences(database: try session.require()), in: session) {
      #expect(session.link(Preferences.self)?.mutedWords == ["weather"])
    }
  }

  @Test func filterIsAddedToTheOthers() async throws {
    compose(AppContext)
    AppContext.provide(
      SessionExtras { $0.provide(NothingFilter(), as: (any TimelineFilter).self, named: "nothing") }, replaces: true)
    let session = try await AppContext.openWindow().logIn()
    try await session.require(SyncEngine.self).sync()
    #expect(try session.require(PostStore.self).all.count == 2)
    #expect(try session.require(Timeline.self).visible.isEmpty)
  }

  @Test func featureThatIsOffIsNotThere() async throws {
    compose(AppContext, configuration: AppConfiguration(flags: []))
    let session = try await AppContext.openWindow().logIn()
    #expect(session.link(Translator.self) == nil)
  }

  @Test func nobodyIsLoggedInIfASessionCannotBeMade() async throws {
    let server = compose(AppContext)
    AppContext.provide(
      SessionExtras { session in
        session.register(PushSubscription.self, replaces: true) { () async throws in throw Broken() }
      }, replaces: true)
    let window = try AppContext.openWindow()
    let error = await #expect(throws: UDIWarmUpError.self) { try await window.logIn() }
    #expect(error?.failures.map { $0.error is Broken } == [true])
    #expect(window.account == nil)
    #expect(window.children.isEmpty)
    #expect(server.openEnds == .none)
  }
}
