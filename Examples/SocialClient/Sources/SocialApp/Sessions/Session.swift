import UDI

/// An account that is logged in, with the context of everything that exists only meanwhile.
///
/// A session binds itself at the root, where everybody finds it. Nobody but the `SessionManager` should hold it: the
/// session ends when it is let go of, and `updates(of: Session.self)` then says so.
final class Session: UDIObject, Sendable {
  let _attachedContext = UDIAttachment()
  let account: Account
  let scope: UDIContext

  init(of account: Account, scope: UDIContext) {
    self.account = account
    self.scope = scope
  }

  func didAttachContext() { bind(self, as: Session.self) }
}
