import UDI

@MainActor final class WindowModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  private(set) var list: ListModel?
  private(set) var loggingOut: Task<Void, any Error>?

  /// Follows the sessions until the task is cancelled, and shows the latest.
  func follow() async {
    for await sessions in updates(ofAll: Session.self) {
      list = sessions.last.map { ListModel().attached(to: $0.dependency) }
    }
  }

  /// What the button does.
  func logOut() {
    guard let scope = list?.attachedContext else { return }
    loggingOut = Task { try await scope.close() }
  }
}
