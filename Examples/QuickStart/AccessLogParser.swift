import UDI

/// Parses the lines of a web server's access log, in the common format or the combined one, which adds to the end:
///
/// ```
/// 192.0.2.7 - - [03/Mar/2026:06:25:01 +0000] "GET /index.html HTTP/1.1" 200 5120
/// 192.0.2.7 - - [03/Mar/2026:06:25:01 +0000] "GET /index.html HTTP/1.1" 200 5120 "-" "curl/8.5.0"
/// ```
@MainActor
final class AccessLogParser: @MainActor UDIObject, LineParser {
  let _attachedContext = UDIAttachment()
  let format = "access log"
  let headings = ["status codes", "paths"]

  func didAttachContext() {
    bind(self, as: (any LineParser).self)
  }

  func parse(_ line: Substring) -> LogEntry? {
    var scanner = LineScanner(line)
    // Before the time stand the client, its identity and its user; the last may contain spaces.
    guard
      scanner.text(before: "[") != nil,
      let timestamp = scanner.text(before: "]"), timestamp.utf8.prefix(21).hasShape("00/AAA/0000:00:00:00 "),
      scanner.skip(" "), let request = scanner.quoted(), scanner.skip(" "),
      let status = scanner.word(), status.utf8.hasShape("000"),
      let size = scanner.word(), let bytes = size == "-" ? 0 : Int(size), bytes >= 0
    else { return nil }
    return LogEntry(
      timestamp: timestamp,
      mentions: [
        .init(heading: "status codes", key: status),
        .init(heading: "paths", key: path(of: request), bytes: bytes),
      ])
  }

  /// The path that was asked for, without the query; the whole request if that is not of HTTP.
  private func path(of request: Substring) -> Substring {
    // The first space and the last one, since a careless client leaves spaces in the path.
    let space = UInt8(ascii: " ")
    guard
      let first = request.utf8.firstIndex(of: space), let last = request.utf8.lastIndex(of: space), first < last,
      request[last...].utf8.starts(with: " HTTP/".utf8)
    else { return request }
    return request[first..<last].dropFirst().prefix { $0 != "?" }
  }
}
