import Synchronization

/// Where misuse of the library is reported.
///
/// Reports go to the task's reporter, if ``withReporter(_:operation:)`` set one, otherwise to the process's,
/// ``process``. By default, that writes to standard error in debug builds of the library, and does nothing in release
/// builds.
///
/// ```swift
/// UDIReporter.process = UDIReporter(reportsUnattachedUse: true) { misuse in
///   logger.warning("\(misuse)")
/// }
/// ```
public struct UDIReporter: Sendable {
  /// Whether the use of an object that is attached to nothing is reported. A program that attaches all of its objects
  /// can thus find one that it forgot.
  public let reportsUnattachedUse: Bool

  private let body: @Sendable (UDIMisuse) -> Void

  /// Makes a reporter.
  ///
  /// - Parameters:
  ///   - reportsUnattachedUse: Whether the use of an object that is attached to nothing is reported.
  ///   - report: Called for each misuse, on the thread where it happened, while no lock is held.
  public init(reportsUnattachedUse: Bool = false, _ report: @escaping @Sendable (UDIMisuse) -> Void) {
    self.reportsUnattachedUse = reportsUnattachedUse
    body = report
    if reportsUnattachedUse { Self.someReportUnattachedUse.store(true, ordering: .relaxed) }
  }

  /// Passes a misuse on to this reporter. This is for a reporter that builds on another one.
  ///
  /// - Parameter misuse: What happened.
  public func forward(_ misuse: UDIMisuse) { body(misuse) }

  /// Writes each misuse as a line to standard error.
  public static let standardError = UDIReporter { writeToStandardError("\($0)") }

  /// Reports nothing.
  public static let silent = UDIReporter { _ in }

  /// The reporter of all code that runs outside ``withReporter(_:operation:)``.
  public static var process: UDIReporter {
    get { lock.withLock { unsafe ofProcess } }
    set {
      // The old reporter holds a user's closure, so it is released after the lock.
      var reporter = newValue
      lock.withLock { unsafe swap(&ofProcess, &reporter) }
    }
  }

  /// The reporter that receives a misuse here and now.
  static var current: UDIReporter { ofTask ?? process }

  /// Whether any reporter was ever made that reports unattached use. If not, no reporter needs to be asked.
  static let someReportUnattachedUse = Atomic<Bool>(false)

  func report(_ kind: UDIMisuse.Kind, _ message: String, at site: CallSite) {
    forward(UDIMisuse(kind: kind, message: message, fileID: site.fileID, line: site.line))
  }

  @TaskLocal fileprivate static var ofTask: UDIReporter?

  private static let lock = Lock()
  /// Guarded by `lock`.
  #if DEBUG
    private nonisolated(unsafe) static var ofProcess = standardError
  #else
    private nonisolated(unsafe) static var ofProcess = silent
  #endif
}

/// Runs an operation. Misuse of the library by it, and by the tasks that it starts, goes to the given reporter.
///
/// - Parameters:
///   - reporter: The reporter while the operation runs.
///   - operation: What to run.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
public func withReporter<Result, Failure: Error>(
  _ reporter: UDIReporter, operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let outcome = UDIReporter.$ofTask.withValue(reporter) { () -> Swift.Result<Result, Failure> in
    do throws(Failure) { return .success(try operation()) } catch { return .failure(error) }
  }
  return try outcome.get()
}

/// Runs an asynchronous operation. Misuse of the library by it, and by the tasks that it starts, goes to the given
/// reporter.
///
/// - Parameters:
///   - reporter: The reporter while the operation runs.
///   - operation: The operation. It stays on the caller's actor.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func withReporter<Result, Failure: Error>(
  _ reporter: UDIReporter, operation: nonisolated(nonsending) () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let outcome = await UDIReporter.$ofTask.withValue(reporter) { () async -> Swift.Result<Result, Failure> in
    do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
  }
  return try outcome.get()
}
