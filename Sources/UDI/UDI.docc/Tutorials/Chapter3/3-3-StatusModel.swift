import UDI

@MainActor final class StatusModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @LinkedInLine var reading: (any Reading)?

  func didAttachContext() {}

  var text: String { reading.map { "You read \($0.title)" } ?? "" }
}
