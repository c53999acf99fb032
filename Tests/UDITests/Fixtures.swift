import Foundation
import Synchronization
import Testing
import UDI
import UDIInspector

protocol Service: AnyObject, Sendable {}
protocol Loose: Sendable { var label: String { get } }
protocol Other: AnyObject, Sendable {}
/// What the tests of `updates(ofAll:)` follow. Other tests make changes deep in large trees, and these take longer while
/// somebody follows all dependencies of their type.
protocol Module: AnyObject, Sendable {}

/// A class that is not a `UDIObject`.
final class Plain: Service, Other, Module, Loose {
  let label: String
  init(_ label: String = "plain") { self.label = label }
}

/// A class that takes part in the tree, and does what a test wants when it is attached.
final class Member: UDIObject, Service, Other, Module, Loose {
  let _attachedContext = UDIAttachment()
  let label: String
  let onAttach: @Sendable (Member) -> Void

  init(_ label: String = "member", onAttach: @escaping @Sendable (Member) -> Void = { _ in }) {
    self.label = label
    self.onAttach = onAttach
  }

  func didAttachContext() { onAttach(self) }
}

/// Runs a closure when it dies.
final class Farewell: Service {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}

/// The held bindings of a context, dead ones included, as a snapshot lists them.
func boundHere(_ context: UDIContext) -> [String] {
  context.snapshot().contexts[0].entries.filter { !$0.isProvider && $0.kind != .override }.map(\.description)
}

/// Counts, from any thread.
final class Tally: Sendable {
  private let value = Atomic<Int>(0)
  var count: Int { value.load(ordering: .sequentiallyConsistent) }
  func add() { value.add(1, ordering: .sequentiallyConsistent) }
}

/// The line of an explanation that gives the cause.
func firstLine(of explanation: UDIExplanation) -> String {
  String(explanation.description.prefix { $0 != "\n" })
}

/// Silences the reporter, for tests in which lookups find nothing on purpose.
struct SilentReporter: TestTrait, SuiteTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withReporter(.silent) { try await function() }
  }
}

extension Trait where Self == SilentReporter {
  static var silent: SilentReporter { SilentReporter() }
}

/// Whether this process runs under the thread sanitizer.
let isUnderThreadSanitizer = unsafe dlsym(nil, "__tsan_init") != nil

extension Trait where Self == ConditionTrait {
  /// For a test that needs a very large tree, or very many lookups, but only one thread. Under the thread sanitizer it
  /// would take minutes, and could find nothing.
  static var exceptUnderThreadSanitizer: Self {
    .disabled(if: isUnderThreadSanitizer, "large, and on one thread")
  }
}

/// The executor of an actor that has a thread of its own, so that a test may block it.
final class OwnThread: SerialExecutor {
  private let queue = DispatchQueue(label: "own thread")
  func enqueue(_ job: UnownedJob) {
    let executor = unsafe asUnownedSerialExecutor()
    queue.async { unsafe job.runSynchronously(on: executor) }
  }
}

/// Runs a closure on a thread of its own, so that it may block the thread.
func onOwnThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      body()
      continuation.resume()
    }
  }
}

/// Blocks this thread until every task that could go on has had its turn.
func letTasksRun() {
  let done = DispatchSemaphore(value: 0)
  // Several, and often: a thread that is about to run a task may itself have to wait for its turn.
  for _ in 0..<4 {
    Task.detached {
      for _ in 0..<2_000 { await Task.yield() }
      done.signal()
    }
  }
  for _ in 0..<4 { done.wait() }
}
