import UDI

/// An account that is logged in. The scope of everything that exists only meanwhile owns it.
///
/// A session binds itself above its scope, where everybody finds it. It does so under the scope's tag: several sessions
/// may be there at once, and none takes the place of another.
final class Session: UDIObject, Sendable {
  let _attachedContext = UDIAttachment()
  let account: Account

  init(of account: Account) { self.account = account }

  func didAttachContext() {
    guard let scope = attachedContext, let home = scope.parent else { return }
    multiBind(self, as: Session.self, named: UDIName(scope.tag), in: [home])
  }
}
