import UDI

/// Understands the lines of one format.
@MainActor
protocol LineParser: AnyObject {
  /// What the format is called in the report.
  var format: String { get }
  /// What its entries are counted by, in the order of the report.
  var headings: [String] { get }
  /// Parses a line; nil if it is not of the format.
  func parse(_ line: Substring) -> LogEntry?
}

/// What one line says.
struct LogEntry {
  /// One thing to count.
  struct Mention {
    /// One of the parser's headings.
    let heading: String
    let key: Substring
    var bytes: Int?
  }

  /// When, as the line spells it; nil if the format has no times.
  var timestamp: Substring?
  var mentions: [Mention] = []
}

/// Makes the parser that understands most of the first lines, if that is at least half of them; else a `PlainParser`.
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
