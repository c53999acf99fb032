import Foundation
import Synchronization
import Testing
import UDI

// What "Concurrency" says about lookups that wait. The rest of its code is in `StartArticles`.

nonisolated struct ConcurrencyArticle {
  final class Catalogue: Sendable {
    static func download() async throws -> Catalogue { Catalogue() }
  }

  /// Notes what happens, in order. Uses a lock of Foundation's, which the thread sanitizer understands.
  final class Journal: @unchecked Sendable {
    // Unchecked: `lock` guards the entries.
    private let lock = NSLock()
    private var entries: [String] = []
    var all: [String] { lock.withLock { entries } }
    func add(_ entry: String) { lock.withLock { entries.append(entry) } }
  }

  /// Makes a catalogue on a thread of its own, while several tasks wait for it and another task wants to run.
  ///
  /// - Parameters:
  ///   - waiting: How many tasks wait.
  ///   - factoryWaits: Whether the factory waits for the other task.
  /// - Returns: The order in which the factory and the other task ended.
  static func order(waiting: Int, factoryWaits: Bool) async -> [String] {
    let context = UDIContext(tag: "App")
    let journal = Journal()
    let (begun, ran) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    await withCheckedContinuation { ended in
      context.register(Catalogue.self, lifetime: .context) { @Sendable in
        for _ in 0..<waiting {
          Task.detached {
            // From here on the task keeps its thread, because it does not suspend before it has the catalogue.
            begun.signal()
            _ = context.link(Catalogue.self)
          }
        }
        for _ in 0..<waiting { begun.wait() }
        Task.detached {
          journal.add("task")
          ran.signal()
          ended.resume()
        }
        // If there were a thread for the task, it would run now.
        if factoryWaits { ran.wait() } else { for _ in 0..<10_000 { sched_yield() } }
        journal.add("factory")
        return Catalogue()
      }
      Thread.detachNewThread { _ = context.link(Catalogue.self) }
    }
    // The task may have ended first: wait for the factory.
    _ = context.link(Catalogue.self)
    return journal.all
  }

  /// In a process of its own, because the test takes all threads of the pool.
  @Test func tasksThatWaitTakeTheirThreadsFromAllOthers() async {
    await #expect(processExitsWith: .success) {
      let cores = ProcessInfo.processInfo.activeProcessorCount
      // One thread is left, so the task runs while the factory does.
      let before = await Self.order(waiting: cores - 1, factoryWaits: true)
      precondition(before == ["task", "factory"], "\(before)")
      // No thread is left. If the factory waited for the task, it would never end.
      let after = await Self.order(waiting: cores, factoryWaits: false)
      precondition(after == ["factory", "task"], "\(after)")
    }
  }

  @Test func whatIsMadeAlreadyIsFoundWithoutWaiting() async {
    let context = UDIContext(tag: "App")
    let calls = Atomic(0)
    context.register(Catalogue.self, lifetime: .context) {
      calls.add(1, ordering: .relaxed)
      return Catalogue()
    }
    let made = context.link(Catalogue.self)
    await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { context.link(Catalogue.self) === made } }
      for await isSame in group { #expect(isSame) }
    }
    #expect(calls.load(ordering: .relaxed) == 1)
  }

  @Test func awaitFirst() async throws {
    let context = UDIContext(tag: "App")
    let catalogue = try await Catalogue.download()
    context.provide(catalogue)
    #expect(context.link(Catalogue.self) === catalogue)
  }
}
