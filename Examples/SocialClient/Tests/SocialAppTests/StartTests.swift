import Synchronization
import Testing
import UDI
import UDITesting

@testable import SocialApp

@MainActor @Suite struct StartTests {
  @Test(.leakAudit) func windowIsThereAtOnceAndTheRestFollows() async throws {
    compose(AppContext)
    let app = try AppModel(root: AppContext)
    // Nothing has been awaited so far.
    #expect(app.window.title == "Log in" && app.status == "loading")
    await app.starting?.value
    #expect(app.status == nil)
  }

  @Test(.leakAudit) func startThatFailsIsRepeated() async throws {
    compose(AppContext)
    let isBroken = Atomic(true)
    AppContext.register(FileCache.self, replaces: true) { () async throws in
      if isBroken.exchange(false, ordering: .relaxed) { throw Broken() }
      return await FileCache.open()
    }
    let app = try AppModel(root: AppContext)
    await app.starting?.value
    #expect(app.status?.contains("Broken") == true && app.window.title == "Log in")
    app.start()
    #expect(app.status == "loading")
    await app.starting?.value
    #expect(app.status == nil)
  }

  @Test(.ownAppContext) func logInWaitsForWhatItNeeds() async throws {
    compose(AppContext)
    let (opens, open) = AsyncStream.makeStream(of: Void.self)
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    AppContext.register(FileCache.self, replaces: true) { () async in
      begins.finish()
      for await _ in opens {}
      return await FileCache.open()
    }
    let app = try AppModel(root: AppContext)
    for await _ in begun {}
    async let loggedIn: Void = app.window.logIn.logIn("ann", password: "apple")
    #expect(app.window.title == "Log in")
    open.finish()
    await loggedIn
    #expect(app.window.title == "@ann")
    await app.starting?.value
  }
}
