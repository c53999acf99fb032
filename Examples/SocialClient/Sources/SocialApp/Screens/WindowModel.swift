import UDI

/// A window: shows the log-in screen, or the screens of a session. It follows the sessions, and knows nobody who
/// logs in or out.
@MainActor final class WindowModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  private(set) var logIn: LogInModel?
  private(set) var home: HomeModel?

  /// Follows the sessions for as long as the task runs, and shows the latest: in SwiftUI,
  /// `.task { await window.follow() }`.
  func follow() async {
    for await sessions in updates(ofAll: Session.self) {
      let scope = sessions.last?.dependency.attachedContext
      if home?.attachedContext !== scope { home = scope.map { HomeModel().attached(to: $0) } }
      logIn = scope == nil ? LogInModel().attached(to: self) : nil
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
    loggingOut =
      loggingOut
      ?? Task {
        do { try await attachedContext?.close(within: .seconds(5)) } catch { failure = "\(error)" }
      }
  }
}
