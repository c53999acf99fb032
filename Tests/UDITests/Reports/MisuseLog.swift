import Testing
import UDI

/// Collects what is reported.
final class MisuseLog: Sendable {
  private let entries = Locked<[UDIMisuse]>([])
  var all: [UDIMisuse] { entries.withLock { $0 } }
  var messages: [String] { all.map(\.message) }
  var reporter: UDIReporter { UDIReporter { misuse in self.entries.withLock { $0.append(misuse) } } }

  /// Runs a body whose misuse is collected.
  static func during<Result>(_ body: () throws -> Result) rethrows -> (Result, [UDIMisuse]) {
    let log = MisuseLog()
    let result = try withReporter(log.reporter) { try body() }
    return (result, log.all)
  }

  /// Runs an asynchronous body whose misuse is collected.
  nonisolated(nonsending) static func during<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> (Result, [UDIMisuse]) {
    let log = MisuseLog()
    let result = try await withReporter(log.reporter) { try await body() }
    return (result, log.all)
  }
}

/// Collects the misuse during a test that misuses the library on its way to something else. Expects that there is some, and that all of it
/// is of one kind.
struct ExpectedMisuse: TestTrait, TestScoping {
  let kind: UDIMisuse.Kind

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let log = MisuseLog()
    try await withReporter(log.reporter) { try await function() }
    #expect(Set(log.all.map(\.kind)) == [kind], "\(log.all)")
  }
}

extension Trait where Self == ExpectedMisuse {
  /// Expects misuse of one kind.
  static func misuses(_ kind: UDIMisuse.Kind) -> Self { ExpectedMisuse(kind: kind) }
}
