public import Testing
public import UDI

/// Gives each test an `AppContext` and a reporter of its own. `.ownAppContext` makes this trait.
///
/// A test gets one context. If several such traits apply to it, its own and those of its suites, or if `.leakAudit`
/// comes first, all of them use the context of the outermost trait.
public struct OwnAppContextTrait: TestTrait, SuiteTrait, TestScoping {
  private let setUp: @Sendable (UDIContext) async throws -> Void
  /// True, because each test of a suite gets a context, not the suite.
  public var isRecursive: Bool { true }

  fileprivate init(_ setUp: @escaping @Sendable (UDIContext) async throws -> Void) { self.setUp = setUp }

  /// Runs a test with an `AppContext` of its own.
  ///
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: The case of a parameterised test.
  ///   - function: Runs the test.
  /// - Throws: What the test, or the trait's block, throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let present = OwnContext.isThat(of: test) ? AppContext : nil
    try await withContext(present, onMisuse: recordAsIssue) { context, _ in
      try await setUp(context)
      try await function()
    }
  }
}

extension Trait where Self == OwnAppContextTrait {
  /// Gives each test an `AppContext` and a reporter of its own. Tests can run in parallel and bind the same keys, and a
  /// misuse of the library is recorded as an issue.
  ///
  /// ```swift
  /// @Suite(.ownAppContext) struct CheckoutTests { … }
  /// ```
  public static var ownAppContext: Self { OwnAppContextTrait { _ in } }

  /// Gives each test an `AppContext` and a reporter of its own, and prepares the context.
  ///
  /// If a suite and its test both have a block, both blocks prepare the same context, the suite's first.
  ///
  /// - Parameter setUp: Runs before each test, with the test's `AppContext`. Register here what all tests need.
  /// - Returns: The trait.
  public static func ownAppContext(_ setUp: @escaping @Sendable (UDIContext) async throws -> Void) -> Self {
    OwnAppContextTrait(setUp)
  }
}

/// Runs an operation with an `AppContext` and a reporter of its own. Does what the trait `.ownAppContext` does, for
/// other test libraries.
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
  try await withContext(nil, onMisuse: onMisuse) { _, _ in try await operation() }
}

/// Runs a synchronous operation with an `AppContext` and a reporter of its own.
///
/// - Parameters:
///   - onMisuse: Called for each misuse of the library. By default it becomes an issue of the test.
///   - operation: What to run.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
public func withOwnAppContext<Result>(
  onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue, operation: () throws -> Result
) rethrows -> Result {
  try withContext(nil, onMisuse: onMisuse) { _, _ in try operation() }
}

// MARK: - The context that a test has got

/// An `AppContext` that was made for a test, or for a part of a test.
final class OwnContext: Sendable {
  let context = UDIContext(tag: "App")
  private let test = Test.current?.id

  /// The task's `OwnContext`, bound twice: outside the binding of the task's `AppContext`, and inside it. A task copies
  /// all three bindings and releases them in an unspecified order. So when this object is gone, no task holds the
  /// context any more.
  @TaskLocal fileprivate static var around: OwnContext?
  @TaskLocal fileprivate static var inside: OwnContext?

  /// Whether another trait of the same test made the `AppContext`.
  static func isThat(of test: Test) -> Bool {
    guard let inside else { return false }
    return inside.test == test.id && inside.context == AppContext
  }
}

/// Runs an operation with a reporter of its own, in a given `AppContext`, or else in one of its own.
///
/// - Parameter operation: Receives the `AppContext` and, if it is its own, what is alive while tasks hold it.
nonisolated(nonsending) func withContext<Result>(
  _ present: UDIContext?, onMisuse: @escaping @Sendable (UDIMisuse) -> Void,
  operation: nonisolated(nonsending) (UDIContext, OwnContext?) async throws -> Result
) async rethrows -> Result {
  if let present { return try await withReporter(UDIReporter(onMisuse)) { try await operation(present, nil) } }
  let own = OwnContext()
  return try await OwnContext.$around.withValue(own) {
    try await withReporter(UDIReporter(onMisuse)) {
      try await withAppContext(own.context) {
        try await OwnContext.$inside.withValue(own) { try await operation(own.context, own) }
      }
    }
  }
}

/// The same for an operation that is not asynchronous.
func withContext<Result>(
  _ present: UDIContext?, onMisuse: @escaping @Sendable (UDIMisuse) -> Void,
  operation: (UDIContext, OwnContext?) throws -> Result
) rethrows -> Result {
  if let present { return try withReporter(UDIReporter(onMisuse)) { try operation(present, nil) } }
  let own = OwnContext()
  return try OwnContext.$around.withValue(own) {
    try withReporter(UDIReporter(onMisuse)) {
      try withAppContext(own.context) {
        try OwnContext.$inside.withValue(own) { try operation(own.context, own) }
      }
    }
  }
}
