import UDI

@MainActor final class WindowModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  private(set) var list: ListModel?

  /// Follows the session until the task is cancelled.
  func follow() async {
    for await session in updates(of: Session.self) {
      list = session.map { ListModel().attached(to: $0.scope) }
    }
  }
}
