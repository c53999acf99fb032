import UDI

protocol Advice: Sendable { var title: String { get } }

@MainActor final class ListModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var library: Library
  @Linked var advice: (any Advice)?
  private var reader: ReaderModel?
  private var onAdd: [() -> Void] = []
  private(set) var isChanged = false

  func didAttachContext() {
    onAdd.append { self.isChanged = true }
  }

  var lines: [String] { library.lines }
  var hint: String { lines.isEmpty ? "Read \(advice?.title ?? "something")" : "" }
  func add(_ title: String) {
    library.add(title)
    for closure in onAdd { closure() }
  }

  func open(_ title: String) { reader = ReaderModel(title).attached(to: self) }
  func closeReader() { reader = nil }
}
