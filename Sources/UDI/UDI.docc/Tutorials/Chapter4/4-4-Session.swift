import UDI

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
