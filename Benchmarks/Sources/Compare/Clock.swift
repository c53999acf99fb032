import Dispatch
import Glibc
import Synchronization

/// The nanoseconds of a monotonic clock.
func now() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Returns how many nanoseconds a body takes.
@inline(__always)
func timed(_ body: () -> Void) -> Double {
  let start = now()
  body()
  return Double(now() - start)
}

/// Runs an asynchronous body in a task, waits for it, and returns the time that it took.
func timedInTask(_ body: @escaping @Sendable () async -> Void) -> Double {
  let done = DispatchSemaphore(value: 0)
  let time = Atomic<UInt64>(0)
  Task.detached {
    let start = now()
    await body()
    time.store(now() - start, ordering: .releasing)
    done.signal()
  }
  done.wait()
  return Double(time.load(ordering: .acquiring))
}

/// Starts a thread that sleeps forever. Programs of users have more than one thread, and the C library takes short
/// cuts in a program that has never had a second one.
func parkSecondThread() {
  var thread = pthread_t()
  pthread_create(&thread, nil, { @Sendable _ in while true { sleep(1000) } }, nil)
}

/// Runs a body on several new threads that start together, and returns the mean of their times. The time for which
/// other programs leave them no core does not count. The time for which they wait for each other does.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Double {
  let start = Barrier(count)
  let times = ThreadTimes()
  let threads = (0..<count).map { index in
    spawn {
      start.wait()
      let waited = waitedForCore()
      let time = timed { body(index) }
      times.add(time - (waitedForCore() - waited))
    }
  }
  for thread in threads { pthread_join(thread, nil) }
  return times.mean
}

/// The nanoseconds for which this thread could have run, but had no core.
private func waitedForCore() -> Double {
  guard let file = fopen("/proc/thread-self/schedstat", "r") else { return 0 }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 80)
  let count = fread(&bytes, 1, bytes.count, file)
  let fields = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ")
  return fields.count > 1 ? Double(fields[1]) ?? 0 : 0
}

private final class ThreadTimes: Sendable {
  private let times = Mutex<[Double]>([])
  func add(_ time: Double) { times.withLock { $0.append(time) } }
  var mean: Double { times.withLock { $0.reduce(0, +) / Double($0.count) } }
}

/// Releases several threads at the same time. It spins, so no thread has to be woken.
private final class Barrier: Sendable {
  private let waiting: Atomic<Int>
  init(_ count: Int) { waiting = Atomic(count) }
  func wait() {
    waiting.subtract(1, ordering: .sequentiallyConsistent)
    while waiting.load(ordering: .acquiring) > 0 {}
  }
}

private func spawn(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { @Sendable box in
      Unmanaged<Box>.fromOpaque(box!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  return thread
}
