import UDI

@MainActor final class ListModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
}
