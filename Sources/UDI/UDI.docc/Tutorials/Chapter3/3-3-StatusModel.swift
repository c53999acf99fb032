import UDI

@MainActor final class StatusModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Linked(keeps: .never) var reading: (any Reading)?

  var text: String { reading.map { "You read \($0.title)" } ?? "" }
}
