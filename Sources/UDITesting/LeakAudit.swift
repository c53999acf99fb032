public import Testing
public import UDI

/// Fails a test for each object and each context that outlives it: what `.leakAudit` makes.
public struct LeakAuditTrait: TestTrait, SuiteTrait, TestScoping {
  private let ignored: [AnyClass]
  /// Each test of a suite is audited, not the suite.
  public var isRecursive: Bool { true }

  fileprivate init(ignoring ignored: [AnyClass]) { self.ignored = ignored }

  /// Runs a test, in the `AppContext` that it has or else in one of its own, and records what outlives it.
  ///
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: Its case.
  ///   - function: Runs it.
  /// - Throws: What the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await expectNoLeaks(ignoring: ignored, sourceLocation: test.sourceLocation) { try await function() }
  }
}

extension Trait where Self == LeakAuditTrait {
  /// Fails a test for each object that was bound or attached in it, or made for a context, and for each context that
  /// was made in it, and that is still alive when the test is over.
  ///
  /// ```swift
  /// @Test(.leakAudit) func screenGoesWithItsContext() { … }
  /// ```
  ///
  /// The test has the `AppContext` that an outer trait has prepared, or else one of its own, and a reporter of its own.
  /// Traits apply from left to right, a suite's before its test's. After `.ownAppContext` the audit begins when the
  /// context has been prepared, and contexts that are in its tree at the end, and what these own, are no leaks. Before
  /// `.ownAppContext` the audit makes the context, and looks when that is gone; then what the context owned must be
  /// gone, too.
  public static var leakAudit: Self { LeakAuditTrait(ignoring: []) }

  /// The same, but instances of some classes may live on, for example those that all tests share.
  ///
  /// The contexts that such an instance is attached to may live on, too, and what these own. `UDIContext.self` leaves
  /// out all contexts.
  ///
  /// - Parameter ignored: The classes.
  /// - Returns: The trait.
  public static func leakAudit(ignoring ignored: AnyClass...) -> Self { LeakAuditTrait(ignoring: ignored) }
}

/// Runs an operation, and fails the test for each object and each context that outlives it: the trait `.leakAudit` for
/// a part of a test.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on.
///   - sourceLocation: Where the issues are to stand.
///   - operation: What to run.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func expectNoLeaks(
  ignoring ignored: [AnyClass] = [], sourceLocation: SourceLocation = #_sourceLocation,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows {
  record(try await leaks(ignoring: ignored) { try await operation() }, at: sourceLocation)
}

/// Runs an operation that is not asynchronous, and fails the test for each object and each context that outlives it.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on.
///   - sourceLocation: Where the issues are to stand.
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

/// Runs an operation, and finds what outlives it: what the trait `.leakAudit` does, for other test libraries.
///
/// It notes which objects are bound or attached, which ones contexts come to own, and which contexts are made: below
/// `AppContext`, and wherever else the operation's task does so. What was there before the operation does not count.
///
/// Where `AppContext` was set for the task, by `.ownAppContext`, ``withOwnAppContext(onMisuse:operation:)`` or
/// `withAppContext`, the operation uses that one. Contexts that are in its tree at the end, and what these own, do not
/// count. Otherwise the operation has an `AppContext` of its own, which is gone when the audit looks; so what it owned
/// counts, and if it is still alive so does the context itself, unless a task that still runs has it.
///
/// What ending tasks of the operation hold has a moment to go. What an audit inside the operation has reported or was
/// told to ignore is not reported again.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on, and with them the contexts that they are attached to.
///   - onMisuse: Called for each misuse of the library. By default it becomes an issue of the test.
///   - operation: What to run.
/// - Returns: What is still alive, each object once. Contexts that one of these objects is attached to, or that are
///   below another context that is still alive, are left out.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func leaks(
  ignoring ignored: [AnyClass] = [], onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows -> [UDILeak] {
  let audit = Audit(ignoring: ignored)
  if let prepared = audit.prepared {
    try await withReporter(UDIReporter(onMisuse)) {
      try await audit.bindings.watch(prepared, isNew: false) { try await operation() }
    }
  } else {
    try await withOwnContext(onMisuse: onMisuse) { own in
      audit.own = own
      try await audit.bindings.watch(own.context, isNew: true) { try await operation() }
    }
  }
  // Ending tasks get a moment to release what they hold, and another one as long as there is less and less left.
  var count = audit.count
  var deadline = ContinuousClock.now + patience
  var turns = 0
  // Not time alone: where other tests keep all threads busy, those tasks get their turns no more often than this one.
  while count > 0, ContinuousClock.now < deadline || turns < 200 {
    try? await Task.sleep(for: .milliseconds(1))
    // The audit holds what it looks at, and lets go of some of that on the main actor, which may be busy: not to report those objects, it
    // waits for its turn there.
    await Task { @MainActor in }.value
    turns += 1
    let left = audit.count
    if left < count { deadline = ContinuousClock.now + patience }
    count = left
  }
  return audit.leaks
}

/// Runs an operation that is not asynchronous, and finds what outlives it.
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
  let audit = Audit(ignoring: ignored)
  if let prepared = audit.prepared {
    try withReporter(UDIReporter(onMisuse)) {
      try audit.bindings.watch(prepared, isNew: false) { try operation() }
    }
  } else {
    try withOwnContext(onMisuse: onMisuse) { own in
      audit.own = own
      try audit.bindings.watch(own.context, isNew: true) { try operation() }
    }
  }
  return audit.leaks
}

/// One call of `leaks`.
private final class Audit {
  let bindings = BindingAudit()
  /// The `AppContext` that was set for the task, if any.
  let prepared = hasAppContextOfTask ? AppContext : nil
  /// The one that was made instead, while tasks of the operation hold it.
  weak var own: OwnContext?
  private let ignored: [AnyClass]

  init(ignoring ignored: [AnyClass]) { self.ignored = ignored }

  var count: Int { bindings.countOfSurvivors(exceptions) }
  var leaks: [UDILeak] { bindings.survivors(exceptions).map { UDILeak($0) } }

  private var exceptions: BindingAudit.Exceptions {
    BindingAudit.Exceptions(prepared: prepared, tasksHoldRoot: own != nil, isIgnored: isInstance(of: ignored))
  }
}

/// How long an object may be held by a task that is ending.
private var patience: Duration { .milliseconds(200) }

/// Whether an object is an instance of one of some classes, or of a class below them.
private func isInstance(of classes: [AnyClass]) -> (AnyObject) -> Bool {
  func isInstance<Class>(_ type: Class.Type, _ object: AnyObject) -> Bool { object is Class }
  return { object in classes.contains { isInstance($0, object) } }
}
