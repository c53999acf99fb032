public import Testing
public import UDI

/// Fails a test for each object and each context that outlives the test. `.leakAudit` makes this trait.
public struct LeakAuditTrait: TestTrait, SuiteTrait, TestScoping {
  private let ignored: [AnyClass]
  /// True: the trait audits each test of a suite, not the suite as a whole.
  public var isRecursive: Bool { true }

  fileprivate init(ignoring ignored: [AnyClass]) { self.ignored = ignored }

  /// Runs a test in its `AppContext`, or in a new one if it has none of its own, and records what outlives the test.
  ///
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: The case of a parameterised test.
  ///   - function: Runs the test.
  /// - Throws: What the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await expectNoLeaks(ignoring: ignored, sourceLocation: test.sourceLocation) {
      try await TreeAttachment.attaching(AppContext, to: test, testCase, performing: function)
    }
  }
}

extension Trait where Self == LeakAuditTrait {
  /// Fails a test for each object that outlives the test, if the object was bound or attached during the test, or made
  /// for a context. Also fails the test for each context that was made during the test and outlives it.
  ///
  /// ```swift
  /// @Test(.leakAudit) func screenGoesWithItsContext() { … }
  /// ```
  ///
  /// The test gets a reporter of its own. Traits apply from left to right, a suite's before its test's:
  ///
  /// - If `.ownAppContext` applies before this trait, the audit begins when the context has been prepared. Contexts
  ///   that are in its tree at the end of the test are no leaks, nor is what they own.
  /// - If this trait applies first, or alone, the test runs in an `AppContext` that the audit makes. The audit looks
  ///   for leaks after this context is gone. By then, everything that the context owned must also be gone.
  public static var leakAudit: Self { LeakAuditTrait(ignoring: []) }

  /// Does the same as `.leakAudit`, but lets instances of some classes live on, for example instances that all tests
  /// share.
  ///
  /// The contexts that such an instance is attached to may also live on, and so may what these contexts own. If
  /// `UDIContext.self` is one of the classes, all contexts may live on.
  ///
  /// - Parameter ignored: The classes whose instances may live on.
  /// - Returns: The trait.
  public static func leakAudit(ignoring ignored: AnyClass...) -> Self { LeakAuditTrait(ignoring: ignored) }
}

/// Runs an operation, and fails the test for each object and each context that outlives the operation. Use this instead
/// of the trait `.leakAudit` for a part of a test.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on.
///   - sourceLocation: Where to record the issues.
///   - operation: What to run.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func expectNoLeaks(
  ignoring ignored: [AnyClass] = [], sourceLocation: SourceLocation = #_sourceLocation,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows {
  record(try await leaks(ignoring: ignored) { try await operation() }, at: sourceLocation)
}

/// Runs a synchronous operation, and fails the test for each object and each context that outlives the operation.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on.
///   - sourceLocation: Where to record the issues.
///   - operation: What to run.
/// - Throws: The error that `operation` throws.
public func expectNoLeaks(
  ignoring ignored: [AnyClass] = [], sourceLocation: SourceLocation = #_sourceLocation,
  during operation: () throws -> Void
) rethrows {
  record(try leaks(ignoring: ignored) { try operation() }, at: sourceLocation)
}

private func record(_ leaks: [UDILeak], at sourceLocation: SourceLocation) {
  for leak in leaks { Issue.record("\(leak)", sourceLocation: sourceLocation) }
}

/// Runs an operation, and finds what outlives the operation. Use this instead of the trait `.leakAudit` with other test
/// libraries.
///
/// The audit watches which objects are bound, attached, or come to be owned by a context, and which contexts are made.
/// It watches `AppContext` with everything below it, and, in all other trees, what is done by the operation's task and
/// the tasks that it starts. What was there before the operation does not count.
///
/// The operation may already have an `AppContext` for its task, set by `.ownAppContext`,
/// ``withOwnAppContext(onMisuse:operation:)`` or `withAppContext`. Then the operation uses that context. Contexts that
/// are in its tree at the end are not reported, nor is what they own.
///
/// Otherwise the operation gets a new `AppContext`, which should be gone by the time the audit looks for survivors.
/// What that context owned is reported if it is still alive. The context itself is also reported if it is still alive,
/// unless a task that is still running holds it.
///
/// The audit gives tasks that are ending a moment to release what they hold. If another audit runs inside the
/// operation, what that audit has reported or was told to ignore is not reported again.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on. So may the contexts that these instances are attached to.
///   - onMisuse: Called for each misuse of the library. By default, the misuse is recorded as an issue of the test.
///   - operation: What to run.
/// - Returns: What is still alive, each object once. A context is left out if one of these objects is attached to it,
///   or if another context above it is also still alive.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func leaks(
  ignoring ignored: [AnyClass] = [], onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows -> [UDILeak] {
  let audit = makeAudit(ignoring: ignored)
  try await withContext(hasAppContextOfTask ? AppContext : nil, onMisuse: onMisuse) { context, own in
    try await audit.watch(context, madeWith: own, operation: operation)
  }
  await settle { audit.countOfSurvivors() }
  return audit.survivors(describe)
}

/// Runs a synchronous operation, and finds what outlives it.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on. So may the contexts that these instances are attached to.
///   - onMisuse: Called for each misuse of the library. By default, the misuse is recorded as an issue of the test.
///   - operation: What to run.
/// - Returns: What is still alive, each object once.
/// - Throws: The error that `operation` throws.
public func leaks(
  ignoring ignored: [AnyClass] = [], onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue,
  during operation: () throws -> Void
) rethrows -> [UDILeak] {
  let audit = makeAudit(ignoring: ignored)
  try withContext(hasAppContextOfTask ? AppContext : nil, onMisuse: onMisuse) { context, own in
    try audit.watch(context, madeWith: own, operation: operation)
  }
  return audit.survivors(describe)
}

/// Describes leaked objects.
///
/// - Parameter known: Other objects, which may lead to the leaked ones.
private func describe(_ leaked: [BindingAudit.Subject], _ known: [AnyObject]) -> [UDILeak] {
  if leaked.isEmpty { return [] }
  var traces = LeakTraces(to: leaked.compactMap(\.object), from: known)
  return leaked.map { UDILeak($0, trace: $0.object.flatMap { traces.trace(of: $0) }) }
}

/// Makes an audit, and decides what it ignores.
private func makeAudit(ignoring ignored: [AnyClass]) -> BindingAudit {
  BindingAudit { subject in ignored.contains { subject.isInstance(of: $0) } }
}

/// Gives tasks that are ending a moment to release what they hold. Whenever there is less left, they get another
/// moment.
///
/// - Parameter count: How much is left.
nonisolated(nonsending) func settle(_ count: () -> Int) async {
  var left = count()
  var deadline = ContinuousClock.now + patience
  var turns = 0
  // The deadline alone is not enough. If other tests keep all threads busy, the ending tasks run no more often than
  // this loop, so the loop also makes a minimum number of turns.
  while left > 0, ContinuousClock.now < deadline || turns < 200 {
    try? await Task.sleep(for: .milliseconds(1))
    // To check objects, an audit holds them for a moment, and releases some of them on the main actor, which may be
    // busy. The next line waits until those releases have run; otherwise the audit would count objects that only the
    // audit holds.
    await Task { @MainActor in }.value
    turns += 1
    let now = count()
    if now < left { deadline = ContinuousClock.now + patience }
    left = now
  }
}

/// How long to wait for tasks that are ending and may still hold an object.
private var patience: Duration { .milliseconds(200) }
