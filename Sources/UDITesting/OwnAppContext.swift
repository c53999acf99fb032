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
  try await withOwnContext(onMisuse: onMisuse) { _ in try await operation() }
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
  try withOwnContext(onMisuse: onMisuse) { _ in try operation() }
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

/// Runs a synchronous operation with an `AppContext` and a reporter of its own.
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
