import Synchronization

/// Where misuse of the library is reported.
///
/// There is one: the reporter of the task, if ``withReporter(_:operation:)`` set one, else the process's, ``process``. By
/// default it writes to standard error in debug builds of the library, and nothing in release builds.
///
/// ```swift
/// UDIReporter.process = UDIReporter(reportsUnattachedUse: true) { misuse in
///   logger.warning("\(misuse)")
/// }
/// ```
public struct UDIReporter: Sendable {
  /// Whether use of an object that is attached to nothing is reported. A program that attaches all of its objects finds with it
  /// the one that it forgot.
  public let reportsUnattachedUse: Bool

  private let body: @Sendable (UDIMisuse) -> Void

  /// Makes a reporter.
  ///
  /// - Parameters:
  ///   - reportsUnattachedUse: Whether use of an object that is attached to nothing is reported.
  ///   - report: Called for each misuse, on the thread that it happened on, with no lock held.
  public init(reportsUnattachedUse: Bool = false, _ report: @escaping @Sendable (UDIMisuse) -> Void) {
    self.reportsUnattachedUse = reportsUnattachedUse
    body = report
    if reportsUnattachedUse { Self.someReportUnattachedUse.store(true, ordering: .relaxed) }
  }

  /// Hands a misuse on to this reporter, for a reporter that is built on another one.
  ///
  /// - Parameter misuse: What happened.
  public func forward(_ misuse: UDIMisuse) { body(misuse) }

  /// Writes each misuse as a line to standard error.
  public static let standardError = UDIReporter { writeToStandardError("\($0)") }

  /// Reports nothing.
  public static let silent = UDIReporter { _ in }

  /// The reporter of all code that runs outside of ``withReporter(_:operation:)``.
  public static var process: UDIReporter {
    get { lock.withLock { unsafe ofProcess } }
    set {
      // The old one holds a closure of the user's: it leaves the lock before it is released.
      let old = lock.withLock {
        let old = unsafe ofProcess
        unsafe ofProcess = newValue
        return old
      }
      _ = consume old
    }
  }

  /// The reporter that a misuse here and now would go to.
  static var current: UDIReporter { ofTask ?? process }

  /// Whether any reporter was ever made that wants to know of unattached use: else nobody need be asked.
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

/// Runs an operation whose misuse of the library, and that of the tasks it starts, goes to a reporter of its own.
///
/// - Parameters:
///   - reporter: The reporter for the time of the operation.
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

/// Runs an asynchronous operation whose misuse of the library, and that of the tasks it starts, goes to a reporter of its own.
///
/// - Parameters:
///   - reporter: The reporter for the time of the operation.
///   - operation: What to run; it stays on the caller's actor.
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
