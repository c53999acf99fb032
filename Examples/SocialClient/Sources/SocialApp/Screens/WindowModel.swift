import UDI

/// A window: shows the log-in screen, or the screens of a session. It follows the session, and knows nobody who logs
/// in or out.
@MainActor final class WindowModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  private(set) var logIn: LogInModel?
  private(set) var home: HomeModel?

  func didAttachContext() {
    follow(Session.self) { window, session in
      // The session must end when its manager lets go of it. So the window takes its context and does not keep it.
      window.home = session.map { HomeModel(of: $0.account).attached(to: $0.scope) }
      window.logIn = session == nil ? LogInModel().attached(to: window) : nil
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
    do {
      try await manager.logIn(Handle(name), password: password)
      failure = nil
    } catch {
      failure = "\(error)"
    }
  }
}

/// The screens of a session. They belong to the session's context, and find in it what they need.
@MainActor final class HomeModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var manager: SessionManager
  let account: Account
  let timeline = FeedModel()
  let notices = NoticesModel()
  let search = SearchModel()
  let composer = ComposerModel()
  let miniPlayer = MiniPlayerModel()

  init(of account: Account) { self.account = account }

  func didAttachContext() {
    timeline.attachedContext = attachedContext
    notices.attachedContext = attachedContext
    search.attachedContext = attachedContext
    composer.attachedContext = attachedContext
    miniPlayer.attachedContext = attachedContext
  }

  func logOut() async throws { try await manager.logOut() }
}
