import Foundation
import Synchronization
import Testing
import UDI
import UDITesting

/// Two tests that share the process's `AppContext`. Each situation stands at a file of its own, because there is one
/// warning for each file.
@Suite(.checksWarnings) struct SharedAppContextTests {
  @Test("One test", .collectsWarnings) func one() async { await share(by: "one") }
  @Test("Another test", .collectsWarnings) func another() async { await share(by: "another") }

  private func share(by test: String) async {
    AppContext.register(Item.self, named: "registered", replaces: true, fileID: "registered/1.swift") { Item() }
    AppContext.provide(Item(), named: "provided", replaces: true, fileID: "provided/1.swift", line: 7)
    let bound = Item()
    Self.kept.add(bound)
    AppContext.bind(bound, as: Item.self, named: "bound", fileID: "bound/1.swift")
    AppContext.provide(Item(), named: "once a file", replaces: true, fileID: "provided/1.swift", line: 8)

    await withOwnAppContext { _ = AppContext.provide(Item(), named: "own", replaces: true, fileID: "own/1.swift") }
    for _ in 0..<2 { AppContext.provide(Item(), named: "by \(test)", replaces: true, fileID: "alone/1.swift") }
    AppContext.provide(Item(), named: "left alone", replaces: false, fileID: "left/1.swift")

    // What is gone before the other test comes is not shared.
    Self.order.withLock {
      AppContext.bind(Item(), as: Item.self, named: "released", fileID: "released/1.swift")
      AppContext.register(Item.self, named: "ended", replaces: true, fileID: "ended/1.swift") { Item() }.unregister()
    }

    // The first test prepares, and only the second one registers.
    let isFirst = Self.order.withLock {
      unsafe Self.count += 1
      if unsafe Self.count == 1 {
        AppContext.provide(Item(), named: "overridden", replaces: true, fileID: "overridden/1.swift")
      } else {
        withOverride(of: Item.self, named: "overridden", with: Item(), fileID: "overridden/2.swift", line: 1) {}
      }
      return unsafe Self.count == 1
    }
    if isFirst {
      await Task.detached { _ = AppContext.provide(Item(), named: "set up", fileID: "setup/1.swift") }.value
      Self.isSetUp.store(true, ordering: .sequentiallyConsistent)
    } else {
      await eventually { Self.isSetUp.load(ordering: .sequentiallyConsistent) }
      AppContext.provide(Item(), named: "set up", replaces: true, fileID: "setup/2.swift")
    }
  }

  private static let order = NSLock()
  // Guarded by `order`.
  private nonisolated(unsafe) static var count = 0
  private static let isSetUp = Atomic(false)
  private static let kept = Locked<Item>([])

  final class Item: Sendable {}

  fileprivate static func check() {
    // If only one of the tests was selected, nothing is shared.
    guard order.withLock({ unsafe count }) == 2 else { return }
    let issues = warnings.all
    #expect(
      issues.compactMap { $0.sourceLocation?.fileID }.sorted()
        == ["bound/1.swift", "overridden/2.swift", "provided/1.swift", "registered/1.swift"])
    #expect(issues.allSatisfy { $0.severity == .warning })
    let provided = issues.first { $0.sourceLocation?.fileID == "provided/1.swift" }
    #expect(provided?.sourceLocation?.line == 7)
    let message = provided.map { "\($0)" } ?? ""
    let item = String(reflecting: Item.self)
    #expect(message.contains(#"both register \#(item) named "provided" in the process's AppContext."#), "\(message)")
    #expect(message.contains(#"the test "One test""#) != message.contains(#"the test "Another test""#), "\(message)")
    #expect(message.contains("`.ownAppContext`"))
  }
}

private let warnings = Locked<Issue>([])

/// Checks the warnings once all tests of the suite have ended.
private struct CheckingTrait: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await function()
    SharedAppContextTests.check()
  }
}

extension Trait where Self == CheckingTrait {
  fileprivate static var checksWarnings: Self { CheckingTrait() }
}

extension Trait where Self == IssueHandlingTrait {
  /// Keeps the issues of a test for `CheckingTrait`, instead of recording them.
  fileprivate static var collectsWarnings: Self {
    .compactMapIssues { issue in
      warnings.add(issue)
      return nil
    }
  }
}
