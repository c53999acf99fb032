import Foundation
import Testing

/// Ends the process, with an error that names the tests that are running, if one of them waits for ever.
///
/// A test that waits for ever does not fail by itself: if it blocks a thread, not even a time limit ends it. Nor is a
/// time limit of its own of any use, because all tests share the threads, and a test can wait minutes for its turn. But
/// as long as anything goes on, the process uses the processor. If it has hardly done so for half a minute, whatever
/// still runs waits for ever.
struct UnlessItHangs: TestTrait, SuiteTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let name = "\(test.id)"
    Watchdog.shared.begin(name)
    defer { Watchdog.shared.end(name) }
    try await function()
  }
}

extension Trait where Self == UnlessItHangs {
  /// Ends the process, instead of the whole run waiting, if the test waits for ever.
  static var unlessItHangs: Self { Self() }
}

/// Lets other tasks run until a condition holds. If it does not within minutes, ends the process, with an error that
/// names the test, instead of waiting for ever: a test that runs again and again is not at rest, so `unlessItHangs` does
/// not end it.
nonisolated(nonsending) func eventually(
  _ condition: nonisolated(nonsending) () async -> Bool, fileID: StaticString = #fileID, line: UInt = #line
) async {
  let (start, name) = (ContinuousClock.now, Test.current.map { "\($0.id)" } ?? "A test")
  var turns = 0
  while await !condition() {
    await Task.yield()
    turns += 1
    if turns > 10_000, start.duration(to: .now) > .seconds(300) {
      fatalError("\(name) waits at \(fileID):\(line) for something that does not happen")
    }
  }
}

private final class Watchdog: Sendable {
  static let shared = Watchdog()
  private let running = Locked<[String: Int]>([:])

  private init() { Thread.detachNewThread { [self] in watch() } }

  func begin(_ name: String) { running.withLock { $0[name, default: 0] += 1 } }

  func end(_ name: String) {
    running.withLock { running in
      running[name]? -= 1
      if running[name] == 0 { running[name] = nil }
    }
  }

  private func watch() -> Never {
    var secondsAtRest = 0
    while true {
      let before = clock()
      Thread.sleep(forTimeInterval: 1)
      // A hundredth of the second, which is more than this thread and timers use.
      let isAtRest = clock() - before < CLOCKS_PER_SEC / 100
      secondsAtRest = isAtRest ? secondsAtRest + 1 : 0
      let names = running.withLock { $0.keys.sorted() }
      if secondsAtRest >= 30, !names.isEmpty { fatalError("These tests wait for ever: \(names)") }
    }
  }
}
