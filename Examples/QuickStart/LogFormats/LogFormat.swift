/// A part of a piece of a log, in UTF-8.
typealias Bytes = ArraySlice<UInt8>

/// The format of the lines of a log.
protocol LogFormat: Sendable {
  /// The name of the format in the report.
  var name: String { get }
  /// The headings under which entries are counted, in the order of the report.
  var headings: [String] { get }
  /// Parses a line; returns nil if the line does not have this format.
  func parse(_ line: Bytes) -> LogEntry?
}

/// The content of one line.
struct LogEntry {
  /// One thing to count.
  struct Mention {
    /// The index of one of the format's headings.
    let heading: Int
    let key: Bytes
    var bytes: Int?
  }

  /// The time as the line gives it; nil if the format has no times.
  var timestamp: Bytes?
  var mentions: [Mention] = []
}

/// Returns the format of most of the first lines, if at least half of them have it, and otherwise plain text.
func format(of lines: [Bytes]) -> any LogFormat {
  let sample = lines.lazy.filter { !$0.isEmpty }.prefix(100)
  let candidates: [any LogFormat] = [Syslog(), DpkgLog(), AccessLog()]
  let rated = candidates.map { format in (format: format, hits: sample.count { format.parse($0) != nil }) }
  guard let best = rated.max(by: { $0.hits < $1.hits }), best.hits > 0, best.hits * 2 >= sample.count else {
    return PlainText()
  }
  return best.format
}
