import Synchronization

/// Remembers the latest things that have happened.
final class Log: Sendable {
  private let clock: any WallClock
  private let lines = Mutex<[String]>([])

  init(clock: any WallClock) { self.clock = clock }

  var latest: [String] { lines.withLock { $0 } }

  func write(_ text: String) {
    let line = "\(clock.now) s: \(text)"
    lines.withLock {
      if $0.count == 200 { $0.removeFirst(100) }
      $0.append(line)
    }
  }
}

/// Counts how often things have happened.
final class Metrics: Sendable {
  private let counts = Mutex<[String: Int]>([:])
  func increment(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }
  subscript(name: String) -> Int { counts.withLock { $0[name, default: 0] } }
}

/// Keeps the latest errors that nobody has handled, each with what the log said before it.
final class ErrorReports: Sendable {
  struct Report: Sendable {
    let id: Int
    let text: String
    let log: [String]
  }

  private let log: Log
  private let ids: IDSource
  private let reports = Mutex<[Report]>([])

  init(log: Log, ids: IDSource) {
    self.log = log
    self.ids = ids
  }

  var all: [Report] { reports.withLock { $0 } }

  func add(_ error: any Error) {
    let report = Report(id: ids.next(), text: "\(error)", log: log.latest.suffix(5))
    reports.withLock { $0 = $0.suffix(9) + [report] }
  }
}
