import UDI

/// The results of all inputs.
@MainActor
final class Report: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required private var console: any Console

  /// Shows the inputs that are there at this moment.
  func show() {
    // All inputs below, in the order of their contexts.
    let inputs = linkAll(Input.self)
    let digests = inputs.compactMap(\.digest)
    let lineCount = digests.reduce(0) { $0 + $1.lineCount }
    let unparsedCount = digests.reduce(0) { $0 + $1.unparsedCount }
    let total = "inputs: \(inputs.count), lines: \(lineCount), unparsed: \(unparsedCount)"
    console.show((inputs.map(text) + [total]).joined(separator: "\n\n"))
  }

  private func text(_ input: Input) -> String {
    guard let digest = input.digest else { return input.name }
    var lines = [
      input.attachedContext?.tag ?? input.name,
      "  format    \(digest.format.name)",
      "  lines     \(digest.lineCount)",
      "  unparsed  \(digest.unparsedCount)",
    ]
    if input.isLatin1 { lines.append("  encoding  Latin-1, because it is not valid UTF-8") }
    if let first = digest.firstTimestamp { lines.append("  first     \(first)") }
    if let last = digest.lastTimestamp { lines.append("  last      \(last)") }
    for (index, heading) in digest.format.headings.enumerated() {
      let top = digest.top(index)
      if !top.isEmpty { lines.append("  \(heading)") }
      for (key, tally) in top {
        let bytes = tally.bytes.map { ", \($0) bytes" } ?? ""
        lines.append("  \(aligned(tally.count))  \(printable(key))\(bytes)")
      }
    }
    return lines.joined(separator: "\n")
  }

  private func aligned(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, 6 - digits.count)) + digits
  }

  /// A text from a log, made safe for a terminal: shortened, and without control characters.
  private func printable(_ text: String) -> String {
    let limit = 60
    let head = text.unicodeScalars.prefix(limit)
    let safe = head.map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
    return head.endIndex == text.unicodeScalars.endIndex ? safe : safe + "..."
  }
}
