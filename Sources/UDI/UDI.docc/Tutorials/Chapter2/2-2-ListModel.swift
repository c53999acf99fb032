import UDI

@MainActor final class ListModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var library: Library

  func didAttachContext() {}

  var lines: [String] { library.lines }
  func add(_ title: String) { library.add(title) }
}
