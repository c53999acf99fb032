import Synchronization

/// Tells the time.
protocol WallClock: Sendable {
  /// Seconds since some moment in the past.
  var now: Int { get }
}

/// Counts from the moment when it is made.
struct SystemClock: WallClock {
  private let start = ContinuousClock.now
  var now: Int { Int((ContinuousClock.now - start).components.seconds) }
}

/// Gives out numbers that are used once.
final class IDSource: Sendable {
  private let last = Atomic(0)
  func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
