import UDI

/// Accepts any line, and says nothing about it except that it is there.
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
