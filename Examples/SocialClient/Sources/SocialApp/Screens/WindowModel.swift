import Observation
import UDI

/// A window: shows the screens of its session or, if there is none, the log-in screen. It follows the session, and
/// knows nobody who logs in or out.
@MainActor @Observable final class WindowModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @ObservationIgnored @Followed var session: Session?
  let logIn = LogInModel()
  let badge = BadgeModel()
  private(set) var home: HomeModel?

  var title: String { session.map { "\($0.account.handle)" } ?? logIn.title }

  /// Opens a window. It has a context of its own: to close the window, close its context.
  static func open(in app: UDIContext) throws -> WindowModel {
    WindowModel().attached(to: try app.makeScope(tag: "window"))
  }

  func didAttachContext() {
    logIn.attachedContext = attachedContext
    badge.attachedContext = attachedContext
    follow(Session.self) { window, session in
      window.home = (session?.attachedContext).map { HomeModel().attached(to: $0) }
    }
  }
}

/// The screen before a session.
@MainActor final class LogInModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var manager: SessionManager
  @Required var accounts: AccountList
  @Required var texts: Texts
  private(set) var failure: String?

  var title: String { texts["Log in"] }

  func logIn(_ name: String, password: String) async {
    guard let window = attachedContext else { return }
    do {
      try await manager.logIn(Handle(name), password: password, in: window)
      failure = nil
    } catch is AlreadyLoggedIn {
      // The button has been pressed twice.
    } catch {
      failure = "\(error)"
    }
  }
}

/// The screens of a session. They belong to the session's context, and find in it what they need.
@MainActor final class HomeModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var account: Account
  let timeline = FeedModel()
  let notices = NoticesModel()
  let search = SearchModel()
  let composer = ComposerModel()
  let miniPlayer = MiniPlayerModel()
  private(set) var loggingOut: Task<Void, Never>?
  private(set) var failure: String?

  func didAttachContext() {
    timeline.attachedContext = attachedContext
    notices.attachedContext = attachedContext
    search.attachedContext = attachedContext
    composer.attachedContext = attachedContext
    miniPlayer.attachedContext = attachedContext
  }

  /// What the button does. A button cannot wait, so the task is kept for those who have to.
  func logOut() {
    loggingOut = loggingOut ?? Task.detached { await self.close() }
  }

  private func close() async {
    do { try await attachedContext?.close(within: .seconds(5)) } catch { failure = "\(error)" }
  }
}
