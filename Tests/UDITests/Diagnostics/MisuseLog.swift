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
