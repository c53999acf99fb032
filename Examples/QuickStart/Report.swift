import UDI

/// Collects the digests of all inputs, from the context above them.
@MainActor
final class Report: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()

  func didAttachContext() {
    // The report keeps nothing. It looks up what it needs when it is shown, and takes what is there at that moment.
  }

  func show() {
    // In the order of the contexts, which is the order of the inputs.
    let digests = linkAll((any Counters).self).map { $0.digest() }
    let lineCount = digests.reduce(0) { $0 + $1.lineCount }
    let unparsedCount = digests.reduce(0) { $0 + $1.unparsedCount }
    let total = "inputs: \(digests.count), lines: \(lineCount), unparsed: \(unparsedCount)"
    linkInLine((any Console).self)?.show((digests.map(text) + [total]).joined(separator: "\n\n"))
  }

  private func text(_ digest: Digest) -> String {
    var lines = [
      digest.name,
      "  format    \(digest.format)",
      "  lines     \(digest.lineCount)",
      "  unparsed  \(digest.unparsedCount)",
    ]
    if let first = digest.firstTimestamp { lines.append("  first     \(first)") }
    if let last = digest.lastTimestamp { lines.append("  last      \(last)") }
    for (heading, tallies) in digest.top where !tallies.isEmpty {
      lines.append("  \(heading)")
      for tally in tallies {
        let bytes = tally.bytes.map { ", \($0) bytes" } ?? ""
        lines.append("  \(aligned(tally.count))  \(printable(tally.key))\(bytes)")
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
