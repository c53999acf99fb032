import UDI

@MainActor final class ListModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()

  func didAttachContext() {}
}
