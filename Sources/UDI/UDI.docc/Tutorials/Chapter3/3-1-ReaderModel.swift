import UDI

@MainActor protocol Reading: AnyObject { var title: String { get } }

@MainActor final class ReaderModel: @MainActor UDIObject, Reading {
  let _attachedContext = UDIAttachment()
  let title: String

  init(_ title: String) { self.title = title }

  func didAttachContext() { bind(self, as: (any Reading).self) }
}
