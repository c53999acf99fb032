import Testing
import UDI
import UDITesting

struct TreeAttachmentTests {
  /// Runs a test with traits, and returns what was attached to it.
  private func attachments(
    _ trait: some TestTrait & TestScoping, _ function: @escaping @Sendable () async throws -> Void
  ) async throws -> [String] {
    let test = try #require(Test.current)
    let attached = Locked<String>([])
    await TreeAttachment.$receiver.withValue(.init { attached.add($0) }) {
      _ = try? await issues { try await trait.provideScope(for: test, testCase: nil, performing: function) }
    }
    return attached.all
  }

  @Test("A test that fails gets its tree attached, as it was at the first issue")
  func failing() async throws {
    let found = try await attachments(.ownAppContext as OwnAppContextTrait) {
      try AppContext.makeChild(tag: "Page").provide(StoppedClock(), as: (any Clock).self)
      Issue.record("first")
      AppContext.removeChild(tag: "Page")
      Issue.record("second")
    }
    #expect(found.count == 1)
    #expect(found.first?.contains("Page") == true && found.first?.contains("UDITestingTests.Clock") == true)
  }

  @Test("Known issues and warnings do not count")
  func harmless() async throws {
    let found = try await attachments(.ownAppContext as OwnAppContextTrait) {
      withKnownIssue { _ = Issue.record("known") }
      Issue.record("warning", severity: .warning)
      try AppContext.makeChild(tag: "Page")
      Issue.record("real")
    }
    #expect(found.count == 1 && found.first?.contains("Page") == true)
  }

  @Test("So does one that throws, and with the audit")
  func throwing() async throws {
    struct Failure: Error {}
    let thrown = try await attachments(.leakAudit as LeakAuditTrait) {
      try AppContext.makeChild(tag: "Page")
      throw Failure()
    }
    #expect(thrown.count == 1 && thrown.first?.contains("Page") == true)
  }

  @Test("Several traits attach it once, and a test that passes gets nothing")
  func once() async throws {
    let test = try #require(Test.current)
    let twice = try await attachments(.ownAppContext as OwnAppContextTrait) {
      try await (.leakAudit as LeakAuditTrait).provideScope(for: test, testCase: nil) { Issue.record("failed") }
    }
    #expect(twice.count == 1)
    let none = try await attachments(.ownAppContext as OwnAppContextTrait) { try AppContext.makeChild(tag: "Page") }
    #expect(none == [])
  }

  @Test("An issue that is found when the tree has gone comes without it")
  func late() async throws {
    let unclosed = try await attachments(.ownAppContext as OwnAppContextTrait) {
      AppContext.provide(1).onClose { _ in }
    }
    let leaked = try await attachments(.leakAudit as LeakAuditTrait) {
      ViewModel().attached(to: AppContext).refreshLeaking()
    }
    #expect(unclosed == [] && leaked == [])
  }
}
