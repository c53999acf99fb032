import UDI

@MainActor final class StatusModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  private(set) var text = ""

  func didAttachContext() {
    follow((any Reading).self) { status, reading in
      status.text = reading.map { "You read \($0.title)" } ?? "You read nothing"
    }
  }
}
