public import Testing
public import UDI

/// Gives each test an `AppContext` and a reporter of its own. `.ownAppContext` makes this trait.
///
/// When the test records its first issue, or throws, the text of its tree is attached to it as `AppContext.txt`.
/// `swift test --attachments-path DIRECTORY` saves attachments.
///
/// A test gets only one context. If several such traits apply to the test, for example its own and its suite's, all of
/// them use the context of the outermost one. If an audit by `.leakAudit` is outside all of them, they use the audit's
/// context.
public struct OwnAppContextTrait: TestTrait, SuiteTrait, TestScoping {
  private let setUp: @Sendable (UDIContext) async throws -> Void
  /// True: the trait gives a context to each test of a suite, not to the suite as a whole.
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
      try await TreeAttachment.attaching(context, to: test, testCase) {
        try await setUp(context)
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

/// Runs an operation with an `AppContext` and a reporter of its own. Use this instead of the trait `.ownAppContext`
/// with other test libraries.
///
/// - Parameters:
///   - onMisuse: Called for each misuse of the library. By default, the misuse is recorded as an issue of the test.
///   - operation: What to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func withOwnAppContext<Result>(
  onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue,
  operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  try await withContext(nil, onMisuse: onMisuse) { _, _ in try await operation() }
}

/// Runs a synchronous operation with an `AppContext` and a reporter of its own.
///
/// - Parameters:
///   - onMisuse: Called for each misuse of the library. By default, the misuse is recorded as an issue of the test.
///   - operation: What to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
public func withOwnAppContext<Result>(
  onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue, operation: () throws -> Result
) rethrows -> Result {
  try withContext(nil, onMisuse: onMisuse) { _, _ in try operation() }
}

// MARK: - The context of a test

/// An `AppContext` that was made for a test, or for a part of a test.
final class OwnContext: Sendable {
  let context = UDIContext(tag: "App")
  private let test = Test.current?.id

  /// The task's `OwnContext`. It is bound twice: once outside the binding of the task's `AppContext`, and once inside
  /// that binding. A task copies all three bindings, and it is not specified from which end it releases them. Since the
  /// bindings at both ends refer to this object, a task that still has this context also holds this object.
  @TaskLocal fileprivate static var around: OwnContext?
  @TaskLocal fileprivate static var inside: OwnContext?

  /// Whether the present `AppContext` was made by another trait of the same test.
  static func isThat(of test: Test) -> Bool {
    guard let inside else { return false }
    return inside.test == test.id && inside.context == AppContext
  }
}

/// Runs an operation with a reporter of its own, either in the given `AppContext` or, if none is given, in a new one.
///
/// - Parameter operation: Receives the `AppContext`. If the context is new, it also receives an object that is alive
///   for as long as tasks hold the context.
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

/// The same for a synchronous operation.
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
