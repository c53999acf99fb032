/// A clock that stands still until it is told to go on.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())
  var now: Instant { state.withLock { $0.now } }
  let minimumResolution = Duration.zero
  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.now < deadline { state.sleepers.append((deadline, continuation)) }
        return state.now >= deadline
      }
      if isOver { continuation.resume() }
    }
  }

  func advance(by duration: Duration) {
    let over = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let over = state.sleepers.filter { $0.deadline <= state.now }
      state.sleepers.removeAll { $0.deadline <= state.now }
      return over
    }
    for sleeper in over { sleeper.continuation.resume() }
  }
}
