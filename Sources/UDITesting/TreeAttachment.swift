import Synchronization
import Testing
import UDI
import UDIInspector

/// When a test fails, attaches the text of the test's tree to the test.
package final class TreeAttachment: Sendable {
  /// Receives the text instead of the current test. Used by the tests of `TreeAttachment`.
  @TaskLocal package static var receiver: Receiver?

  // This is a class because, with Swift 6.3, a function as the value of a `@TaskLocal` stops the program in release
  // builds.
  package final class Receiver: Sendable {
    fileprivate let receive: @Sendable (_ text: String) -> Void
    package init(_ receive: @escaping @Sendable (_ text: String) -> Void) { self.receive = receive }
  }

  /// Whether an outer trait of the same test already attaches the tree.
  @TaskLocal private static var isActive = false

  private let context: UDIContext
  private let sourceLocation: SourceLocation
  private let isDone = Atomic<Bool>(false)

  private init(_ context: UDIContext, _ sourceLocation: SourceLocation) {
    self.context = context
    self.sourceLocation = sourceLocation
  }

  /// Runs a test. When the test records its first issue, or throws, attaches the text of the tree at that moment.
  ///
  /// Known issues and warnings do not count, because they do not make the test fail. If they did, a later issue would
  /// come without its tree.
  static func attaching(
    _ context: UDIContext, to test: Test, _ testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    if isActive { return try await function() }
    let tree = TreeAttachment(context, test.sourceLocation)
    let watching: IssueHandlingTrait = .compactMapIssues { issue in
      if issue.isFailure { tree.attachOnce() }
      return issue
    }
    try await $isActive.withValue(true) {
      try await watching.provideScope(for: test, testCase: testCase) {
        do { try await function() } catch {
          tree.attachOnce()
          throw error
        }
      }
    }
  }

  private func attachOnce() {
    if isDone.exchange(true, ordering: .relaxed) { return }
    let text = context.snapshot().text()
    if let receiver = Self.receiver { return receiver.receive(text) }
    Attachment.record(text, named: "AppContext.txt", sourceLocation: sourceLocation)
  }
}
