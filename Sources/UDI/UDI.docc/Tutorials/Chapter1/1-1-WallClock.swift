protocol WallClock: Sendable {
  /// Days since some day in the past.
  var today: Int { get }
}

struct SystemClock: WallClock {
  private let start = ContinuousClock.now
  var today: Int { Int((ContinuousClock.now - start) / .seconds(86_400)) }
}
