import Foundation

/// Tells the time. The dates of notes come from it, so that tests can predict them.
protocol WallClock: AnyObject, Sendable {
  var now: Date { get }
}

/// The system's time.
final class SystemClock: WallClock {
  var now: Date { Date() }
}
