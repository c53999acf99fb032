/// A system log, with the traditional time or that of RFC 3339:
///
/// ```
/// Mar  3 06:25:01 host CRON[1234]: (root) CMD (test -x /usr/sbin/anacron)
/// 2026-03-03T06:25:01.123456+00:00 host CRON[1234]: (root) CMD (test -x /usr/sbin/anacron)
/// ```
struct Syslog: LogFormat {
  let name = "syslog"
  let headings = ["programs"]

  func parse(_ line: Bytes) -> LogEntry? {
    var scanner = LineScanner(line)
    guard
      let timestamp = timestamp(&scanner), scanner.word() != nil,
      let tag = scanner.word(), tag.last == UInt8(ascii: ":")
    else { return nil }
    // In `sshd[4711]:`, the program is sshd.
    let program = tag.dropLast().prefix { $0 != UInt8(ascii: "[") }
    guard !program.isEmpty else { return nil }
    return LogEntry(timestamp: timestamp, mentions: [.init(heading: 0, key: program)])
  }

  private func timestamp(_ scanner: inout LineScanner) -> Bytes? {
    if let traditional = scanner.text(shaped: "AAA _0 00:00:00") {
      return Self.months.contains { traditional.starts(with: $0) } && scanner.skip(" ") ? traditional : nil
    }
    guard let word = scanner.word(), word.prefix(19).hasShape("0000-00-00T00:00:00") else { return nil }
    return word
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ].map { Array($0.utf8) }
}
