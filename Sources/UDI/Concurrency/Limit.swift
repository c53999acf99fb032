/// A time limit, and the clock that measures it. This is a class, because a reference to a clock and its type makes
/// code large.
package final class Limit: Sendable {
  private let time: Duration
  private let clock: any Clock<Duration>

  /// Makes a limit; nil if there is no time, or if the time is so long that it is no limit. A clock may be unable to
  /// say when such a time would end.
  package init?(_ time: Duration?, _ clock: any Clock<Duration>) {
    guard let time, time < .seconds(1 << 40) else { return nil }
    (self.time, self.clock) = (time, clock)
  }

  /// A tenth of the limit.
  var tenth: Limit? { Limit(time / 10, clock) }

  /// Waits until the limit is over.
  ///
  /// - Returns: False if the task is cancelled before that.
  @inline(never)
  func wait() async -> Bool { if time > .zero { (try? await clock.sleep(for: time)) != nil } else { true } }
}
