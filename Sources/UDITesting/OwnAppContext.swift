public import Testing
public import UDI

/// A trait that gives each test its own `AppContext` and its own reporter.
///
/// To use this trait, write `.ownAppContext`.
///
/// When the test records its first issue, or throws, the text of its tree is attached to the test as `AppContext.txt`.
/// `swift test --attachments-path DIRECTORY` saves attachments.
///
/// A test gets only one context. If several such traits apply to the test, for example its own and its suite's, all of
/// them use the context of the outermost one. If an audit by `.leakAudit` encloses all of them, they use the audit's
/// context.
public struct OwnAppContextTrait: TestTrait, SuiteTrait, TestScoping {
  fileprivate let setUp: @Sendable (UDIContext) async throws -> Void
  /// True, so that each test of a suite gets its own context.
  public var isRecursive: Bool { true }

  /// Runs a test with its own `AppContext`.
  ///
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: The case of a parameterised test.
  ///   - function: Runs the test.
  /// - Throws: The error that the test, or the trait's block, throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let present = OwnContext.isThat(of: test) ? AppContext : nil
    try await withContext(present, onMisuse: nil) { context in
      try await TreeAttachment.attaching(context, to: test, testCase) {
        // What the block prepares, the test may replace.
        context.noteSetUp(isRunning: true)
        try await setUp(context)
        context.noteSetUp(isRunning: false)
        try await function()
      }
    }
  }
}

extension Trait where Self == OwnAppContextTrait {
  /// A trait that gives each test its own `AppContext` and its own reporter.
  ///
  /// So tests can run in parallel and bind under the same keys. Each misuse of the library during the test is recorded
  /// as an issue of the test.
  ///
  /// Misuse by the operation of a service (`running`), and by code that follows a dependency (`follow`, `@Followed`),
  /// is recorded when the test has run. Each such misuse is recorded only once. Such code lacks the test's task-local
  /// values, so until then Swift Testing could not know to which test the issue belongs. Misuse by any other detached
  /// task is reported to the process's reporter.
  ///
  /// ```swift
  /// @Suite(.ownAppContext) struct CheckoutTests { … }
  /// ```
  ///
  /// If something in the context has to be closed, the context is closed after the test. An error during closing is an
  /// issue of the test. If closing takes longer than a minute, whatever it waits for is cancelled and left behind,
  /// which is an issue, too. Then the context is released.
  public static var ownAppContext: Self { OwnAppContextTrait { _ in } }

  /// Returns a trait that gives each test its own `AppContext` and its own reporter, and prepares the context.
  ///
  /// If both a suite and its test have a block, the blocks prepare the same context, the suite's block first.
  ///
  /// - Parameter setUp: Called before each test, with the test's `AppContext`. Register in it the dependencies that all
  ///   tests need.
  /// - Returns: The trait.
  public static func ownAppContext(_ setUp: @escaping @Sendable (UDIContext) async throws -> Void) -> Self {
    OwnAppContextTrait(setUp: setUp)
  }
}

/// Runs an operation with its own `AppContext` and its own reporter.
///
/// With test libraries other than Swift Testing, use this function instead of the trait `.ownAppContext`.
///
/// If something in the context has to be closed, the context is closed after the operation. An error during closing is
/// a misuse (`UDIMisuse.Kind.closingFailed`). If closing takes longer than a minute, whatever it waits for is
/// cancelled and left behind, which is a misuse, too. Then the context is released.
///
/// - Parameters:
///   - onMisuse: Called for each misuse of the library. If a service's operation has failed, it is called at the end,
///     unless closing gives the error. If nil, the misuse is recorded as an issue of the test.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func withOwnAppContext<Result>(
  onMisuse: (@Sendable (UDIMisuse) -> Void)? = nil,
  operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  try await withContext(nil, onMisuse: onMisuse) { _ in try await operation() }
}

/// Runs a synchronous operation with its own `AppContext` and its own reporter.
///
/// The context is released after the operation. This form cannot wait until the context has been closed: if something
/// that has an `onClose` is dropped, that is a misuse. Where something has to be closed, use the asynchronous form. In
/// an asynchronous function, the compiler chooses that form, even if the operation awaits nothing.
///
/// - Parameters:
///   - onMisuse: Called for each misuse of the library. If a service's operation has failed, it is called at the end.
///     If nil, the misuse is recorded as an issue of the test.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
@_disfavoredOverload
public func withOwnAppContext<Result>(
  onMisuse: (@Sendable (UDIMisuse) -> Void)? = nil, operation: () throws -> Result
) rethrows -> Result {
  try withContext(nil, onMisuse: onMisuse) { _, _ in try operation() }
}

// MARK: - The context of a test

/// An `AppContext` that was made for a test, or for a part of a test.
final class OwnContext: Sendable {
  let context = UDIContext(tag: "App")
  private let test = Test.current?.id

  /// The task's `OwnContext`, stored in two task-local values: one is set before the task's `AppContext`, and one after
  /// it. A task copies all three values, and may release them in this order or in the reverse order. Since both the
  /// first and the last value refer to this object, a task that still holds the context also holds this object.
  @TaskLocal fileprivate static var around: OwnContext?
  @TaskLocal fileprivate static var inside: OwnContext?

  /// Whether another trait of the same test has made the current `AppContext`.
  static func isThat(of test: Test) -> Bool { inside?.test == test.id && inside?.context == AppContext }
}

/// Runs an operation in the given `AppContext` or, if none is given, in a new one, which is closed afterwards if
/// something there has to be closed. The operation gets its own reporter, unless the context is that of the test: then
/// it uses the test's.
///
/// - Parameters:
///   - audit: Watches the operation and the closing.
///   - operation: Called with the `AppContext`.
nonisolated(nonsending) func withContext<Result>(
  _ present: UDIContext?, onMisuse: (@Sendable (UDIMisuse) -> Void)?, audit: BindingAudit? = nil,
  operation: nonisolated(nonsending) (UDIContext) async throws -> Result
) async rethrows -> Result {
  if let present, onMisuse == nil, OwnContext.inside?.context == present {
    return try await watch(present, by: audit) { try await operation(present) }
  }
  let reports = ReportsOfTest(onMisuse)
  defer { reports.end() }
  return try await withReporter(reports.reporter) {
    if let present {
      return try await watch(present, by: audit) {
        try await reports.collect(in: present) { try await operation(present) }
      }
    }
    // The context is made in this block and ends in it, so that what is reported meanwhile gets to this operation's
    // reporter. The context ends on the main actor, because objects of the main actor that the context owns are
    // released at once there, with all that they hold.
    let own = OwnContext()
    do {
      let result = try await OwnContext.$around.withValue(own) {
        try await withAppContext(own.context) {
          try await OwnContext.$inside.withValue(own) {
            try await watch(own.context, madeWith: own, by: audit) {
              try await reports.collect(in: own.context, closes: true) { try await operation(own.context) }
            }
          }
        }
      }
      await releaseOnMainActor(consume own)
      return result
    } catch {
      await releaseOnMainActor(consume own)
      throw error
    }
  }
}

@MainActor private func releaseOnMainActor(_ own: consuming OwnContext) async {}

nonisolated(nonsending) private func watch<Result>(
  _ context: UDIContext, madeWith own: OwnContext? = nil, by audit: BindingAudit?,
  _ operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  guard let audit else { return try await operation() }
  return try await audit.watch(context, madeWith: own, operation: operation)
}

/// Runs a synchronous operation in the given `AppContext` or, if none is given, in a new one, as the asynchronous form
/// does. Closes nothing.
///
/// - Parameter operation: Called with the `AppContext` and, if that is new, with an object that is alive as long as any
///   task holds the context.
func withContext<Result>(
  _ present: UDIContext?, onMisuse: (@Sendable (UDIMisuse) -> Void)?,
  operation: (UDIContext, OwnContext?) throws -> Result
) rethrows -> Result {
  if let present, onMisuse == nil, OwnContext.inside?.context == present { return try operation(present, nil) }
  let reports = ReportsOfTest(onMisuse)
  defer { reports.end() }
  return try withReporter(reports.reporter) {
    if let present { return try operation(present, nil) }
    // As in the asynchronous form, the context dies in here.
    let own = OwnContext()
    return try OwnContext.$around.withValue(own) {
      try withAppContext(own.context) {
        try OwnContext.$inside.withValue(own) { try operation(own.context, own) }
      }
    }
  }
}
