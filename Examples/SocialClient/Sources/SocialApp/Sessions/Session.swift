import UDI

/// An account that is logged in, and what the rest of its window may know of it. The scope of everything that exists
/// only meanwhile owns it.
///
/// A session binds itself above its scope, in the context of its window. Whatever is in the window finds it there, and
/// nothing outside does.
final class Session: UDIObject, Sendable {
  let _attachedContext = UDIAttachment()
  let account: Account
  let notices: NoticeStore

  init(of account: Account, notices: NoticeStore) {
    self.account = account
    self.notices = notices
  }

  func didAttachContext() {
    guard let window = attachedContext?.parent else { return }
    multiBind(self, as: Session.self, in: [window])
  }
}
