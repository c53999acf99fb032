import UDI

@MainActor final class StatusModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked(keeps: .never) var reading: (any Reading)?

  func didAttachContext() {}

  var text: String { reading.map { "You read \($0.title)" } ?? "" }
}
