import UDI

/// Takes any line for what it is. It says nothing more than that there is one.
@MainActor
final class PlainParser: @MainActor UDIObject, LineParser {
  let _attachedContext = UDIAttachment()
  let format = "plain text"
  let headings: [String] = []

  func didAttachContext() {
    bind(self, as: (any LineParser).self)
  }

  func parse(_ line: Substring) -> LogEntry? { LogEntry() }
}
