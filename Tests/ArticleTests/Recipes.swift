import Synchronization
import Testing
import UDI
import UDIInspector
import UDITesting

// The code in "Recipes": `.ci/articles` compares it with the article.

nonisolated private protocol MusicPlayer: AnyObject, Sendable {}
nonisolated private final class VendorPlayer: Sendable {}
extension VendorPlayer: MusicPlayer {}

nonisolated private protocol Log: Sendable { func add(_ line: String) }
nonisolated private struct NoLog: Log { func add(_ line: String) {} }

nonisolated private final class Mailer: Sendable {
  let log: any Log
  init(log: any Log) { self.log = log }
}

nonisolated private final class Courier: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
  var log: (any Log)? { linkInLine((any Log).self) }
}

nonisolated private protocol Checker: Sendable { func faults(in text: String) -> [String] }
nonisolated private struct Spelling: Checker { func faults(in text: String) -> [String] { ["a misspelt word"] } }
nonisolated private struct Grammar: Checker { func faults(in text: String) -> [String] { ["a missing verb"] } }

nonisolated private final class Thesaurus: UDIObject, Checker {
  let _attachedContext = UDIAttachment()
  func didAttachContext() { bind(self, as: (any Checker).self, named: "thesaurus") }
  func faults(in text: String) -> [String] { ["a better word"] }
}

nonisolated private struct User: Sendable { let name: String }
nonisolated private final class Transaction: Sendable {
  static let ended = Mutex<[String]>([])
  let user: User
  init(user: User) { self.user = user }
  func end() { Self.ended.withLock { $0.append(user.name) } }
}
nonisolated private final class Handler: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
  func answer() throws -> String { "Hello, \(try require(Transaction.self).user.name)" }
}

private final class BrowserWindow {
  let scope: UDIContext
  init(number: Int) throws { scope = try AppContext.makeScope(tag: "window \(number)") }
  deinit { scope.removeFromParent() }
}

nonisolated private protocol Session: AnyObject, Sendable { var user: String { get } }
nonisolated private final class LiveSession: UDIObject, Session {
  let _attachedContext = UDIAttachment()
  let user: String
  init(user: String) { self.user = user }
  func didAttachContext() {
    guard let scope = attachedContext, let home = scope.parent else { return }
    multiBind(self, as: (any Session).self, named: UDIName(scope.tag), in: [home])
  }
}
nonisolated private final class Timeline: Sendable {
  static func load() async throws -> Timeline { Timeline() }
}
nonisolated private struct LogOut: Sendable {}
nonisolated private struct Offline: Error {}
nonisolated private final class TitleBar: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
}

nonisolated private protocol Store: Sendable { var notes: [String] { get } }
nonisolated private struct DiskStore: Store { var notes: [String] { ["on disk"] } }
nonisolated private struct MemoryStore: Store { let notes: [String] }
nonisolated private final class CountingStore: Store {
  let base: any Store
  let reads = Mutex(0)
  init(base: any Store) { self.base = base }
  var notes: [String] {
    reads.withLock { $0 += 1 }
    return base.notes
  }
}

nonisolated private struct Services: UDIModule, Sendable {
  enum Mode { case live, preview }
  let mode: Mode
  func register(in context: UDIContext) {
    switch mode {
    case .live: context.register((any Store).self, lifetime: .context) { DiskStore() }
    case .preview: context.register((any Store).self, lifetime: .context) { MemoryStore(notes: ["A note"]) }
    }
  }
}

nonisolated private struct Flags: Sendable { var storesOnDisk: Bool }

nonisolated private final class Reminder: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
  func remind() async throws -> String {
    try await require((any Clock<Duration>).self).sleep(for: .seconds(3600))
    return "An hour has passed."
  }
}

nonisolated private struct ImpatientClock: Clock {
  var now: ContinuousClock.Instant { ContinuousClock.now }
  var minimumResolution: Duration { .zero }
  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}

nonisolated private protocol Printer: Sendable {}
nonisolated private struct Laser: Printer {}
nonisolated private final class Editor: Sendable {
  let printer: @Sendable () -> (any Printer)?
  init(printer: @escaping @Sendable () -> (any Printer)?) { self.printer = printer }
}

nonisolated extension UDILifetime {
  static let login = UDILifetime("login")
}
nonisolated private final class Token: Sendable {
  let isRevoked = Atomic(false)
  func revoke() { isRevoked.store(true, ordering: .relaxed) }
}

@MainActor private final class Document {
  var undo: UndoStack?
}
@MainActor private final class UndoStack {
  weak var document: Document?
}

struct Recipes {
  let context = UDIContext(tag: "App")

  @Test func anObjectThatIsNotYours() {
    withExtendedLifetime(VendorPlayer()) { player in
      context.provide(VendorPlayer(), as: (any MusicPlayer).self)
      context.bind(player, as: (any MusicPlayer).self, named: "borrowed")
      #expect(context.link((any MusicPlayer).self) != nil && context.link((any MusicPlayer).self) !== player)
      #expect(context.link((any MusicPlayer).self, named: "borrowed") === player)
    }
    #expect(context.link((any MusicPlayer).self) != nil)
    #expect(context.link((any MusicPlayer).self, named: "borrowed") == nil)
  }

  @Test func unbindTellsAConsumerOfTheEnd() async {
    let player = VendorPlayer()
    context.bind(player, as: (any MusicPlayer).self)
    var found: [Bool] = []
    for await player in context.updates(of: (any MusicPlayer).self).prefix(2) {
      found.append(player != nil)
      context.unbind((any MusicPlayer).self)
    }
    #expect(found == [true, false])
    withExtendedLifetime(player) {}
  }

  #if hasFeature(InferSendableFromCaptures)
    @Test func aSendableService() throws {
      context.register(lifetime: .context, using: Mailer.init(log:))
      #expect(throws: UDILinkError.self) { try context.require(Mailer.self) }
      context.provide(NoLog(), as: (any Log).self)
      #expect(try context.require(Mailer.self).log is NoLog)
    }
  #endif

  @Test func aSendableObject() {
    let courier = Courier().attached(to: context)
    #expect(courier.log == nil)
    context.provide(NoLog(), as: (any Log).self)
    #expect(courier.log is NoLog)
  }

  @Test func plugIns() {
    let text = "A text"
    context.provide(Spelling(), as: (any Checker).self, named: "spelling")
    context.provide(Grammar(), as: (any Checker).self, named: "grammar")
    let faults = context.linkAll((any Checker).self).flatMap { $0.faults(in: text) }
    #expect(faults == ["a misspelt word", "a missing verb"])
  }

  @Test func plugInsThatComeAndGo() async {
    let context = context
    context.provide(Spelling(), as: (any Checker).self)
    let (menus, continuation) = AsyncStream.makeStream(of: [String].self)
    let show: @Sendable ([String]) -> Void = { continuation.yield($0) }
    let following = Task {
      for await checkers in context.updates(ofAll: (any Checker).self) {
        show(checkers.map { "\($0.name ?? "unnamed")" })
      }
    }
    var shown = menus.makeAsyncIterator()
    #expect(await shown.next() == ["unnamed"])
    var thesaurus: Thesaurus? = Thesaurus().attached(to: context)
    #expect(await shown.next() == ["unnamed", "thesaurus"])
    #expect(thesaurus?.faults(in: "A text") == ["a better word"])
    thesaurus = nil
    #expect(await shown.next() == ["unnamed"])
    following.cancel()
    await following.value
  }

  #if hasFeature(InferSendableFromCaptures)
    @Test func requests() async throws {
      let server = UDIContext(tag: "Server")
      server.register(lifetime: .scope, using: Transaction.init(user:), onClose: { $0.end() })
      func check() throws {
        let sample = try server.makeScope(tag: "sample")
        sample.provide(User(name: "sample"))
        let unmet = server.unmetNeeds()
        server.removeChild(sample)
        guard unmet.failures.isEmpty else { throw unmet }
      }
      try check()
      #expect(throws: UDIUnmetNeeds.self) {
        guard server.unmetNeeds().failures.isEmpty else { throw server.unmetNeeds() }
      }
      func handle(_ request: UDIContext) async throws -> String {
        #expect(server.link(User.self) == nil)
        return try Handler().attached(to: request).answer()
      }
      let answer = try await server.withScope(tag: "request") { request in
        request.provide(User(name: "Ann"))
        return try await handle(request)
      }
      #expect(answer == "Hello, Ann" && Transaction.ended.withLock { $0 } == ["Ann"])
      #expect(server.children.isEmpty)
    }
  #endif

  @Test func wordsFromElsewhere() async throws {
    context.register(Token.self, lifetime: .context) { Token() }
    context.register((any Store).self, lifetime: .scope) { CountingStore(base: DiskStore()) }
    context.register((any Store).self, lifetime: .scope, replaces: false) { DiskStore() }
    context.register(Flags.self, lifetime: .unique) { Flags(storesOnDisk: true) }
    // A singleton that is made of a scoped service.
    context.register(lifetime: .context) { context in
      let store = try context.require((any Store).self)
      return Editor(printer: { store.notes.isEmpty ? nil : Laser() })
    }
    let request = try context.makeScope(tag: "request")
    let store = try #require(request.link((any Store).self) as? CountingStore)
    let error = #expect(throws: UDILinkError.self) { try request.require(Editor.self) }
    #expect(error?.cause == .noScope)
    let (part, inner) = (try request.makeChild(tag: "part"), try request.makeScope(tag: "inner"))
    #expect(part.link((any Store).self) as? CountingStore === store)
    #expect(inner.link((any Store).self) as? CountingStore !== store)
    #expect(part.link(Token.self) === inner.link(Token.self) && part.link(Flags.self) != nil)
    try await request.close()
  }

  @Test(.ownAppContext) func windowsAndTabs() throws {
    var window: BrowserWindow? = try BrowserWindow(number: 1)
    if let window {
      let tab = try window.scope.makeChild(tag: "tab 1")
      let other = try window.scope.makeChild(tag: "tab 2")
      tab.provide(User(name: "Ann"))
      #expect(window.scope.link(User.self) != nil && other.link(User.self) == nil)
      #expect(AppContext.link(User.self) == nil)
      let closed = try window.scope.makeScope(tag: "tab 3")
      closed.provide(Flags(storesOnDisk: true))
      #expect(window.scope.link(Flags.self) == nil)
    }
    window = nil
    #expect(AppContext.children.isEmpty)
  }

  @MainActor final class Account {
    let scope: UDIContext
    private(set) var loggingOut: Task<Void, Never>?
    private(set) var failure: (any Error)?
    init(scope: UDIContext) { self.scope = scope }

    func logOut() {
      loggingOut =
        loggingOut
        ?? Task {
          do { try await scope.close(because: LogOut(), within: .seconds(5)) } catch { failure = error }
        }
    }
  }

  @Test func aSessionFromLogInToLogOut() async throws {
    let home = context
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
    // A failure leaves nothing.
    await #expect(throws: Offline.self) {
      try await home.makeScope(tag: "session") { scope in
        scope.provide(LiveSession(user: "Ann"), as: (any Session).self)
        throw Offline()
      }
    }
    #expect(home.children.map(\.tag) == ["screen"] && home.linkAll((any Session).self).isEmpty)
    let scope = try await home.makeScope(tag: "session") { scope in
      scope.register(Timeline.self, lifetime: .context) { try await Timeline.load() }
      try await scope.warmUp()
      let session = LiveSession(user: "Ann")
      scope.provide(session, as: (any Session).self) { _ in session.attachedContext = nil }
    }
    while await shown.next() != "Log out" {}
    #expect(scope.link(Timeline.self) != nil)
    let held = try scope.require((any Session).self)
    // Two at once: the second does not take the place of the first.
    let other = try await home.makeScope(tag: "session") { scope in
      scope.provide(LiveSession(user: "Bob"), as: (any Session).self)
    }
    #expect(Set(home.linkAll((any Session).self).map(\.user)) == ["Ann", "Bob"])
    try await other.close()
    #expect(screen.linkAll((any Session).self).map(\.user) == ["Ann"])
    // A screen opens after the session has been closed.
    try await scope.close(because: LogOut())
    let late = TitleBar().attached(to: scope)
    let error = #expect(throws: UDILinkError.self) { try late.require((any Session).self) }
    #expect(error?.cause == .contextClosed(fullPath: ["session"]))
    try #require(home.linkAll((any Session).self).isEmpty)
    while await shown.next() != "Log in" {}
    following.cancel()
    await following.value
    withExtendedLifetime(held) {}
  }

  @Test func theSessionIsClosedFirst() async throws {
    let home = context
    let seen = Mutex<[Bool]>([])
    let scope = try await home.makeScope(tag: "session") { scope in
      scope.provide(1) { _ in seen.withLock { $0.append(home.linkAll((any Session).self).isEmpty) } }
      let session = LiveSession(user: "Ann")
      scope.provide(session, as: (any Session).self) { _ in session.attachedContext = nil }
    }
    try await scope.close()
    #expect(seen.withLock { $0 } == [true])
  }

  @Test func aLogOutRevokesTheToken() async throws {
    for isLogOut in [false, true] {
      let scope = try context.makeScope(tag: "session")
      scope.provide(Token()) { token in
        if case .closed(because: is LogOut) = UDIEnding.current { token.revoke() }
      }
      let token = try scope.require(Token.self)
      if isLogOut { try await scope.close(because: LogOut()) } else { try await scope.close() }
      #expect(token.isRevoked.load(ordering: .relaxed) == isLogOut)
    }
  }

  @Test @MainActor func closingFromAButton() async throws {
    let scope = try context.makeScope(tag: "session")
    scope.provide(1) { _ in throw Offline() }
    let account = Account(scope: scope)
    account.logOut()
    account.logOut()
    await account.loggingOut?.value
    #expect((account.failure as? UDICloseError)?.failures.count == 1 && context.children.isEmpty)
  }

  @Test(.ownAppContext) func liveValues() throws {
    AppContext.install(Services(mode: .live))
    AppContext.install(Services(mode: .live))
    #expect(AppContext.linkAll((any Store).self).count == 1)
    #expect(try AppContext.require((any Store).self) is DiskStore)
  }

  @Test func previewValues() throws {
    context.install(Services(mode: .preview))
    #expect(try context.require((any Store).self).notes == ["A note"])
  }

  @Test func featureFlag() {
    context.register((any Store).self, lifetime: .unique) { context in
      if try context.require(Flags.self).storesOnDisk { return DiskStore() }
      return MemoryStore(notes: [])
    }
    context.provide(Flags(storesOnDisk: false))
    #expect(context.link((any Store).self) is MemoryStore)
    context.provide(Flags(storesOnDisk: true), replaces: true)
    #expect(context.link((any Store).self) is DiskStore)
  }

  @Test(.ownAppContext { $0.provide(ImpatientClock(), as: (any Clock<Duration>).self) })
  func reminds() async throws {
    #expect(try await Reminder().attached(to: AppContext).remind() == "An hour has passed.")
  }

  @Test(.leakAudit) func lookedUpLater() throws {
    let context = try AppContext.makeChild(tag: "Editors")
    context.register(lifetime: .context) { context in
      Editor(printer: { [weak context] in context?.link((any Printer).self) })
    }
    let editor = try context.require(Editor.self)
    #expect(editor.printer() == nil)
    context.provide(Laser(), as: (any Printer).self)
    #expect(editor.printer() is Laser)
    AppContext.removeChild(context)
  }

  @Test func decorator() throws {
    context.register((any Store).self, named: "plain", lifetime: .context) { DiskStore() }
    context.register((any Store).self, lifetime: .context) { context in
      try CountingStore(base: context.require((any Store).self, named: "plain"))
    }
    let store = try context.require((any Store).self)
    #expect(store.notes == ["on disk"] && (store as? CountingStore)?.reads.withLock { $0 } == 1)
  }

  @Test func decoratorInABranch() throws {
    context.provide(DiskStore(), as: (any Store).self)
    let trial = try context.makeScope(tag: "trial")
    trial.register((any Store).self, lifetime: .context) { context in
      try CountingStore(base: (context.parent ?? context).require((any Store).self))
    }
    #expect((try trial.require((any Store).self) as? CountingStore)?.base is DiskStore)
    #expect(context.link((any Store).self) is DiskStore)
  }

  @Test func resettingOne() throws {
    context.register(lifetime: .login) { Token() }
    context.register(lifetime: .context) { VendorPlayer() }
    let (token, player) = try (context.require(Token.self), context.require(VendorPlayer.self))
    context.reset(.login)
    #expect(try context.require(Token.self) !== token && context.require(VendorPlayer.self) === player)
  }

  @MainActor @Test func twoWays() throws {
    context.register(lifetime: .context) {
      Document()
    } onCreate: { context, document in
      document.undo = context.link(UndoStack.self)
    }
    context.register(lifetime: .context) {
      UndoStack()
    } onCreate: { context, undo in
      undo.document = context.link(Document.self)
    }
    let document = try context.require(Document.self)
    #expect(document.undo?.document === document)
  }
}
