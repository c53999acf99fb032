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
  /// The number, among this operation's waiters, of the `Closing` that ends its context. The `Closing` enters as soon
  /// as the run of `close()` begins, because the operation may close its own context, and must not wait for that.
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
    do {
      let call = try AsyncCall(provider, beginning: self, askedBy: asker)
      return await call.run(body)
    } catch { return error }
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
  func noteClosing(by closing: Closing) { if !hasEnded { closingNumber = add(.activity(closing)) } }
}

extension Node {
  /// The properties of closing that only a few nodes need: the part of a run of `close()` that ends this context, until
  /// it has ended; whether closing the context has called a closer, here or below; and the operation that calls of
  /// `untilClosed` wait for until the closing begins.
  typealias ClosingExtras = (part: Closing?, hasCalledCloser: Bool, end: Operation?)
  static var noClosingExtras: ClosingExtras { (nil, false, nil) }

  func wakeForEnd() { treeLocked.extras?.closing.end?.wakeForChange() }

  /// Tells those who wait for the end of this context, or of one above, that an operation has failed here.
  ///
  /// - Returns: Whether anybody waits.
  @inline(never) fileprivate func tell(_ failure: UDIFailure, _ garbage: inout Garbage) -> Bool {
    var isTold = false
    for node in andAncestors {
      guard let end = node.treeLocked.extras?.closing.end.take() else { continue }
      isTold = isTold || end.isWanted
      end.failure = failure
      end.wake()
      garbage.add(end)
    }
    return isTold
  }

  /// Whether closing the context would close something, or wait for something. Call this under the tree lock.
  @inline(never) package var hasOpenEnds: Bool {
    var isOpen = treeLocked.extras?.making.activities.isEmpty == false
    treeLocked.providers.forEach {
      isOpen = isOpen || $0.provider.closer?.unclosed.isEmpty == false || !$0.provider.isAtRest
    }
    return isOpen
  }

  /// A failure of an operation in this context, or in one below, that nobody has been told; nil if there is none.
  func takeFailure() -> UDIFailure? {
    for (node, _) in BreadthFirst(self) where node.treeLocked.hasClosers {
      for unclosed in node.allProviders.flatMap({ $0.closer?.unclosed ?? [] }) {
        if let failure = unclosed.operation?.failure.take() { return failure }
      }
    }
    return nil
  }
}
