import UDI

/// Understands the lines of one format.
@MainActor
protocol LineParser: AnyObject {
  /// The name of the format in the report.
  var format: String { get }
  /// The headings under which the entries are counted, in the order of the report.
  var headings: [String] { get }
  /// Parses a line; returns nil if the line does not have this format.
  func parse(_ line: Substring) -> LogEntry?
}

/// The content of one line.
struct LogEntry {
  /// One thing to count.
  struct Mention {
    /// One of the parser's headings.
    let heading: String
    let key: Substring
    var bytes: Int?
  }

  /// The time as the line gives it; nil if the format has no times.
  var timestamp: Substring?
  var mentions: [Mention] = []
}

/// Returns the parser that understands most of the first lines, if it understands at least half of them, and otherwise
/// a `PlainParser`.
@MainActor
func makeParser(for lines: [Substring]) -> any UDIObject & LineParser {
  let sample = lines.lazy.filter { !$0.isEmpty }.prefix(100)
  let candidates: [any UDIObject & LineParser] = [SyslogParser(), DpkgParser(), AccessLogParser()]
  let rated = candidates.map { parser in (parser: parser, hits: sample.count { parser.parse($0) != nil }) }
  guard let best = rated.max(by: { $0.hits < $1.hits }), best.hits > 0, best.hits * 2 >= sample.count else {
    return PlainParser()
  }
  return best.parser
}
