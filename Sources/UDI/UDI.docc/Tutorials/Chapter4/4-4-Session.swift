import UDI

final class Session: UDIObject, Sendable {
  let _attachedContext = UDIAttachment()
  let account: Account

  init(of account: Account) { self.account = account }

  func didAttachContext() {
    guard let scope = attachedContext, let root = scope.parent else { return }
    multiBind(self, as: Session.self, named: UDIName(scope.tag), in: [root])
  }
}
