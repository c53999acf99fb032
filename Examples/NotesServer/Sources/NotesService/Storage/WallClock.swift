import Foundation

/// Says what time it is. The dates of notes come from it, so that tests can say what they will be.
protocol WallClock: AnyObject, Sendable {
  var now: Date { get }
}

/// The system's time.
final class SystemClock: WallClock {
  var now: Date { Date() }
}
