/// The `dpkg.log` that Debian's package manager writes:
///
/// ```
/// 2026-03-03 06:25:01 install libgdbm6:amd64 <none> 1.23-3
/// 2026-03-03 06:25:01 status half-installed libgdbm6:amd64 1.23-3
/// 2026-03-03 06:25:01 startup packages configure
/// ```
struct DpkgLog: LogFormat {
  let name = "dpkg log"
  let headings = ["actions", "packages"]

  func parse(_ line: Bytes) -> LogEntry? {
    var scanner = LineScanner(line)
    guard let timestamp = scanner.text(shaped: "0000-00-00 00:00:00"), scanner.skip(" "), let action = scanner.word()
    else { return nil }
    var entry = LogEntry(timestamp: timestamp, mentions: [.init(heading: 0, key: action)])
    switch String(decoding: action, as: UTF8.self) {
    case "startup", "conffile":
      // These lines do not concern a package.
      return entry
    case "status":
      guard scanner.word() != nil else { return nil }
    case "configure", "disappear", "install", "purge", "remove", "trigproc", "upgrade":
      break
    default:
      return nil
    }
    guard let package = scanner.word() else { return nil }
    entry.mentions.append(.init(heading: 1, key: package))
    return entry
  }
}
