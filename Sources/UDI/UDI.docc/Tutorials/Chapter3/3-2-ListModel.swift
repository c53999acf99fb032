import UDI

protocol Advice: Sendable { var title: String { get } }

@MainActor final class ListModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var library: Library
  @Linked var advice: (any Advice)?
  private var reader: ReaderModel?

  func didAttachContext() {}

  var lines: [String] { library.lines }
  var hint: String { lines.isEmpty ? "Read \(advice?.title ?? "something")" : "" }
  func add(_ title: String) { library.add(title) }

  func open(_ title: String) {
    guard let context = attachedContext else { return }
    reader = ReaderModel(title).attached(to: context)
  }

  func closeReader() { reader = nil }
}
