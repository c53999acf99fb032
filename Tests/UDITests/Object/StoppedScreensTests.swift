import Testing
import UDI

/// The posts of an account, which belong to its session.
@MainActor private final class Posts {
  var all: [String] = []
}

private final class Database: Sendable {}
private final class Printer: Sendable {}
private final class Texts: Sendable { let title = "Posts" }

/// Waits for a reply while the person may log out.
@MainActor private final class PostsScreen: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var posts: Posts
  @Linked var printer: Printer?

  func refresh(_ asked: Latch, _ reply: Latch) async -> [String] {
    asked.arrive()
    await reply.wait()
    posts.all.append("the reply")
    return posts.all
  }
}

/// Has a button that needs a service which nobody has registered.
@MainActor private final class DetailScreen: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var texts: Texts
  @Required var printer: Printer
  private(set) var title = ""

  func didAttachContext() { title = texts.title }
  func tapPrint() -> Printer { printer }
}

/// Opens the database of the account that logs in.
@MainActor private final class LogInScreen: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  private(set) var failure: (any Error)?

  func logIn() async {
    do {
      let session = try attachedContext?.makeScope(tag: "session") ?? AppContext
      session.register(Account.self, lifetime: .context) { context in
        try await Account(database: context.obtain(Database.self))
      }
      _ = try await session.obtain(Account.self)
    } catch {
      failure = error
    }
  }
}

private struct Account: Sendable { let database: Database }

/// What stopped a messenger that was carried over to this library: a screen that reads what it needs too late.
@MainActor @Suite(.unlessItHangs) struct StoppedScreensTests {
  private let root = UDIContext(tag: "root")

  private func makeSession() throws -> UDIContext {
    let session = try root.makeScope(tag: "session")
    session.register(Posts.self, lifetime: .context) { Posts() }
    session.register(Printer.self, lifetime: .context) { Printer() }
    return session
  }

  // MARK: Logging out while a screen awaits something

  @Test func whatAScreenRequiresStaysWhenItsSessionIsClosed() async throws {
    let session = try makeSession()
    let screen = PostsScreen().attached(to: session)
    let posts = screen.posts
    let (asked, reply) = (Latch(), Latch())
    let refreshing = Task { await screen.refresh(asked, reply) }
    await asked.wait()
    try await session.close()
    reply.arrive()
    #expect(await refreshing.value == ["the reply"])
    // What was not looked up before is gone, and a lookup says why.
    let (printer, reports) = MisuseLog.during { screen.printer }
    #expect(printer == nil && reports.isEmpty)
    let error = #expect(throws: UDILinkError.self) { try screen.require(Posts.self) }
    #expect(error?.cause == .contextClosed(fullPath: ["session"]))
    #expect(screen.posts === posts)
  }

  /// The session owns the screen, so the screen does not hold the session's context, which goes.
  @Test func evenWhenItsContextGoes() async throws {
    let (asked, reply) = (Latch(), Latch())
    var session: UDIContext? = try makeSession()
    session?.register(PostsScreen.self, lifetime: .context) { PostsScreen() }
    let screen = try #require(session?.link(PostsScreen.self))
    let refreshing = Task { await screen.refresh(asked, reply) }
    await asked.wait()
    try await session?.close()
    weak let context = session
    session = nil
    #expect(context == nil)
    reply.arrive()
    #expect(await refreshing.value == ["the reply"])
    let (printer, reports) = MisuseLog.during { screen.printer }
    #expect(printer == nil && reports.map(\.kind) == [.contextGone])
  }

  @Test func aScreenThatIsOpenedTooLateIsReported() async throws {
    let session = try makeSession()
    try await session.close()
    let (screen, reports) = MisuseLog.during { PostsScreen().attached(to: session) }
    #expect(reports.map(\.kind) == [.needNotMet])
    #expect(reports.first?.message.contains("PostsScreen.posts needs it") == true)
    #expect(reports.first?.message.contains("closed") == true)
    withExtendedLifetime(screen) {}
  }

  // MARK: Quitting while logging in

  /// The factory may end when it is cancelled, or take no notice.
  @Test(arguments: [true, false]) func quittingEndsALogIn(_ noticesCancellation: Bool) async throws {
    let (begun, cancelled) = (Latch(), Latch())
    root.register(Database.self, lifetime: .context) {
      begun.arrive()
      await withTaskCancellationHandler {
        await cancelled.wait()
      } onCancel: {
        cancelled.arrive()
      }
      if noticesCancellation { try Task.checkCancellation() }
      return Database()
    }
    let screen = LogInScreen().attached(to: root)
    let loggingIn = Task { await screen.logIn() }
    await begun.wait()
    try await root.close()
    await loggingIn.value
    let error = try #require(screen.failure as? UDILinkError)
    #expect(error.description.contains("closed"), "\(error)")
    #expect(root.children.isEmpty)
  }

  // MARK: A service that nobody has registered

  @Test func openingAScreenReportsWhatIsMissingAndTheRestWorks() throws {
    root.provide(Texts())
    let line = #line + 1
    let (screen, reports) = MisuseLog.during { DetailScreen().attached(to: root) }
    #expect(reports.map(\.kind) == [.needNotMet])
    #expect(reports.first?.line == line && reports.first?.fileID == #fileID)
    #expect(reports.first?.message.contains("DetailScreen.printer needs it") == true)
    #expect(screen.title == "Posts")
    // If it is registered later, the button works.
    let printer = Printer()
    root.provide(printer)
    #expect(screen.tapPrint() === printer)
  }

  @Test func onlyTheTapStopsTheProgram() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
      let root = UDIContext(tag: "root")
      root.provide(Texts())
      let (screen, _) = MisuseLog.during { DetailScreen().attached(to: root) }
      guard screen.title == "Posts" else { return }
      _ = screen.tapPrint()
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("DetailScreen.printer needs it"), "\(output)")
  }
}
