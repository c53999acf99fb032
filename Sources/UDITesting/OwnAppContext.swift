public import Testing
public import UDI

/// Gives each test an `AppContext` and a reporter of its own: what `.ownAppContext` makes.
///
/// A test gets one context. Where several such traits apply to it, of its suites and its own, or `.leakAudit` comes
/// first, all of them use the context of the outermost one.
public struct OwnAppContextTrait: TestTrait, SuiteTrait, TestScoping {
  private let setUp: @Sendable (UDIContext) async throws -> Void
  /// Each test of a suite gets one, not the suite.
  public var isRecursive: Bool { true }

  fileprivate init(_ setUp: @escaping @Sendable (UDIContext) async throws -> Void) { self.setUp = setUp }

  /// Runs a test with an `AppContext` of its own.
  ///
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: Its case.
  ///   - function: Runs it.
  /// - Throws: What the test, or the trait's block, throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    if OwnContext.isThat(of: test) {
      try await withReporter(UDIReporter(recordAsIssue)) {
        try await setUp(AppContext)
        try await function()
      }
    } else {
      try await withOwnContext(onMisuse: recordAsIssue) { own in
        try await setUp(own.context)
        try await function()
      }
    }
  }
}

extension Trait where Self == OwnAppContextTrait {
  /// Gives each test an `AppContext` and a reporter of its own: tests can run in parallel and bind the same keys, and
  /// misuse of the library is recorded as an issue.
  ///
  /// ```swift
  /// @Suite(.ownAppContext) struct CheckoutTests { … }
  /// ```
  public static var ownAppContext: Self { OwnAppContextTrait { _ in } }

  /// Gives each test an `AppContext` and a reporter of its own, and prepares the context.
  ///
  /// Where a suite and its test have a block each, both prepare the same context, the suite's block first.
  ///
  /// - Parameter setUp: Run before each test with its `AppContext`: registers what all of them need.
  /// - Returns: The trait.
  public static func ownAppContext(_ setUp: @escaping @Sendable (UDIContext) async throws -> Void) -> Self {
    OwnAppContextTrait(setUp)
  }
}

/// Runs an operation with an `AppContext` and a reporter of its own: what the trait `.ownAppContext` does, for other
/// test libraries.
///
/// - Parameters:
///   - onMisuse: Called for each misuse of the library. By default it becomes an issue of the test.
///   - operation: What to run.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func withOwnAppContext<Result>(
  onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue,
  operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  try await withOwnContext(onMisuse: onMisuse) { _ in try await operation() }
}

/// Runs an operation that is not asynchronous with an `AppContext` and a reporter of its own.
///
/// - Parameters:
///   - onMisuse: Called for each misuse of the library. By default it becomes an issue of the test.
///   - operation: What to run.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
public func withOwnAppContext<Result>(
  onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue, operation: () throws -> Result
) rethrows -> Result {
  try withOwnContext(onMisuse: onMisuse) { _ in try operation() }
}

// MARK: - The context that a test has got

/// An `AppContext` that was made for a test, or for a part of one.
final class OwnContext: Sendable {
  let context = UDIContext(tag: "App")
  private let test = Test.current?.id

  /// The one of the task. It is bound twice, around the binding of the task's `AppContext` and inside of it. Tasks copy
  /// all three and release them in an unspecified order. So when this object is gone no task holds the context any
  /// more.
  @TaskLocal fileprivate static var around: OwnContext?
  @TaskLocal fileprivate static var inside: OwnContext?

  /// Whether `AppContext` was made by another trait of the same test.
  static func isThat(of test: Test) -> Bool {
    guard let inside else { return false }
    return inside.test == test.id && inside.context == AppContext
  }
}

/// Runs an operation with an `AppContext` and a reporter of its own.
nonisolated(nonsending) func withOwnContext<Result>(
  onMisuse: @escaping @Sendable (UDIMisuse) -> Void,
  operation: nonisolated(nonsending) (OwnContext) async throws -> Result
) async rethrows -> Result {
  let own = OwnContext()
  return try await OwnContext.$around.withValue(own) {
    try await withReporter(UDIReporter(onMisuse)) {
      try await withAppContext(own.context) {
        try await OwnContext.$inside.withValue(own) { try await operation(own) }
      }
    }
  }
}

/// Runs an operation that is not asynchronous with an `AppContext` and a reporter of its own.
func withOwnContext<Result>(
  onMisuse: @escaping @Sendable (UDIMisuse) -> Void, operation: (OwnContext) throws -> Result
) rethrows -> Result {
  let own = OwnContext()
  return try OwnContext.$around.withValue(own) {
    try withReporter(UDIReporter(onMisuse)) {
      try withAppContext(own.context) {
        try OwnContext.$inside.withValue(own) { try operation(own) }
      }
    }
  }
}
