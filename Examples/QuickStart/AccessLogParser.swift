import UDI

/// Parses the lines of a web server's access log, in the common format or in the combined one, which appends two
/// fields:
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
    // The client, its identity and its user come before the time; the user may contain spaces.
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

  /// The requested path without its query, or the whole request if it is not HTTP.
  private func path(of request: Substring) -> Substring {
    // The path lies between the first and the last space, since a careless client leaves spaces in the path.
    let space = UInt8(ascii: " ")
    guard
      let first = request.utf8.firstIndex(of: space), let last = request.utf8.lastIndex(of: space), first < last,
      request[last...].utf8.starts(with: " HTTP/".utf8)
    else { return request }
    return request[first..<last].dropFirst().prefix { $0 != "?" }
  }
}
