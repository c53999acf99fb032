public import Testing
public import UDI

/// Fails a test for each object that outlives it: what `.leakAudit` makes.
public struct LeakAuditTrait: TestTrait, SuiteTrait, TestScoping {
  private let ignored: [AnyClass]
  /// Each test of a suite is audited, not the suite.
  public var isRecursive: Bool { true }

  fileprivate init(ignoring ignored: [AnyClass]) { self.ignored = ignored }

  /// Runs a test, with an `AppContext` of its own, and records what outlives it.
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
  /// Fails a test for each object that was bound in it, or made for a context, and is still alive when it is over: with the object's class,
  /// its keys, and where it was bound. The test has an `AppContext` and a reporter of its own.
  ///
  /// ```swift
  /// @Test(.leakAudit) func screenGoesWithItsContext() { … }
  /// ```
  public static var leakAudit: Self { LeakAuditTrait(ignoring: []) }

  /// The same, but some classes may live on: those of objects that all tests share.
  ///
  /// - Parameter ignored: The classes.
  /// - Returns: The trait.
  public static func leakAudit(ignoring ignored: AnyClass...) -> Self { LeakAuditTrait(ignoring: ignored) }
}

/// Runs an operation with an `AppContext` of its own, and fails the test for each object that outlives it: the trait `.leakAudit` for a part of
/// a test.
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

/// Runs an operation that is not asynchronous with an `AppContext` of its own, and fails the test for each object that outlives it.
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

/// Runs an operation with an `AppContext` of its own, and finds what outlives it: what the trait `.leakAudit` does, for other
/// test libraries.
///
/// It sees what is bound, and what contexts come to own, below that `AppContext`, and wherever the operation's task does it. What tasks
/// of the operation still hold when it returns has a moment to go.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on.
///   - onMisuse: Called for each misuse of the library. By default it becomes an issue of the test.
///   - operation: What to run.
/// - Returns: What is still alive, each object once.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func leaks(
  ignoring ignored: [AnyClass] = [], onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue,
  during operation: nonisolated(nonsending) () async throws -> Void
) async rethrows -> [UDILeak] {
  let audit = BindingAudit()
  try await withOwnAppContext(onMisuse: onMisuse) {
    try await audit.watch(AppContext) { try await operation() }
  }
  // Tasks that are just ending let go of what they hold: as long as there are fewer and fewer, they get a moment.
  var count = audit.countOfSurvivors(isInstance(of: ignored))
  var deadline = ContinuousClock.now + patience
  var turns = 0
  // Not time alone: where other tests keep all threads busy, those tasks get their turns no more often than this one.
  while count > 0, ContinuousClock.now < deadline || turns < 200 {
    try? await Task.sleep(for: .milliseconds(1))
    turns += 1
    let left = audit.countOfSurvivors(isInstance(of: ignored))
    if left < count { deadline = ContinuousClock.now + patience }
    count = left
  }
  return audit.survivors(isInstance(of: ignored)).map { UDILeak($0) }
}

/// Runs an operation that is not asynchronous with an `AppContext` of its own, and finds what outlives it.
///
/// - Parameters:
///   - ignored: Classes whose instances may live on.
///   - onMisuse: Called for each misuse of the library. By default it becomes an issue of the test.
///   - operation: What to run.
/// - Returns: What is still alive, each object once.
/// - Throws: What `operation` throws.
public func leaks(
  ignoring ignored: [AnyClass] = [], onMisuse: @escaping @Sendable (UDIMisuse) -> Void = recordAsIssue,
  during operation: () throws -> Void
) rethrows -> [UDILeak] {
  let audit = BindingAudit()
  try withOwnAppContext(onMisuse: onMisuse) {
    try audit.watch(AppContext) { try operation() }
  }
  return audit.survivors(isInstance(of: ignored)).map { UDILeak($0) }
}

/// How long an object may be held by a task that is ending.
private var patience: Duration { .milliseconds(200) }

/// Whether an object is an instance of one of some classes, or of a class below them.
private func isInstance(of classes: [AnyClass]) -> (AnyObject) -> Bool {
  func isInstance<Class>(_ type: Class.Type, _ object: AnyObject) -> Bool { object is Class }
  return { object in classes.contains { isInstance($0, object) } }
}
