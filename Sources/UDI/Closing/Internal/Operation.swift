/// Code of the user for whose end a context waits before it is closed: the operation of an instance that runs
/// (`UDIRegistration.running`), or one operation of `whileAvailable`.
final class Operation: Activity, @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  /// The provider whose instance runs; nil if there is none, or if the operation has ended.
  private var provider: Provider?
  /// The key of the first dependency, if this is an operation of `whileAvailable`.
  private let awaitedKey: KeyIdentity?
  /// Whether the operation may end by itself, although its context is not being closed.
  private let mayEnd: Bool
  /// The code that `start` runs; nil once it has begun, and for an operation that `untilClosed` waits for.
  private var body: (nonisolated(nonsending) @Sendable () async throws -> Void)?
  /// The number, among this operation's waiters, of the `ClosingPart` that ends its context. The `ClosingPart` enters
  /// as soon as the run of `close()` begins, because the operation may close its own context, and must not wait for
  /// that.
  private(set) var closingNumber: UInt64?
  /// Whether the operation is to end because its context is being closed.
  override var isEndedByClosing: Bool { closedPath != nil || closingNumber != nil }
  /// The failure, until somebody has been told.
  var failure: UDIFailure?

  /// Without a provider, makes an operation of `whileAvailable` or, without a key, one that `untilClosed` waits for.
  init(
    of provider: Provider? = nil, while key: KeyIdentity? = nil, mayEnd: Bool = false,
    body: (nonisolated(nonsending) @Sendable () async throws -> Void)? = nil
  ) { (self.provider, awaitedKey, self.mayEnd, self.body) = (provider, key, mayEnd, body) }

  override var key: KeyIdentity? { provider?.key ?? awaitedKey }

  /// Starts a task for the operation, without the task-local values of the current one, apart from its reporter: code
  /// that runs for long must not have the values of whoever happened to be the first to ask for the instance. Do not
  /// call this under a lock.
  func start() {
    let task = Task.detached { [self, reporter = UDIReporter.ofTask] in
      await UDIReporter.scoped.ofTask.withValue(reporter) { end(throwing: await perform()) }
    }
    let isCancelled = Tree.change { _ in
      if !hasEnded { self.task = task }
      return closedPath != nil
    }
    if isCancelled { task.cancel() }
  }

  /// Runs the body. It is released, and with it the instance, before those that wait for the operation go on.
  func perform(askedBy asker: AsyncCall? = nil) async -> (any Error)? {
    let (provider, body) = Tree.change { _ in (self.provider, self.body.take()) }
    guard let body else { return nil }
    do { return try await AsyncCall(provider, beginning: self, askedBy: asker).run(body) } catch { return error }
  }

  /// Ends an operation: notes the failure, tells those who wait for the end of a context, and wakes those who wait for
  /// the operation.
  func end(throwing error: (any Error)?) {
    let untold = Tree.change { garbage -> UDIFailure? in
      var error = error
      let isClosing = isEndedByClosing
      if isClosing, error is CancellationError { error = nil }
      if !isClosing, error == nil, !mayEnd { error = UDIUntimelyEnd.tooEarly }
      let node = provider?.node
      if let provider {
        failure = error.map { UDIFailure(provider, path: node?.fullPath ?? [], error: $0) }
        garbage.add(provider)
      }
      if !isClosing, let failure, let node, node.tell(failure, &garbage) { self.failure = nil }
      (provider, task) = (nil, nil)
      leaveContext()
      wake()
      return isClosing ? nil : failure
    }
    untold?.report(.operationFailed, "An operation has failed, and nobody awaits `untilClosed` at the moment")
  }

  /// Lets a run of `close()` wait for the operation. Call this under the tree lock.
  func noteClosing(by closing: ClosingPart) { if !hasEnded { closingNumber = add(.activity(closing)) } }
}
