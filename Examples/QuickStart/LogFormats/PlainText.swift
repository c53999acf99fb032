/// Any text. Its lines are counted, and nothing in them.
struct PlainText: LogFormat {
  let name = "plain text"
  let headings: [String] = []

  func parse(_ line: Bytes) -> LogEntry? { LogEntry() }
}
