import UDI

/// Parses the lines of a system log, with the traditional time or that of RFC 3339:
///
/// ```
/// Mar  3 06:25:01 host CRON[1234]: (root) CMD (test -x /usr/sbin/anacron)
/// 2026-03-03T06:25:01.123456+00:00 host CRON[1234]: (root) CMD (test -x /usr/sbin/anacron)
/// ```
@MainActor
final class SyslogParser: @MainActor UDIObject, LineParser {
  let _attachedContext = UDIAttachment()
  let format = "syslog"
  let headings = ["programs"]

  func didAttachContext() {
    bind(self, as: (any LineParser).self)
  }

  func parse(_ line: Substring) -> LogEntry? {
    var scanner = LineScanner(line)
    guard let timestamp = timestamp(&scanner), scanner.word() != nil, let tag = scanner.word(), tag.last == ":" else {
      return nil
    }
    // In `sshd[4711]:`, the program is sshd.
    let program = tag.dropLast().prefix { $0 != "[" }
    guard !program.isEmpty else { return nil }
    return LogEntry(timestamp: timestamp, mentions: [.init(heading: "programs", key: program)])
  }

  private func timestamp(_ scanner: inout LineScanner) -> Substring? {
    if let traditional = scanner.text(shaped: "AAA _0 00:00:00") {
      return Self.months.contains(traditional.prefix(3)) && scanner.skip(" ") ? traditional : nil
    }
    guard let word = scanner.word(), word.utf8.prefix(19).hasShape("0000-00-00T00:00:00") else { return nil }
    return word
  }

  private static let months: Set<Substring> = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
