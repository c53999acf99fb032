public import Testing
public import UDI

/// A trait that fails a test for each object and each context that outlives the test, unless only another one of them
/// holds it.
///
/// To use this trait, write `.leakAudit`.
public struct LeakAuditTrait: TestTrait, SuiteTrait, TestScoping {
  fileprivate let ignored: [AnyClass]
  /// True, so that each test of a suite is audited separately.
  public var isRecursive: Bool { true }

  /// Runs a test in its `AppContext`, or in a new one if it does not have its own, and records each object and context
  /// that outlives the test.
  ///
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: The case of a parameterised test.
  ///   - function: Runs the test.
  /// - Throws: The error that the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await expectNoLeaks(ignoring: ignored, sourceLocation: test.sourceLocation) {
      try await TreeAttachment.attaching(AppContext, to: test, testCase, performing: function)
    }
  }
}

extension Trait where Self == LeakAuditTrait {
  /// A trait that fails a test for each object and each context that outlives the test.
  ///
  /// The audit covers contexts that were made during the test, and objects that were bound, attached, or made for a
  /// context during the test.
  ///
  /// ```swift
  /// @Test(.leakAudit) func screenGoesWithItsContext() { … }
  /// ```
  ///
  /// The test gets its own reporter. Traits apply from left to right, a suite's before its test's:
  ///
  /// - If `.ownAppContext` applies before this trait, the audit begins after the context has been prepared. Contexts
  ///   that are in its tree at the end of the test are not leaks, nor are the objects that they own.
  /// - If this trait applies first, or alone, the test runs in an `AppContext` that the audit makes. The audit looks
  ///   for leaks after this context is gone. By then, all objects that the context owned must be gone, too.
  public static var leakAudit: Self { LeakAuditTrait(ignored: []) }

  /// Returns a trait like `.leakAudit` that allows objects of some classes to outlive the test.
  ///
  /// Use it, for example, for objects that all tests share.
  ///
  /// The contexts that such an object is attached to may also outlive the test, and so may the objects that these
  /// contexts own. If `UDIContext.self` is one of the classes, all contexts may outlive the test.
  ///
  /// - Parameter ignored: The classes whose objects may outlive the test.
  /// - Returns: The trait.
  public static func leakAudit(ignoring ignored: AnyClass...) -> Self { LeakAuditTrait(ignored: ignored) }
}

/// Runs an operation, and fails the test for each object and each context that outlives the operation.
///
/// To audit only a part of a test, use this function instead of the trait `.leakAudit`.
///
/// - Parameters:
///   - ignored: The classes whose objects may outlive the operation.
///   - sourceLocation: The place at which the issues are recorded.
///   - operation: The operation to run.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func expectNoLeaks(
  ignoring ignored: [AnyClass] = [], sourceLocation: SourceLocation = #_sourceLocation,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows {
  record(try await leaks(ignoring: ignored) { try await operation() }, at: sourceLocation)
}

/// Runs a synchronous operation, and fails the test for each object and each context that outlives the operation.
///
/// In an asynchronous function, the compiler chooses the asynchronous form, even if the operation awaits nothing.
///
/// - Parameters:
///   - ignored: The classes whose objects may outlive the operation.
///   - sourceLocation: The place at which the issues are recorded.
///   - operation: The operation to run.
/// - Throws: The error that `operation` throws.
@_disfavoredOverload
public func expectNoLeaks(
  ignoring ignored: [AnyClass] = [], sourceLocation: SourceLocation = #_sourceLocation,
  during operation: () throws -> Void
) rethrows {
  record(try leaks(ignoring: ignored) { try operation() }, at: sourceLocation)
}

private func record(_ leaks: [UDILeak], at sourceLocation: SourceLocation) {
  for leak in leaks { Issue.record("\(leak)", sourceLocation: sourceLocation) }
}

/// Runs an operation, and returns the objects and contexts that outlive it.
///
/// With test libraries other than Swift Testing, use this function instead of the trait `.leakAudit`.
///
/// The audit watches which objects are bound or attached, or come to be owned by a context, and which contexts are
/// made. In the tree of `AppContext`, it watches what all tasks do. In other trees, it watches only the operation's
/// task and the tasks that it starts. Objects and contexts that existed before the operation do not count.
///
/// The operation's task may already have its own `AppContext`, set by `.ownAppContext`,
/// ``withOwnAppContext(onMisuse:operation:)`` or `withAppContext`. In this case, the operation uses that context.
/// Contexts that are in its tree at the end are not reported, nor are the objects that they own.
///
/// Otherwise the operation gets a new `AppContext`, which should be gone when the audit looks for survivors. If
/// something there has to be closed, it is closed first; the audit watches this, too. Objects that the context owned
/// are reported if they are still alive. The context itself is reported, too, if it is still alive. But if a task that
/// has not ended holds it, it is reported only if it keeps one of these objects alive.
///
/// The audit waits a moment for tasks that are ending to release the objects that they hold. If another audit runs
/// inside the operation, this audit leaves out what the inner one has reported or ignored.
///
/// - Parameters:
///   - ignored: The classes whose objects may outlive the operation. So may the contexts that these objects are
///     attached to.
///   - onMisuse: Called for each misuse of the library. If nil, the misuse is recorded as an issue of the test, unless
///     the test's own context was made with another `onMisuse`, which is then called.
///   - operation: The operation to run.
/// - Returns: The objects and contexts that are still alive, except for those that only another one of them holds:
///   these are in its ``UDILeak/held``. Those that something alive holds come first. A context is left out if one of
///   these objects is attached to it, or if a context above it is still alive as well.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func leaks(
  ignoring ignored: [AnyClass] = [], onMisuse: (@Sendable (UDIMisuse) -> Void)? = nil,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows -> [UDILeak] {
  let audit = BindingAudit(ignoring: ignored)
  try await withContext(hasAppContextOfTask ? AppContext : nil, onMisuse: onMisuse, audit: audit) { _ in
    try await operation()
  }
  await settle { audit.countOfSurvivors() }
  return audit.survivors(describe)
}

/// Runs a synchronous operation, and returns the objects and contexts that outlive it.
///
/// In an asynchronous function, the compiler chooses the asynchronous form, even if the operation awaits nothing. This
/// form closes nothing, and does not wait for tasks that are ending.
///
/// - Parameters:
///   - ignored: The classes whose objects may outlive the operation. So may the contexts that these objects are
///     attached to.
///   - onMisuse: Called for each misuse of the library. If nil, the misuse is recorded as an issue of the test, unless
///     the test's own context was made with another `onMisuse`, which is then called.
///   - operation: The operation to run.
/// - Returns: The objects and contexts that are still alive, except for those that only another one of them holds.
/// - Throws: The error that `operation` throws.
@_disfavoredOverload
public func leaks(
  ignoring ignored: [AnyClass] = [], onMisuse: (@Sendable (UDIMisuse) -> Void)? = nil,
  during operation: () throws -> Void
) rethrows -> [UDILeak] {
  let audit = BindingAudit(ignoring: ignored)
  try withContext(hasAppContextOfTask ? AppContext : nil, onMisuse: onMisuse) { context, own in
    try audit.watch(context, madeWith: own, operation: operation)
  }
  return audit.survivors(describe)
}

/// Describes objects that have leaked, each cause once.
///
/// - Parameters:
///   - leaked: The objects, which are alive during the call.
///   - known: Other objects, from which references may lead to the leaked ones.
private func describe(_ leaked: [BindingAudit.Subject], _ known: [AnyObject]) -> [UDILeak] {
  if leaked.isEmpty { return [] }
  let objects = leaked.compactMap(\.object)
  var traces = LeakTraces(to: objects, from: known)
  return traces.causes().compactMap { position, held in
    if leaked[position].isHeldByTasks, held.isEmpty { return nil }
    let held = held.map { leaked[$0] }.filter { !$0.isHeldByTasks }.map { UDILeak($0) }
    return UDILeak(leaked[position], trace: traces.trace(of: objects[position]), held: held)
  }
}

/// Waits a moment, so that tasks that are ending can release the objects that they hold. The wait begins again whenever
/// the number of objects has fallen.
///
/// - Parameter count: Returns how many objects are left.
nonisolated(nonsending) func settle(_ count: () -> Int) async {
  var left = count()
  var deadline = ContinuousClock.now + patience
  var turns = 0
  // The deadline alone is not enough: if other tests keep all threads busy, the ending tasks run no more often than
  // this loop. The loop therefore also makes a minimum number of turns.
  while left > 0, ContinuousClock.now < deadline || turns < 200 {
    try? await Task.sleep(for: .milliseconds(1))
    // To check objects, an audit holds them for a moment. It releases some of them on the main actor, which may be
    // busy. The next line waits for these releases, because otherwise the audit would count objects that only the audit
    // itself holds.
    await Task { @MainActor in }.value
    turns += 1
    let now = count()
    if now < left { deadline = ContinuousClock.now + patience }
    left = now
  }
}

/// How long to wait for tasks that are ending and may still hold objects.
private var patience: Duration { .milliseconds(200) }
