import Foundation
import Synchronization
import Testing
import UDI

protocol Cart: AnyObject, Sendable { var owner: Int { get } }
protocol Clock: Sendable { var now: Int { get } }

final class Basket: Cart, UDIObject {
  let _attachedContext = UDIAttachment()
  let owner: Int
  init(owner: Int = 0) { self.owner = owner }
  func didAttachContext() { bind(self, as: (any Cart).self) }
}

struct StoppedClock: Clock { var now = 12 }
final class TickingClock: Clock { let now = 7 }

/// A view model that keeps a closure, which may lead back to it.
final class ViewModel: UDIObject, Sendable {
  let _attachedContext = UDIAttachment()
  private let action = Mutex<(@Sendable () -> Void)?>(nil)

  static let bindLine = #line + 1
  func didAttachContext() { bind(self, as: ViewModel.self) }

  func refreshLeaking() { action.withLock { $0 = { self.refreshLeaking() } } }
  func refresh() { action.withLock { $0 = { [weak self] in self?.refresh() } } }
}

/// Values that several threads add to.
///
/// A lock of Foundation's, because the thread sanitizer understands it.
final class Locked<Element: Sendable>: Sendable {
  private let lock = NSLock()
  // Guarded by the lock.
  private nonisolated(unsafe) var values: [Element]
  init(_ values: [Element]) { unsafe self.values = values }
  var all: [Element] { lock.withLock { unsafe values } }
  func add(_ value: Element) { lock.withLock { unsafe values.append(value) } }
}

/// Something that tasks wait for.
final class Signal: Sendable {
  private let (stream, continuation) = AsyncStream<Void>.makeStream()
  func give() { continuation.finish() }
  func wait() async { for await _ in stream {} }
}

/// Lets other tasks run until a condition holds. If it does not within minutes, ends the process, with an error that
/// names the test, instead of waiting for ever.
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

/// Calls the synchronous form of a function. In asynchronous code, its name alone means the other form.
func synchronously<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

/// An object that takes part in the tree and binds nothing.
final class Guest: UDIObject, Sendable {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
}

/// An object that holds one that is bound.
final class Tower: Sendable {
  private let clock = TickingClock()
  init() { AppContext.bind(clock, as: (any Clock).self) }
}

/// Keeps an instance until it is reset.
final class Shelf: UDIStorage {
  private let kept = Mutex<UDIMade?>(nil)
  func load() -> UDIMade? { kept.withLock { $0 } }
  func store(_ made: UDIMade) { kept.withLock { $0 = made } }
  func reset() { kept.withLock { $0 = nil } }
}

/// Runs an operation while the main actor is busy, so that nothing can be released there. Do not call this on the main
/// actor.
func whileMainActorIsBusy(_ operation: () throws -> Void) rethrows {
  let (busy, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  DispatchQueue.main.async {
    busy.signal()
    done.wait()
  }
  busy.wait()
  defer { done.signal() }
  try operation()
}

/// Runs an operation that fails its test, and takes the issues that it records out of the log. With `withKnownIssue` they would stay there, and
/// a reader of the log could not tell them from issues of this project.
///
/// - Parameters:
///   - isExpected: Which issues to take. All others fail the test.
///   - operation: What to run.
/// - Returns: The issues that were taken.
func issues(
  where isExpected: @escaping @Sendable (Issue) -> Bool = { _ in true },
  during operation: @Sendable () async throws -> Void
) async throws -> [Issue] {
  let found = Locked<Issue>([])
  let collecting: IssueHandlingTrait = .compactMapIssues { issue in
    guard isExpected(issue) else { return issue }
    found.add(issue)
    return nil
  }
  try await collecting.provideScope(for: try #require(Test.current), testCase: nil, performing: operation)
  return found.all
}

extension Issue {
  /// All of its comments.
  var text: String { comments.map(\.rawValue).joined() }
}
