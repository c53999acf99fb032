import Observation
import Synchronization
import Testing
import UDI
import UDITesting

// The code in the article "Recipes: apps": `.ci/articles` compares it with the article.

enum AppRecipes {
  nonisolated struct Offline: Error {}

  nonisolated struct Settings: Sendable { let theme = "dark" }
  nonisolated protocol Store: Sendable { var notes: [String] { get } }
  nonisolated struct DiskStore: Store {
    let notes = ["Tea", "Milk"]
    static func open() async throws -> DiskStore { DiskStore() }
  }
  nonisolated struct MemoryStore: Store { let notes: [String] }

  nonisolated protocol Session: AnyObject, Sendable { var user: String { get } }
  nonisolated final class FakeSession: Session {
    let user: String
    init(user: String) { self.user = user }
  }
  nonisolated final class LiveSession: UDIObject, Session {
    let _attachedContext = UDIAttachment()
    let user: String
    init(user: String) { self.user = user }
    func didAttachContext() {
      guard let scope = attachedContext, let home = scope.parent else { return }
      multiBind(self, as: (any Session).self, named: UDIName(scope.tag), in: [home])
    }
  }
  nonisolated final class Timeline: Sendable {
    static func load() async throws -> Timeline { Timeline() }
  }
  nonisolated final class Token: Sendable {
    let isRevoked = Atomic(false)
    func revoke() { isRevoked.store(true, ordering: .relaxed) }
  }
  nonisolated enum LogOut { case byUser, unauthorized }
  nonisolated struct Unauthorized: Error {}
  nonisolated struct Sync: Sendable {
    static let (answers, server) = AsyncStream.makeStream(of: Int.self)
    func run() async throws { for await answer in Self.answers where answer == 401 { throw Unauthorized() } }
  }
  nonisolated final class TitleBar: UDIFinalObject, Sendable {
    let _attachedContext = UDIAttachment()
  }
  nonisolated final class Inbox: Sendable {}
  nonisolated final class Members: Sendable {}
  nonisolated final class Reply: Sendable {
    let members: Members
    init(to members: Members) { self.members = members }
  }
  nonisolated protocol Uplink: Sendable { func upload() async throws }
  nonisolated struct NamedUplink: Uplink {
    let name: String
    let names: AsyncStream<String>.Continuation
    func upload() async throws {
      names.yield(name)
      try await Task.sleep(for: .seconds(3600))
    }
  }
  nonisolated final class Uploader: UDIFinalObject, Sendable {
    let _attachedContext = UDIAttachment()
    func run() async throws {
      try await whileAvailable((any Uplink).self) { uplink in try await uplink.upload() }
    }
  }

  /// Something that has been read, and whose reader waits for a change.
  @MainActor struct Observed<Value> {
    let value: Value
    private let changes: AsyncStream<Void>

    init(_ read: () -> Value) {
      let (changes, observer) = AsyncStream.makeStream(of: Void.self)
      self.changes = changes
      value = withObservationTracking(read) { observer.finish() }
    }

    func change() async { for await _ in changes {} }
  }

  @MainActor @Observable final class NotesScreen: @MainActor UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @ObservationIgnored @Required var store: any Store
    @ObservationIgnored @Followed var session: (any Session)?
    var title: String { session.map { "\($0.user): \(store.notes.count) notes" } ?? "Log in" }
  }

  @MainActor @Observable final class EditorScreen: @MainActor UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @ObservationIgnored @Required var store: any Store
    @ObservationIgnored @Required var session: any Session
    @ObservationIgnored @Required var settings: Settings
    @ObservationIgnored @Required var timeline: Timeline
    @ObservationIgnored @Required var token: Token
    @ObservationIgnored @Required var inbox: Inbox
    @ObservationIgnored @Required var uplink: any Uplink
    var count: Int { store.notes.count }
  }

  // MARK: - The start

  @MainActor @Suite(.timeLimit(.minutes(10))) struct AppStart {
    @MainActor @Observable final class FirstScreen: @MainActor UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @ObservationIgnored @Required var settings: Settings
      private(set) var notes: NotesScreen?
      private(set) var failure: (any Error)?
      private(set) var starting: Task<Void, Never>?

      func start() {
        failure = nil
        starting = Task {
          do {
            try await AppContext.warmUp()
            notes = NotesScreen().attached(to: self)
          } catch { failure = error }
        }
      }
    }

    @Test(.leakAudit) func theFirstScreenIsThereAtOnceAndTheRestFollows() async {
      AppContext.register { Settings() }
      AppContext.register((any Store).self) { try await DiskStore.open() }
      let screen = FirstScreen().attached(to: AppContext)
      screen.start()
      // Nothing has been awaited so far.
      #expect(screen.settings.theme == "dark")
      let before = Observed { screen.notes == nil }
      #expect(before.value)
      await screen.starting?.value
      #expect(screen.notes?.store.notes == ["Tea", "Milk"] && screen.failure == nil)
      await before.change()
    }

    @Test(.leakAudit) func aStartThatFailsIsRepeated() async throws {
      let calls = Atomic(0)
      AppContext.register { Settings() }
      AppContext.register(Timeline.self) { try await Timeline.load() }
      AppContext.register((any Store).self) { () async throws -> any Store in
        if calls.add(1, ordering: .relaxed).newValue == 1 { throw Offline() }
        return DiskStore()
      }
      let screen = FirstScreen().attached(to: AppContext)
      screen.start()
      await screen.starting?.value
      let error = try #require(screen.failure as? UDIWarmUpError)
      #expect(error.failures.map { $0.error is Offline } == [true] && screen.notes == nil)
      let timeline = AppContext.link(Timeline.self)
      #expect(timeline != nil)
      screen.start()
      #expect(screen.failure == nil)
      await screen.starting?.value
      #expect(screen.failure == nil && screen.notes?.store.notes == ["Tea", "Milk"])
      #expect(AppContext.link(Timeline.self) === timeline)
    }
  }

  // MARK: - A screen

  @MainActor @Suite(.timeLimit(.minutes(10))) struct AScreen {
    @Test(.leakAudit) @MainActor func titleFollowsTheSession() {
      AppContext.provide(MemoryStore(notes: ["Tea", "Milk"]), as: (any Store).self)
      expectNeedsAreMet(by: NotesScreen.self)
      let screen = NotesScreen().attached(to: AppContext)
      #expect(screen.title == "Log in")
      let session = FakeSession(user: "Ann")
      AppContext.bind(session, as: (any Session).self)
      #expect(screen.title == "Ann: 2 notes")
      AppContext.unbind((any Session).self)
      #expect(screen.title == "Log in")
    }

    @Test(.leakAudit) func oneFakeIsEnoughWithoutAttaching() {
      let screen = EditorScreen()
      screen.store = MemoryStore(notes: ["Tea"])
      #expect(screen.count == 1)
    }

    @Test(.leakAudit) func aViewIsTold() async {
      AppContext.provide(MemoryStore(notes: ["Tea", "Milk"]), as: (any Store).self)
      let screen = NotesScreen().attached(to: AppContext)
      let (before, session) = (Observed { screen.title }, FakeSession(user: "Ann"))
      AppContext.bind(session, as: (any Session).self)
      await before.change()
      let during = Observed { screen.title }
      #expect(during.value == "Ann: 2 notes")
      AppContext.unbind((any Session).self)
      await during.change()
    }
  }

  // MARK: - A session

  @Suite(.timeLimit(.minutes(10))) struct ASession {
    private let home = UDIContext(tag: "App")

    private func logIn() async throws -> UDIContext {
      let scope = try await home.makeScope(tag: "session") { scope in
        scope.register(Timeline.self) { try await Timeline.load() }
        try await scope.warmUp()
        let session = LiveSession(user: "Ann")
        scope.provide(session, as: (any Session).self).onClose { _ in session.attachedContext = nil }
      }
      return scope
    }

    @Test func itIsFollowedFromOutside() async throws {
      let screen = TitleBar().attached(to: try home.makeChild(tag: "screen"))
      let (titles, continuation) = AsyncStream.makeStream(of: String.self)
      let show: @Sendable (String) -> Void = { continuation.yield($0) }
      let following = Task {
        for await sessions in screen.updates(ofAll: (any Session).self) {
          show(sessions.isEmpty ? "Log in" : "Log out")
        }
      }
      var shown = titles.makeAsyncIterator()
      #expect(await shown.next() == "Log in")
      let scope = try await logIn()
      while await shown.next() != "Log out" {}
      #expect(scope.link(Timeline.self) != nil)
      try await scope.close(because: LogOut.byUser)
      #expect(home.linkAll((any Session).self).isEmpty)
      while await shown.next() != "Log in" {}
      following.cancel()
      await following.value
    }

    @Test(arguments: [false, true]) func aLogInThatFailsLeavesNothing(isCancelled: Bool) async throws {
      let home = home
      let closed = Mutex(0)
      let (reached, reaches) = AsyncStream.makeStream(of: Void.self)
      let (never, _) = AsyncStream.makeStream(of: Void.self)
      let attempt = Task {
        try await home.makeScope(tag: "session") { scope in
          scope.provide(Token()).onClose { _ in closed.withLock { $0 += 1 } }
          scope.provide(LiveSession(user: "Ann"), as: (any Session).self)
          scope.register(Timeline.self) { () async throws -> Timeline in
            reaches.finish()
            if isCancelled { for await _ in never {} }
            throw Offline()
          }
          try await scope.warmUp()
        }
      }
      for await _ in reached {}
      if isCancelled {
        attempt.cancel()
        await #expect(throws: CancellationError.self) { try await attempt.value }
      } else {
        let error = await #expect(throws: UDIWarmUpError.self) { try await attempt.value }
        #expect(error?.failures.first?.error is Offline)
      }
      #expect(home.children.isEmpty && home.linkAll((any Session).self).isEmpty)
      #expect(closed.withLock { $0 } == 1)
      // The tag is free.
      let scope = try await logIn()
      #expect(scope.tag == "session")
      try await scope.close()
    }

    @Test func noSessionBeginsIfTheAppIsClosedMeanwhile() async throws {
      let home = home
      await #expect(throws: (any Error).self) {
        try await home.makeScope(tag: "session") { scope in try await home.close() }
      }
    }

    @Test func twoAreThereAtOnce() async throws {
      let scope = try await logIn()
      let other = try await home.makeScope(tag: "session") { scope in
        scope.provide(LiveSession(user: "Bob"), as: (any Session).self)
      }
      #expect(scope.tag == "session" && other.tag != "session")
      #expect(Set(home.linkAll((any Session).self).map(\.user)) == ["Ann", "Bob"])
      try await other.close()
      #expect(home.linkAll((any Session).self).map(\.user) == ["Ann"])
      try await scope.close()
    }

    @Test func roomsAndThreads() throws {
      home.register(Inbox.self, lifetime: .scope("session")) { Inbox() }
      home.register(Members.self, lifetime: .scope("room")) { Members() }
      home.register(Reply.self, lifetime: .scope("thread")) { context in
        Reply(to: try context.require(Members.self))
      }
      let session = try home.makeScope(tag: "session")
      let room = try session.makeScope(tag: "42", kind: "room")
      let thread = try room.makeScope(tag: "7", kind: "thread")
      let reply = try thread.require(Reply.self)
      #expect(reply.members === room.link(Members.self) && reply === thread.link(Reply.self))
      #expect(session.link(Inbox.self) === thread.link(Inbox.self))
      #expect(throws: UDILinkError.self) { try session.require(Members.self) }
      #expect(throws: UDILinkError.self) { try room.require(Reply.self) }
    }

    @Test func aServiceFollowsWhatIsReplaced() async throws {
      let (names, continuation) = AsyncStream.makeStream(of: String.self)
      var used = names.makeAsyncIterator()
      let scope = try home.makeScope(tag: "session")
      scope.provide(Uploader()).running { try await $0.run() }
      home.provide(NamedUplink(name: "cable", names: continuation), as: (any Uplink).self)
      #expect(await used.next() == "cable")
      home.provide(NamedUplink(name: "radio", names: continuation), as: (any Uplink).self, replaces: true)
      #expect(await used.next() == "radio")
      try await scope.close()
    }

    @Test func itIsClosedFirst() async throws {
      let home = home
      let seen = Mutex<[Bool]>([])
      let scope = try await home.makeScope(tag: "session") { scope in
        scope.provide(1).onClose { _ in seen.withLock { $0.append(home.linkAll((any Session).self).isEmpty) } }
        let session = LiveSession(user: "Ann")
        scope.provide(session, as: (any Session).self).onClose { _ in session.attachedContext = nil }
      }
      try await scope.close()
      #expect(seen.withLock { $0 } == [true])
    }

    @Test func aLogOutRevokesTheToken() async throws {
      for isLogOut in [false, true] {
        let scope = try home.makeScope(tag: "session")
        let token = obtainToken(in: scope)
        if isLogOut { try await scope.close(because: LogOut.byUser) } else { try await scope.close() }
        #expect(token.isRevoked.load(ordering: .relaxed) == isLogOut)
      }
    }

    @Test(arguments: [Offline() as any Error, CancellationError()])
    func aLogInThatFailsHalfWayRevokesTheToken(_ error: any Error) async throws {
      var token: Token?
      _ = try? await home.makeScope(tag: "session") { scope in
        token = obtainToken(in: scope)
        throw error
      }
      #expect(token?.isRevoked.load(ordering: .relaxed) == true)
    }

    private func obtainToken(in scope: UDIContext) -> Token {
      scope.provide(Token()).onClose { token in
        switch UDIEnding.current {
        case .closed(because: is LogOut), .failed, .cancelled: token.revoke()
        default: break
        }
      }
      return scope.link(Token.self)!
    }

    @MainActor @Observable final class SessionScreen: @MainActor UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @ObservationIgnored @Required var store: any Store
      @ObservationIgnored @Required var required: Token
      @ObservationIgnored @Linked var linked: Token?
      @ObservationIgnored @Followed var followed: Token?
    }
    @MainActor final class LateScreen: @MainActor UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var store: any Store
      @Followed var followed: Token?
    }

    /// The table of what screens see.
    @Test @MainActor func aScreenIsOpenDuringALogOutAndAnotherOpens() async throws {
      let (reached, closer) = AsyncStream.makeStream(of: Void.self)
      let (released, test) = AsyncStream.makeStream(of: Void.self)
      home.provide(MemoryStore(notes: ["Tea", "Milk"]), as: (any Store).self)
      let scope = try await logIn()
      scope.provide(Token())
      scope.provide(1).onClose { _ in
        closer.finish()
        for await _ in released {}
      }
      scope.register(Settings.self) { Settings() }
      let token = try scope.require(Token.self)
      let screen = SessionScreen().attached(to: scope)
      #expect(screen.linked === token && screen.followed === token)
      let followed = Observed { screen.followed != nil }

      let account = ClosingFromAButton.Account(scope: scope)
      account.logOut()
      for await _ in reached {}
      // What has not been closed is found, but nothing is made.
      #expect(screen.followed === token)
      let late = LateScreen().attached(to: scope)
      let during = Observed { late.followed != nil }
      #expect(during.value && late.store.notes == ["Tea", "Milk"])
      let error = #expect(throws: UDILinkError.self) { try screen.require(Settings.self) }
      #expect(error?.cause == .contextClosed(fullPath: ["App", "session"]))
      test.finish()
      await account.loggingOut?.value

      #expect(account.failure == nil)
      await followed.change()
      await during.change()
      #expect(screen.followed == nil && late.followed == nil && late.store.notes == ["Tea", "Milk"])
      #expect(screen.required === token && screen.linked === token)
      let lateError = #expect(throws: UDILinkError.self) { try late.require(Token.self) }
      #expect(lateError?.cause == .contextClosed(fullPath: ["session"]))
      #expect(LateScreen().attached(to: scope).followed == nil)
    }
  }

  // MARK: - Closing from a button

  @MainActor @Suite(.timeLimit(.minutes(10))) struct ClosingFromAButton {
    private let context = UDIContext(tag: "App")

    @MainActor @Observable final class Account {
      let scope: UDIContext
      private(set) var loggingOut: Task<Void, Never>?
      private(set) var failure: (any Error)?
      init(scope: UDIContext) { self.scope = scope }

      func logOut(because reason: LogOut = .byUser) {
        loggingOut = loggingOut ?? Task.detached { await self.close(because: reason) }
      }

      private func close(because reason: LogOut) async {
        do { try await scope.close(because: reason, within: .seconds(5)) } catch { failure = error }
      }
    }

    @Test(arguments: [nil, LogOut.byUser, LogOut.unauthorized]) func theReasonIsKnown(_ reason: LogOut?) async throws {
      let scope = try context.makeScope(tag: "session")
      let seen = Mutex<[String]>([])
      scope.provide(1).onClose { _ in
        switch UDIEnding.current {
        case .closed(because: let reason) where reason as? LogOut == .byUser: seen.withLock { $0.append("user") }
        case .closed(because: is LogOut): seen.withLock { $0.append("other") }
        case .closed(because: nil): seen.withLock { $0.append("none") }
        default: break
        }
      }
      // What is closed above gives its reason.
      try await context.close(because: reason)
      let expected = reason.map { $0 == .byUser ? "user" : "other" } ?? "none"
      #expect(seen.withLock { $0 } == [expected])
    }

    @Test func aServiceMayLogOut() async throws {
      let scope = try context.makeScope(tag: "session")
      let account = Account(scope: scope)
      scope.provide("a").onClose { _ in throw Offline() }
      scope.provide(Sync()).running(mayEnd: true) { @MainActor sync in
        do { try await sync.run() } catch is Unauthorized { account.logOut(because: .unauthorized) }
      }
      Sync.server.yield(401)
      while account.loggingOut == nil { await Task.yield() }
      await account.loggingOut?.value
      #expect(context.children.isEmpty)
      #expect((account.failure as? UDICloseError)?.failures.map { $0.error is Offline } == [true])
    }

    @Test(arguments: [false, true]) func aPlainTaskOfAServiceDoesNotWait(closesAbove: Bool) async throws {
      let context = context
      let scope = try context.makeScope(tag: "session")
      let (begins, began) = AsyncStream.makeStream(of: Void.self)
      let (released, release) = AsyncStream.makeStream(of: Void.self)
      scope.provide("a").onClose { _ in for await _ in released {} }
      scope.provide(1).running(mayEnd: true) { _ in
        await Task { try? await (closesAbove ? context : scope).close() }.value
        began.finish()
      }
      for await _ in begins {}
      #expect(context.children == [scope])
      release.finish()
      try await scope.close()
    }

    @Test func theModelKeepsTheTask() async throws {
      let scope = try context.makeScope(tag: "session")
      let closed = Mutex(0)
      scope.provide("a").onClose { _ in closed.withLock { $0 += 1 } }
      scope.provide(1).onClose { _ in throw Offline() }
      let account = Account(scope: scope)
      account.logOut()
      let first = account.loggingOut
      account.logOut()
      #expect(account.loggingOut == first)
      await account.loggingOut?.value
      #expect((account.failure as? UDICloseError)?.failures.map { $0.error is Offline } == [true])
      #expect(closed.withLock { $0 } == 1 && context.children.isEmpty)
    }

    @Test func closingGoesOnIfTheTaskIsCancelled() async throws {
      let scope = try context.makeScope(tag: "session")
      let closed = Mutex(0)
      scope.provide(1).onClose { _ in closed.withLock { $0 += 1 } }
      let account = Account(scope: scope)
      account.logOut()
      account.loggingOut?.cancel()
      await account.loggingOut?.value
      #expect(account.failure == nil && closed.withLock { $0 } == 1 && context.children.isEmpty)
    }

    @Test func anErrorThatIsDroppedIsToldToNobody() async throws {
      let told = Mutex(0)
      let scope = try context.makeScope(tag: "session")
      scope.provide(1).onClose { _ in throw Offline() }
      await withReporter(UDIReporter { _ in told.withLock { $0 += 1 } }) {
        await Task { try? await scope.close() }.value
      }
      #expect(told.withLock { $0 } == 0 && context.children.isEmpty)
    }
  }

  // MARK: - Windows

  final class BrowserWindow {
    let scope: UDIContext
    init(number: Int) throws { scope = try AppContext.makeScope(tag: "window \(number)") }
    deinit { scope.removeFromParent() }
  }

  final class CallWindow {
    let scope: UDIContext
    init() throws { scope = try AppContext.makeScope(tag: "call") }
    deinit {
      let scope = scope
      Task { try? await scope.close() }
    }
  }

  struct Windows {
    @Test(.ownAppContext, .timeLimit(.minutes(10))) func aWindowWithSomethingToClose() async throws {
      var window: CallWindow? = try CallWindow()
      let (closed, close) = AsyncStream.makeStream(of: Void.self)
      window?.scope.provide(1).onClose { _ in close.finish() }
      window = nil
      for await _ in closed {}
      while !AppContext.children.isEmpty { await Task.yield() }
      #expect(AppContext.find("call") == nil)
    }

    @Test(.ownAppContext) func windowsAndTabs() throws {
      var window: BrowserWindow? = try BrowserWindow(number: 1)
      if let window {
        let tab = try window.scope.makeChild(tag: "tab 1")
        let other = try window.scope.makeChild(tag: "tab 2")
        tab.provide(Settings())
        #expect(window.scope.link(Settings.self) != nil && other.link(Settings.self) == nil)
        #expect(AppContext.link(Settings.self) == nil)
        let closed = try window.scope.makeScope(tag: "tab 3")
        closed.provide(Token())
        #expect(window.scope.link(Token.self) == nil)
      }
      window = nil
      #expect(AppContext.children.isEmpty)
    }
  }
}
