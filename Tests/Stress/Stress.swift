import Foundation
import Synchronization
import TreeModel
import UDI

/// Lets threads move, bind, link, release, register, reset and follow in one tree, and open and close scopes, a limited
/// number of times, and then checks invariants.
///
///     Stress [STEPS] [SECONDS]    steps of each thread, and how long it may take until it counts as a hang
///
/// If the program hangs, `abort` ends it, and Swift's runtime dumps every thread:
/// `SWIFT_BACKTRACE=enable=yes,preset=full`, as `.ci/stress` sets.
@main
struct Stress {
  static func main() async throws {
    let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    let steps = numbers.first ?? 4000
    let watchdog = Watchdog(seconds: numbers.dropFirst().first ?? 300)
    // Has the library describe all that happens.
    UDIObserver.process = UDIObserver { event in _ = "\(event)" }
    let field = Field()
    let (drift, odds) = (Drift(field), Odds(field))
    let consumers = field.follow()
    await withTaskGroup { group in
      // Real threads, because there are only as many threads for tasks as there are cores.
      for thread in 0..<6 {
        group.addTask { await onThread { field.work(steps, drift, odds, SplitMix(seed: UInt64(thread))) } }
      }
    }
    await drift.race(3 * steps)
    drift.end()
    await odds.end()
    await comeAndGo(1000)
    try await openAndClose(steps / 40)
    let seen = try await field.settle(consumers)
    field.check()
    watchdog.done()
    print("6 threads, \(steps) steps each, \(seen) changes followed: all as it must be")
  }
}

/// Runs a body on a thread of its own.
func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      body()
      continuation.resume()
    }
  }
}

/// Ends a program that hangs, so that the dump shows where.
private final class Watchdog: Sendable {
  private let isDone = Atomic<Bool>(false)

  init(seconds: Int) {
    Thread.detachNewThread { [self] in
      for _ in 0..<seconds * 10 {
        usleep(100_000)
        if isDone.load(ordering: .acquiring) { return }
      }
      FileHandle.standardError.write(Data("nothing has moved for \(seconds) s; here is every thread\n".utf8))
      abort()
    }
  }

  func done() { isDone.store(true, ordering: .releasing) }
}
