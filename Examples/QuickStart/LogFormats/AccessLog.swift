/// A web server's access log, in the common format or in the combined one, which appends two fields:
///
/// ```
/// 192.0.2.7 - - [03/Mar/2026:06:25:01 +0000] "GET /index.html HTTP/1.1" 200 5120
/// 192.0.2.7 - - [03/Mar/2026:06:25:01 +0000] "GET /index.html HTTP/1.1" 200 5120 "-" "curl/8.5.0"
/// ```
struct AccessLog: LogFormat {
  let name = "access log"
  let headings = ["status codes", "paths"]

  func parse(_ line: Bytes) -> LogEntry? {
    var scanner = LineScanner(line)
    // The client, its identity and its user come before the time; the user may contain spaces.
    guard
      scanner.text(before: "[") != nil,
      let timestamp = scanner.text(before: "]"), timestamp.prefix(21).hasShape("00/AAA/0000:00:00:00 "),
      scanner.skip(" "), let request = scanner.quoted(), scanner.skip(" "),
      let status = scanner.word(), status.hasShape("000"),
      let size = scanner.word(), let bytes = size.elementsEqual("-".utf8) ? 0 : number(size)
    else { return nil }
    return LogEntry(
      timestamp: timestamp,
      mentions: [
        .init(heading: 0, key: status),
        .init(heading: 1, key: path(of: request), bytes: bytes),
      ])
  }

  /// The requested path without its query, or the whole request if it is not HTTP.
  private func path(of request: Bytes) -> Bytes {
    // The path lies between the first and the last space, since a careless client leaves spaces in the path.
    let space = UInt8(ascii: " ")
    guard
      let first = request.firstIndex(of: space), let last = request.lastIndex(of: space), first < last,
      request[last...].starts(with: " HTTP/".utf8)
    else { return request }
    return request[first..<last].dropFirst().prefix { $0 != UInt8(ascii: "?") }
  }

  /// The number that the digits stand for; nil if there is anything else, or if the number is too large.
  private func number(_ digits: Bytes) -> Int? {
    digits.isEmpty
      ? nil
      : digits.reduce(0) { number, digit in
        guard let number, UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
        let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
        let (sum, isStillTooLarge) = tens.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
        return isTooLarge || isStillTooLarge ? nil : sum
      }
  }
}
