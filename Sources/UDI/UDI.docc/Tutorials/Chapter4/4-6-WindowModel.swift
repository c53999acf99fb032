import UDI

@MainActor final class WindowModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  private(set) var list: ListModel?

  /// Follows the sessions until the task is cancelled, and shows the latest.
  func follow() async {
    for await sessions in updates(ofAll: Session.self) {
      list = sessions.last.map { ListModel().attached(to: $0.dependency) }
    }
  }
}
