import UDI

protocol Advice: Sendable { var title: String { get } }

@MainActor final class ListModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var library: Library
  @Linked var advice: (any Advice)?
  private var reader: ReaderModel?

  var lines: [String] { library.lines }
  var hint: String { lines.isEmpty ? "Read \(advice?.title ?? "something")" : "" }
  func add(_ title: String) { library.add(title) }

  func open(_ title: String) { reader = ReaderModel(title).attached(to: self) }
  func closeReader() { reader = nil }
}
