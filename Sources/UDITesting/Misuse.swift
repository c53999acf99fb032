import Testing
public import UDI

/// Makes an issue of the running test out of a misuse of the library.
///
/// - Parameter misuse: What happened.
@Sendable public func recordAsIssue(_ misuse: UDIMisuse) {
  Issue.record("\(misuse.message)", sourceLocation: location(misuse.fileID, misuse.line))
}

/// Runs an operation that is to misuse the library, and collects what is reported.
///
/// - Parameter operation: What to run.
/// - Returns: The misuse, in order.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func misuse(
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows -> [UDIMisuse] {
  let log = MisuseLog()
  try await withReporter(UDIReporter { log.add($0) }) { try await operation() }
  return log.all
}

/// Runs an operation that is not asynchronous and is to misuse the library, and collects what is reported.
///
/// - Parameter operation: What to run.
/// - Returns: The misuse, in order.
/// - Throws: What `operation` throws.
public func misuse(during operation: () throws -> Void) rethrows -> [UDIMisuse] {
  let log = MisuseLog()
  try withReporter(UDIReporter { log.add($0) }) { try operation() }
  return log.all
}

/// The place that a message is about, as the test library wants it.
func location(_ fileID: String, _ line: Int) -> SourceLocation {
  // The path is not known; the two are used for the same purpose.
  SourceLocation(fileID: fileID, filePath: fileID, line: max(1, line), column: 1)
}
