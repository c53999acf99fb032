import UDI

@MainActor final class ListModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var library: Library

  var lines: [String] { library.lines }
  func add(_ title: String) { library.add(title) }
}
