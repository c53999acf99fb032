/// Ending a context.
extension UDIContext {
  /// Closes this context and all contexts below it, together with the instances that they own, and removes this context
  /// from its parent.
  ///
  /// ```swift
  /// context.register((any Store).self) {
  ///   try Database()
  /// }.onClose { store in
  ///   try await store.shutDown()
  /// }
  /// // ...
  /// try await context.close()
  /// ```
  ///
  /// Contexts below are closed before those above. In each context, an instance is closed before the instances that
  /// helped to make it. Those are the instances that a factory of this context found here, with lookups from this
  /// context, while it ran. Apart from that, later registrations are closed first. So the order does not depend on when
  /// an instance was made. It is the reverse of this order: all instances are made in the order of registration, each
  /// after those that helped. (Instances of one registration with different arguments count together.)
  ///
  /// First, the operations of `whileAvailable` that began in these contexts are cancelled. Then the contexts are closed
  /// one after the other: the closing awaits the end of a context's operations, and closes its instances. If an
  /// instance has an operation of its own (``UDIRegistration/running(mayEnd:fileID:line:_:)``), the closing cancels it,
  /// and awaits its end. Then the instance's `onClose` closure runs, on its actor. If one closure throws, the others
  /// still run.
  ///
  /// From the moment this method is called, nothing can be added to these contexts, and no new instances are made in
  /// them. If another thread is making an instance at that moment, closing waits for the instance, and then closes it.
  /// Lookups still find an instance until it has been closed; resets are ignored meanwhile. Sequences of updates from
  /// these contexts end at once, and so do calls of `linkWhenAvailable` and `whileAvailable` that wait there.
  ///
  /// Afterwards, lookups that begin in a closed context find the dependencies of the contexts above that are not
  /// closed, as far as their search goes upwards, and nothing else. Nothing replaces a dependency that a closed context
  /// had: a lookup with its type and name finds nothing. If a lookup finds nothing, explanations and errors say that
  /// the context is closed. An attempt to register, bind or set up something there is ignored and reported, or throws
  /// an error.
  ///
  /// Objects that are attached to these contexts stay attached, so they can still use dependencies from above. When
  /// everything has been closed, all bindings that they have made are withdrawn, in other contexts, too. If other code
  /// has bound these objects in other contexts, those bindings stay.
  ///
  /// The closures are called one after the other, in a task that is not the caller's. If there is no limit, and the
  /// caller is on no actor, that task begins on the caller's thread.
  ///
  /// Closing goes on even if the task that called this method is cancelled. If several tasks call it, they all wait
  /// until the context is closed, and all get the same error. If a context above is being closed, this method waits
  /// only for this context and those below, and throws their errors. So an `onClose` closure may wait for code that
  /// runs in scopes below.
  ///
  /// If the context is already closed, this method returns at once. It also returns at once where it would otherwise
  /// wait for itself: in an `onClose` closure, an operation or an asynchronous factory that closing waits for, directly
  /// or indirectly.
  ///
  /// Do not let a factory block its thread until the factory's context is closed, for example with a semaphore: closing
  /// waits for the factory.
  ///
  /// - Throws: ``UDICloseError``, with all errors that `onClose` closures threw, and with the errors of operations that
  ///   ``untilClosed()`` has not thrown yet.
  /// - Complexity: O(contexts below, and their bindings and registrations), apart from the time that the closures take.
  ///   Each binding that is withdrawn elsewhere costs what `unbind` costs.
  nonisolated(nonsending) public func close() async throws {
    // The signature does not name the error's type. If it did, the compiler (Swift 6.3) would crash on optimised code
    // that closes a context both in a `catch` clause and after it. `Edges` contains such code.
    if let error = await closeCollectingErrors(.closed()) { throw error }
  }

  /// Does the same as ``close()``, with a reason that `onClose` closures can see, and with a limit.
  ///
  /// When the limit is over, the closing cancels whatever it still waits for, and stops waiting for it: an operation,
  /// an `onClose` closure, or a factory. The remaining instances are still closed, in order. For each remaining closure
  /// and operation, the closing then waits for a tenth of the limit. Nothing is closed twice. If several calls close a
  /// context, the first reason counts, and the shortest limit. If a context above is being closed, and it is not yet
  /// this context's turn, only the caller stops waiting when the limit is over.
  ///
  /// The remaining instances are closed as a part of the call that set the limit: with its task-local values, observer
  /// and reporter. If another call had begun to close the context before, without a limit, an `onClose` closure that
  /// has not waited for anything yet is cancelled when it first does.
  ///
  /// ```swift
  /// try await session.close(because: LogOut(), within: .seconds(10))
  /// ```
  ///
  /// - Parameters:
  ///   - reason: Why the context is closed: see ``UDIEnding/closed(because:)``.
  ///   - limit: The longest time to wait; nil for no limit.
  ///   - clock: Measures the time.
  /// - Throws: ``UDICloseError``, as ``close()``; everything that did not end in time is listed with
  ///   ``UDIUntimelyEnd/notInTime``.
  nonisolated(nonsending) public func close(
    because reason: (any Sendable)? = nil, within limit: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()
  ) async throws {
    if let error = await closeCollectingErrors(.closed(because: reason), Limit(limit, clock)) { throw error }
  }

  /// Closes the context like `close`, but returns the error.
  nonisolated(nonsending) package func closeCollectingErrors(
    _ ending: UDIEnding, _ limit: Limit? = nil
  ) async -> UDICloseError? {
    guard let (part, number, _) = ClosingPart.join(self, ending, limit, on: #isolation) else { return nil }
    return await part.waitForEnd(number)
  }

  /// Closes a scope whose operation, or whose set-up, has ended.
  ///
  /// - Returns: The error of closing, if this call closes the scope; if other code has closed it, `scopeClosed`, unless
  ///   that has called no closer.
  @usableFromInline
  nonisolated(nonsending) func endScope(_ ending: UDIEnding) async -> (any Error)? {
    if let (part, number, isNew) = ClosingPart.join(self, ending, nil, on: #isolation) {
      let error = await part.waitForEnd(number)
      if isNew { return error }
    }
    let hasCalledCloser = change { node, _ in
      node.treeLocked.extras.map { $0.closing.part?.hasCalledCloser ?? $0.closing.hasCalledCloser } == true
    }
    return hasCalledCloser ? UDIUntimelyEnd.scopeClosed : nil
  }

  /// Closes a scope whose operation, or whose set-up, has failed. Reports the errors of closing.
  @usableFromInline
  nonisolated(nonsending) func endScope(after error: any Error) async {
    if !closeAtOnce() { (await endScope(.of(error)) as? UDICloseError)?.report() }
  }

  /// Waits until the context has been closed, or until an operation in it, or in a context below, has failed.
  ///
  /// The operations are those that were passed to ``UDIRegistration/running(mayEnd:fileID:line:_:)``.
  ///
  /// ```swift
  /// try await root.warmUp()
  /// try await root.untilClosed()  // Throws if one of the services fails.
  /// ```
  ///
  /// A failure is thrown only once: to all callers that wait when it happens, or else to the next caller. If no caller
  /// has received it, ``close()`` throws it. If the closing waits for the caller, this method returns at once, or when
  /// the closing begins.
  ///
  /// - Throws: ``UDIFailure``, with the operation's error or ``UDIUntimelyEnd/tooEarly``; or `CancellationError` if the
  ///   current task is cancelled.
  /// - Complexity: O(contexts below, and their registrations).
  nonisolated(nonsending) public func untilClosed() async throws {
    while let (end, number) = try enterEnd(.task(.present, through: [])) {
      (end as? ClosingPart)?.endIfDone()
      let hasEnded = await end.waitUnlessCancelled(number)
      // This task may have been told of a failure although it was cancelled at the same moment.
      if let failure = Tree.change({ _ in (end as? Operation)?.failure }) { throw failure }
      if !hasEnded, Task.isCancelled { throw CancellationError() }
    }
  }

  /// Adds a waiter for the end of the context.
  ///
  /// - Returns: The activity to wait for, and the waiter's number. Nil if the context is closed, or waits for the
  ///   waiter.
  /// - Throws: The failure of an operation, if nobody has been told of it.
  private func enterEnd(_ waiter: Activity.Waiter) throws -> (Activity, UInt64)? {
    try change { node, _ -> (Activity, UInt64)? in
      if node.treeLocked.state == .closed { return nil }
      let extras = node.treeLocked.ensureExtras()
      // Once the closing has begun, its run gets the failures. If the run waits for this task, `enter` throws, and this
      // task must not wait.
      if let part = extras.closing.part { return (try? part.enter(waiter)).map { (part, $0) } }
      if let failure = node.takeFailure() { throw failure }
      let end = extras.closing.end ?? Operation()
      extras.closing.end = end
      return (end, end.add(waiter))
    }
  }

  /// Whether the context has been closed or is being closed.
  var isEnding: Bool { change { node, _ in node.isEnding } }

  /// Closes this context if nothing has to be closed or waited for, and it has no children; otherwise does nothing. A
  /// scope with nothing to close thus needs no task of its own, which would take several times as long as the scope.
  ///
  /// - Returns: Whether this call has closed the context.
  @usableFromInline
  func closeAtOnce() -> Bool {
    let path = UDIObserver.mayExist ? fullPath : nil
    let isClosed = withNode { $0.end(onlyIfAtOnce: true) }
    if isClosed, let path { UDIObserver.tell { .closed(UDIEvent.Closed(nil, path: path, duration: .zero)) } }
    return isClosed
  }
}
