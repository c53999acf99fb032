import Synchronization
import Testing
import UDI

/// Receives the reports of misuse while a test's code runs, and closes the test's context afterwards. Passes the
/// reports on, but some wait until the code has ended:
///
/// - If they become issues, those of a service's operation. It has the test's reporter but no task-local values, so an
///   issue that it recorded would be that of an unknown test.
/// - That an operation has failed. If the context is then closed, closing gives the error.
///
/// What is reported still later, because a task holds the tree, is passed on at once, and may be an issue of no test.
final class ReportsOfTest: Sendable {
  private let onMisuse: @Sendable (UDIMisuse) -> Void
  private let recordsIssues: Bool
  private let patience: Duration
  /// The reports that wait; nil when the code has ended.
  private let waiting = Mutex<[UDIMisuse]?>([])

  /// - Parameters:
  ///   - onMisuse: Called for each misuse; nil to record issues.
  ///   - patience: How long closing a context may take.
  init(_ onMisuse: (@Sendable (UDIMisuse) -> Void)?, patience: Duration = .seconds(60)) {
    self.patience = patience
    self.onMisuse = onMisuse ?? recordAsIssue
    recordsIssues = onMisuse == nil && Test.current != nil
  }

  /// The reports that have become warnings.
  private static let warned = Mutex<Set<UDIMisuse>>([])

  var reporter: UDIReporter {
    UDIReporter(reportsUnattachedUse: recordsIssues) { [self] misuse in
      if misuse.kind == .unattached { return Self.warn(of: misuse) }
      if !wait(misuse) { onMisuse(misuse) }
    }
  }

  /// Warns that somebody may have forgotten to attach an object, once for each line. If the tree has only one context,
  /// it makes no difference, so there is no warning.
  private static func warn(of misuse: UDIMisuse) {
    guard !AppContext.children.isEmpty, warned.withLock({ $0.insert(misuse).inserted }) else { return }
    Issue.record("\(misuse.message)", severity: .warning, sourceLocation: location(misuse.fileID, misuse.line))
  }

  /// Lets a report wait, if it has to. Equal reports wait only once.
  private func wait(_ misuse: UDIMisuse) -> Bool {
    let hasToWait = misuse.kind == .operationFailed || recordsIssues && Test.current == nil
    return waiting.withLock { waiting in
      guard hasToWait, let earlier = waiting else { return false }
      if !earlier.contains(misuse) { waiting = earlier + [misuse] }
      return true
    }
  }

  /// Runs the test's code in a context.
  ///
  /// - Parameter closes: Whether to close the context afterwards, if something there has to be closed.
  nonisolated(nonsending) func collect<Result>(
    in context: UDIContext, closes: Bool = false, _ operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    do {
      let result = try await operation()
      await finish(context, closes)
      return result
    } catch {
      await finish(context, closes)
      throw error
    }
  }

  nonisolated(nonsending) private func finish(_ context: UDIContext, _ closes: Bool) async {
    let (isEnding, isOpen) = context.change { node, _ in (node.isEnding, node.branch.contains(where: \.hasOpenEnds)) }
    var error: UDICloseError?
    // If nothing is open, the context stays as it is, so that an audit finds what keeps it alive.
    if closes, isOpen {
      error = await context.closeCollectingErrors(.closed(), Limit(patience, ContinuousClock()))
      error?.report()
    }
    // Whoever has closed the context has got what had failed.
    let sites = error?.failures.map { "\($0.fileID ?? ""):\($0.line ?? 0)" } ?? []
    waiting.withLock { waiting in
      waiting?.removeAll { $0.kind == .operationFailed && (isEnding || sites.contains("\($0.fileID):\($0.line)")) }
    }
  }

  /// Passes on the reports that have waited.
  func end() {
    for misuse in waiting.withLock({ $0.take() }) ?? [] { onMisuse(misuse) }
  }
}
