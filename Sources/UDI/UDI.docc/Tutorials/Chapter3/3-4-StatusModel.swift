import UDI

@MainActor final class StatusModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  private(set) var text = ""

  /// Follows what is being read, until the task is cancelled.
  func follow() async {
    for await reading in updates(of: (any Reading).self) {
      text = reading.map { "You read \($0.title)" } ?? "You read nothing"
    }
  }
}
