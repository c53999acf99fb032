public import Testing
public import UDI

/// Gives each test an `AppContext` and a reporter of its own: what `.ownAppContext` makes.
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
    try await withOwnAppContext {
      try await setUp(AppContext)
      try await function()
    }
  }
}

extension Trait where Self == OwnAppContextTrait {
  /// Gives each test an `AppContext` and a reporter of its own: tests can run in parallel and bind the same keys, and misuse of the library
  /// is recorded as an issue.
  ///
  /// ```swift
  /// @Suite(.ownAppContext) struct CheckoutTests { … }
  /// ```
  public static var ownAppContext: Self { OwnAppContextTrait { _ in } }

  /// Gives each test an `AppContext` and a reporter of its own, and prepares the context.
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
  try await withReporter(UDIReporter(onMisuse)) {
    try await withAppContext(UDIContext(tag: "App")) { try await operation() }
  }
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
  try withReporter(UDIReporter(onMisuse)) {
    try withAppContext(UDIContext(tag: "App")) { try operation() }
  }
}
