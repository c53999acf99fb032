import Synchronization
import Testing
public import UDI

/// Records a misuse of the library as an issue of the running test.
///
/// A registration that replaces another one without saying so is a warning.
///
/// - Parameter misuse: The misuse.
@Sendable public func recordAsIssue(_ misuse: UDIMisuse) {
  let known = misuse.fileID.isEmpty ? Test.current?.sourceLocation : location(misuse.fileID, misuse.line)
  Issue.record(
    "\(misuse.message)", severity: misuse.kind == .registeredTwice ? .warning : .error,
    sourceLocation: known ?? #_sourceLocation)
}

/// Runs an operation that misuses the library on purpose, and collects the reports.
///
/// - Parameter operation: The operation to run.
/// - Returns: The reports of misuse, in order.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func misuse(
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows -> [UDIMisuse] {
  let all = Mutex<[UDIMisuse]>([])
  try await withReporter(UDIReporter { misuse in all.withLock { $0.append(misuse) } }) { try await operation() }
  return all.withLock { $0 }
}

/// Runs a synchronous operation that misuses the library on purpose, and collects the reports.
///
/// - Parameter operation: The operation to run.
/// - Returns: The reports of misuse, in order.
/// - Throws: The error that `operation` throws.
public func misuse(during operation: () throws -> Void) rethrows -> [UDIMisuse] {
  let all = Mutex<[UDIMisuse]>([])
  try withReporter(UDIReporter { misuse in all.withLock { $0.append(misuse) } }) { try operation() }
  return all.withLock { $0 }
}

/// Makes a source location for Swift Testing.
func location(_ fileID: String, _ line: Int) -> SourceLocation {
  // The path is not known. Swift Testing uses it only for the same purposes as the file id, so the file id takes its
  // place.
  SourceLocation(fileID: fileID, filePath: fileID, line: max(1, line), column: 1)
}
