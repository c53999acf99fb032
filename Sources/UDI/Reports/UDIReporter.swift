/// A closure to which misuse of the library is reported.
///
/// Reports go to the task's reporter if ``withReporter(_:operation:)`` has set one, and otherwise to ``process``, the
/// reporter of the process. Unless it is replaced, the reporter of the process writes to standard error in debug builds
/// of the library, and does nothing in release builds.
///
/// Misuse by a reporter itself, on the thread where it is called, is not reported. A reporter may therefore look up the
/// dependencies that it needs.
///
/// ```swift
/// UDIReporter.process = UDIReporter(reportsUnattachedUse: true) { misuse in
///   logger.warning("\(misuse)")
/// }
/// ```
public struct UDIReporter: Sendable {
  /// Whether the reporter reports that an object uses a verb while it is attached to no context. In a program that
  /// attaches all its objects, such reports show which objects were forgotten.
  package let reportsUnattachedUse: Bool

  private let body: @Sendable (UDIMisuse) -> Void

  /// Makes a reporter.
  ///
  /// - Parameters:
  ///   - reportsUnattachedUse: Whether to report that an object uses a verb while it is attached to no context.
  ///   - report: Called for each misuse, on the thread where it happened, while no lock is held.
  public init(reportsUnattachedUse: Bool = false, _ report: @escaping @Sendable (UDIMisuse) -> Void) {
    (self.reportsUnattachedUse, body) = (reportsUnattachedUse, report)
  }

  /// Passes a misuse on to this reporter. Use this in a reporter that builds on another one.
  ///
  /// - Parameter misuse: The misuse.
  public func forward(_ misuse: UDIMisuse) { body(misuse) }

  /// A reporter that writes each misuse as a line to standard error.
  public static let standardError = UDIReporter { writeToStandardError("\($0)") }

  /// A reporter that does nothing.
  public static let silent = UDIReporter { _ in }

  /// The reporter for all code that runs outside ``withReporter(_:operation:)``.
  public static var process: UDIReporter {
    get { scoped.process }
    set { scoped.process = newValue }
  }

  /// The reporter for misuse by the current code: the task's, or that of the process if the task has none.
  package static var current: UDIReporter { scoped.current }

  /// The task's reporter; nil if it has none.
  static var ofTask: UDIReporter? { scoped.ofTask.get() }

  func report(_ kind: UDIMisuse.Kind, _ message: String, at site: UDICallSite) {
    report(UDIMisuse(kind: kind, message: message, fileID: site.fileID, line: site.line))
  }

  /// Reports a misuse, unless the reporter itself has caused it. Do not call this under a lock.
  func report(_ misuse: UDIMisuse) { ThreadState.here.object.tell(.reporter) { body(misuse) } }

  static let scoped = Scoped(isDebugBuild ? standardError : silent)
}

/// Runs an operation with a reporter.
///
/// Misuse by the operation, and by the tasks that it starts, is reported to this reporter.
///
/// - Parameters:
///   - reporter: Receives the reports while the operation runs. Registrations that are made meanwhile with `onClose` or
///     `running` keep the reporter. It is notified if one of their instances is dropped unclosed by code whose task
///     has no reporter. Code that meanwhile begins to follow a dependency keeps the reporter, too.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
public func withReporter<Result, Failure: Error>(
  _ reporter: UDIReporter, operation: () throws(Failure) -> Result
) throws(Failure) -> Result { try UDIReporter.scoped.with(reporter, operation) }

/// Runs an asynchronous operation with a reporter.
///
/// Misuse by the operation, and by the tasks that it starts, is reported to this reporter.
///
/// - Parameters:
///   - reporter: Receives the reports while the operation runs. Registrations that are made meanwhile with `onClose` or
///     `running` keep the reporter. It is notified if one of their instances is dropped unclosed by code whose task
///     has no reporter. Code that meanwhile begins to follow a dependency keeps the reporter, too.
///   - operation: The operation to run; it stays on the caller's actor.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func withReporter<Result, Failure: Error>(
  _ reporter: UDIReporter, operation: nonisolated(nonsending) () async throws(Failure) -> Result
) async throws(Failure) -> Result { try await UDIReporter.scoped.with(reporter, operation) }
