import Dispatch
public import Testing
public import UDI

/// Checks that a storage of your own keeps the promises of `UDIStorage`.
///
/// The function fails the test if one of these is the case:
///
/// - A new storage returns an instance.
/// - The storage returns an instance other than the one that was stored last.
/// - After a reset, the storage returns an instance, or something still holds one.
/// - The check takes longer than `limit`. For example, the storage holds a lock while it releases an instance, and the
///   instance's `deinit` uses the storage. (A `Mutex` that is locked twice stops the program instead.)
///
/// The storage is first used by one thread, and then by several at the same time. A storage may release an instance at
/// any time, so one that keeps nothing passes, too.
///
/// ```swift
/// @Test func expiringIsAStorage() async { await expectStorageWorks { Expiring() } }
/// ```
///
/// - Parameters:
///   - limit: How long the check may take. A storage that hangs keeps its threads.
///   - sourceLocation: The place at which the issues are recorded.
///   - makeStorage: Makes a new storage each time. It is called on another thread, which does not belong to the test.
public func expectStorageWorks(
  limit: Duration = .seconds(10), sourceLocation: SourceLocation = #_sourceLocation,
  _ makeStorage: @escaping @Sendable () -> any UDIStorage
) async {
  let (failures, found) = AsyncStream.makeStream(of: Comment.self)
  // Issues are recorded here, because the other thread belongs to no test. Each queue has a thread of its own, so that
  // a storage that hangs does not keep the limit from being noticed.
  DispatchQueue(label: "expectStorageWorks").async {
    checkByOneThread(makeStorage()) { found.yield($0) }
    checkByThreads(makeStorage()) { found.yield($0) }
    found.finish()
  }
  DispatchQueue(label: "limit", qos: .userInitiated).asyncAfter(deadline: .now() + limit / .seconds(1)) {
    found.yield("The storage has not returned within \(limit).")
    found.finish()
  }
  for await failure in failures { Issue.record(failure, sourceLocation: sourceLocation) }
}

/// An instance whose `deinit` uses the storage that keeps it.
private final class Sample: Sendable {
  private let onEnd: @Sendable () -> Void

  init(in storage: any UDIStorage, onEnd: @escaping @Sendable () -> Void = {}) {
    self.onEnd = { [weak storage] in
      _ = storage?.load()
      onEnd()
    }
    storage.store(UDIMade(self))
  }

  deinit { onEnd() }
}

private func checkByOneThread(_ storage: any UDIStorage, _ fail: (Comment) -> Void) {
  if storage.load() != nil { fail("A new storage returns an instance.") }
  weak var last: Sample?
  for hasBeenReset in [false, true] {
    // The second replaces the first.
    for _ in 1...2 {
      let sample = Sample(in: storage)
      last = sample
      if let kept = storage.load(), kept.object !== sample {
        fail("The storage returns an instance other than the one that was stored last.")
      }
    }
    // A reset may come more than once.
    storage.reset()
    if hasBeenReset { storage.reset() }
    if storage.load() != nil { fail("After a reset, the storage returns an instance.") }
    if last != nil { fail("After a reset, something still holds the instance that was stored last.") }
  }
}

private func checkByThreads(_ storage: any UDIStorage, _ fail: (Comment) -> Void) {
  let samples = DispatchGroup()
  DispatchQueue.concurrentPerform(iterations: 8) { thread in
    for round in 0..<100 {
      switch (thread + round) % 4 {
      case 0: storage.reset()
      case 1: _ = storage.load()
      default:
        samples.enter()
        _ = Sample(in: storage) { samples.leave() }
      }
    }
  }
  storage.reset()
  if storage.load() != nil { fail("After a reset, a storage that several threads have used returns an instance.") }
  if samples.wait(timeout: .now()) == .timedOut {
    fail("After a reset, something still holds instances that several threads have stored.")
  }
}
