import Synchronization
import Testing
import UDI
import UDIInspector

/// When a test fails, attaches the text of the test's tree to the test.
package enum TreeAttachment {
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

  /// Runs a test. When the test records its first issue, or throws, attaches the text of the tree at that moment.
  ///
  /// Known issues and warnings do not count, because they do not make the test fail. If they did, a later issue would
  /// come without its tree.
  static func attaching(
    _ context: UDIContext, to test: Test, _ testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    if isActive { return try await function() }
    let isDone = Atomic<Bool>(false)
    @Sendable func attachOnce() {
      if isDone.exchange(true, ordering: .relaxed) { return }
      let text = context.snapshot().text()
      if let receiver { return receiver.receive(text) }
      Attachment.record(text, named: "AppContext.txt", sourceLocation: test.sourceLocation)
    }
    let watching: IssueHandlingTrait = .compactMapIssues { issue in
      if issue.isFailure { attachOnce() }
      return issue
    }
    try await $isActive.withValue(true) {
      try await watching.provideScope(for: test, testCase: testCase) {
        do { try await function() } catch {
          attachOnce()
          throw error
        }
      }
    }
  }
}
