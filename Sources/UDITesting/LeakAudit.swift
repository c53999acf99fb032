public import Testing
public import UDI

/// Fails a test for each object and each context that outlives it. `.leakAudit` makes this trait.
public struct LeakAuditTrait: TestTrait, SuiteTrait, TestScoping {
  private let ignored: [AnyClass]
  /// True, because the trait audits each test of a suite, not the suite.
  public var isRecursive: Bool { true }

  fileprivate init(ignoring ignored: [AnyClass]) { self.ignored = ignored }

  /// Runs a test in the `AppContext` that it has, or else in one of its own, and records what outlives the test.
  ///
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: The case of a parameterised test.
  ///   - function: Runs the test.
  /// - Throws: What the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await expectNoLeaks(ignoring: ignored, sourceLocation: test.sourceLocation) { try await function() }
  }
}

extension Trait where Self == LeakAuditTrait {
  /// Fails a test for each object that outlives it, if the object was bound or attached during the test, or made for a
  /// context. Also fails the test for each context that was made during the test and outlives it.
  ///
  /// ```swift
  /// @Test(.leakAudit) func screenGoesWithItsContext() { … }
  /// ```
  ///
  /// The test runs in the `AppContext` that an outer trait has prepared, or else in one of its own, with a reporter of
  /// its own. Traits apply from left to right, a suite's before its test's. After `.ownAppContext`, the audit begins
  /// when the context has been prepared. Contexts that are in its tree at the end, and what these own, do not count as
  /// leaks. Before `.ownAppContext`, the audit makes the context, and looks when the context is gone. Then what the
  /// context owned must be gone, too.
  public static var leakAudit: Self { LeakAuditTrait(ignoring: []) }

  /// Does the same as `.leakAudit`, but lets instances of some classes live on, for example instances that all tests
  /// share.
  ///
  /// The contexts that such an instance is attached to may live on, too, and so may what these own. `UDIContext.self`
  /// ignores all contexts.
  ///
  /// - Parameter ignored: The classes whose instances may live on.
  /// - Returns: The trait.
  public static func leakAudit(ignoring ignored: AnyClass...) -> Self { LeakAuditTrait(ignoring: ignored) }
}

/// Runs an operation, and fails the test for each object and each context that outlives it. Does what the trait
/// `.leakAudit` does, for a part of a test.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on.
///   - sourceLocation: Where to record the issues.
///   - operation: What to run.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func expectNoLeaks(
  ignoring ignored: [AnyClass] = [], sourceLocation: SourceLocation = #_sourceLocation,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows {
  record(try await leaks(ignoring: ignored) { try await operation() }, at: sourceLocation)
}

/// Runs a synchronous operation, and fails the test for each object and each context that outlives it.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on.
///   - sourceLocation: Where to record the issues.
///   - operation: What to run.
/// - Throws: What `operation` throws.
public func expectNoLeaks(
  ignoring ignored: [AnyClass] = [], sourceLocation: SourceLocation = #_sourceLocation,
  during operation: () throws -> Void
) rethrows {
  record(try leaks(ignoring: ignored) { try operation() }, at: sourceLocation)
}

private func record(_ leaks: [UDILeak], at sourceLocation: SourceLocation) {
  for leak in leaks { Issue.record("\(leak)", sourceLocation: sourceLocation) }
}

/// Runs an operation, and finds what outlives it. Does what the trait `.leakAudit` does, for other test libraries.
///
/// The audit notes which objects are bound or attached, which objects contexts come to own, and which contexts are
/// made. It does so below `AppContext`, and wherever else the operation's task does these things. What was there before
/// the operation does not count.
///
/// If `AppContext` was set for the task, by `.ownAppContext`, ``withOwnAppContext(onMisuse:operation:)`` or
/// `withAppContext`, the operation uses that context. Contexts that are in its tree at the end, and what these own, do
/// not count. Otherwise the operation gets an `AppContext` of its own, which is gone when the audit looks. Then what
/// this context owned counts. So does the context itself, if it is still alive, unless a task that still runs has it.
///
/// The audit gives tasks that are ending a moment to release what they hold. It does not report what another audit
/// inside the operation has reported or was told to ignore.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on, and with them the contexts that they are attached to.
///   - onMisuse: Called for each misuse of the library. By default it becomes an issue of the test.
///   - operation: What to run.
/// - Returns: What is still alive, each object once. A context is left out if one of these objects is attached to it,
///   or if it is below another context that is still alive.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func leaks(
  ignoring ignored: [AnyClass] = [], onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows -> [UDILeak] {
  let audit = makeAudit(ignoring: ignored)
  try await withContext(hasAppContextOfTask ? AppContext : nil, onMisuse: onMisuse) { context, own in
    try await audit.watch(context, madeWith: own, operation: operation)
  }
  // Tasks that are ending get a moment to release what they hold, and another moment each time that fewer survivors are
  // left.
  var count = audit.countOfSurvivors()
  var deadline = ContinuousClock.now + patience
  var turns = 0
  // The deadline alone is not enough: if other tests keep all threads busy, those tasks get their turns no more often
  // than this one.
  while count > 0, ContinuousClock.now < deadline || turns < 200 {
    try? await Task.sleep(for: .milliseconds(1))
    // The audit holds the objects that it checks, and releases some of them on the main actor, which may be busy.
    // Waiting for a turn there keeps the audit from reporting those objects.
    await Task { @MainActor in }.value
    turns += 1
    let left = audit.countOfSurvivors()
    if left < count { deadline = ContinuousClock.now + patience }
    count = left
  }
  return audit.survivors { UDILeak($0) }
}

/// Runs a synchronous operation, and finds what outlives it.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on, and with them the contexts that they are attached to.
///   - onMisuse: Called for each misuse of the library. By default it becomes an issue of the test.
///   - operation: What to run.
/// - Returns: What is still alive, each object once.
/// - Throws: What `operation` throws.
public func leaks(
  ignoring ignored: [AnyClass] = [], onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue,
  during operation: () throws -> Void
) rethrows -> [UDILeak] {
  let audit = makeAudit(ignoring: ignored)
  try withContext(hasAppContextOfTask ? AppContext : nil, onMisuse: onMisuse) { context, own in
    try audit.watch(context, madeWith: own, operation: operation)
  }
  return audit.survivors { UDILeak($0) }
}

/// Makes an audit, and decides what it ignores.
private func makeAudit(ignoring ignored: [AnyClass]) -> BindingAudit {
  BindingAudit { subject in ignored.contains { subject.isInstance(of: $0) } }
}

/// How long a task that is ending may still hold an object.
private var patience: Duration { .milliseconds(200) }
