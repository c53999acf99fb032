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
  /// Contexts below are closed before those above. In each context, what was made with the help of an instance is
  /// closed before that instance: what a factory that the context owns has found here, with lookups from this context,
  /// while it ran. Apart from that, what was registered later is closed first. So the order does not depend on when
  /// something was made. It is the reverse of this order: everything is made in the order of registration, each
  /// instance after those that helped. (Instances of one registration with different arguments count together.)
  ///
  /// First, the operations of `whileAvailable` that began in these contexts are cancelled. Then comes one context after
  /// the other: the ends of its operations are awaited, and its instances closed. If an instance has an operation of
  /// its own (``UDIRegistration/running(mayEnd:fileID:line:_:)``), that is cancelled, and its end is awaited. Then its
  /// `onClose` runs, on its actor. If one throws, the others still run.
  ///
  /// From the moment when this method is called, nothing can be added to these contexts, and nothing new is made in
  /// them. If another thread is making an instance at that moment, closing waits for the instance, and then closes it.
  /// Lookups still find an instance until it has been closed; resets are ignored meanwhile. Sequences of updates from
  /// these contexts end at once, and so does the waiting of `linkWhenAvailable` and `whileAvailable` there.
  ///
  /// Afterwards, lookups that begin in a closed context find what the contexts above have that are not closed, as far
  /// as their search goes upwards, and nothing else. Nothing takes the place of what a closed context had: a lookup
  /// with its type and name finds nothing. If a lookup finds nothing, explanations and errors say that the context is
  /// closed. An attempt to register, bind or set up something there is ignored and reported, or throws.
  ///
  /// Objects that are attached to these contexts stay attached, so they can still use what is above.
  /// When everything has been closed, all that they have bound is withdrawn, in other contexts, too. If other code has
  /// bound these objects in other contexts, those bindings stay.
  ///
  /// The closures are called one after the other, in a task that is not the caller's. If there is no limit, and the
  /// caller is on no actor, that task begins on the caller's thread.
  ///
  /// Closing goes on even if the task that called this method is cancelled. If several tasks call it, they all wait
  /// until the context is closed, and all get the same error. If a context above is being closed, this method waits for
  /// this context and those below alone, and throws their errors. So an `onClose` closure may wait for what runs in
  /// scopes below.
  ///
  /// If the context is already closed, this method returns at once. It also returns at once where it would otherwise
  /// wait for itself: in an `onClose` closure, an operation or an asynchronous factory that closing waits for, directly
  /// or by way of others.
  ///
  /// Do not let a factory block its thread until the factory's context is closed, for example with a semaphore: closing
  /// waits for the factory.
  ///
  /// - Throws: ``UDICloseError``, with all errors that `onClose` closures threw, and with those of operations about
  ///   which nobody has been told yet.
  /// - Complexity: O(contexts below, and their bindings and registrations), apart from the time that the closures take.
  ///   Each binding that is withdrawn elsewhere costs what `unbind` costs.
  nonisolated(nonsending) public func close() async throws {
    // The signature does not name the error's type. If it did, the compiler (Swift 6.3) would crash on optimised code
    // that closes a context both in a `catch` clause and after it. `Edges` contains such code.
    if let error = await closeCollectingErrors(.closed()) { throw error }
  }

  /// Does the same as ``close()``, with a reason that `onClose` closures can see, and with a limit.
  ///
  /// When the limit is over, whatever the closing still waits for is cancelled, and is no longer waited for: an
  /// operation, an `onClose` closure, or a factory. What remains to be closed is closed nevertheless, in order. For
  /// each closure and each operation that is left, the closing then waits for a tenth of the limit. Nothing is closed
  /// twice. If several calls close a context, the first reason counts, and the shortest limit. If a context above is
  /// being closed, and it is not yet this context's turn, only the caller stops waiting when the limit is over.
  ///
  /// What remains is closed as a part of the call that gave the limit: with its task-local values, observer and
  /// reporter. If another call had begun to close the context before, without a limit, an `onClose` closure that has
  /// not waited for anything yet is cancelled when it first does.
  ///
  /// ```swift
  /// try await session.close(because: LogOut(), within: .seconds(10))
  /// ```
  ///
  /// - Parameters:
  ///   - reason: Why the context is closed: see ``UDIEnding/closed(because:)``.
  ///   - limit: The longest time to wait; nil for any time.
  ///   - clock: Measures the time.
  /// - Throws: ``UDICloseError``, as ``close()``; what did not end in time is listed with ``UDIUntimelyEnd/notInTime``.
  nonisolated(nonsending) public func close(
    because reason: (any Sendable)? = nil, within limit: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()
  ) async throws {
    if let error = await closeCollectingErrors(.closed(because: reason), Limit(limit, clock)) { throw error }
  }

  /// Closes the context like `close`, but returns the error.
  nonisolated(nonsending) package func closeCollectingErrors(
    _ ending: UDIEnding, _ limit: Limit? = nil
  ) async -> UDICloseError? {
    guard let (part, number, _) = Closing.join(self, ending, limit, on: #isolation) else { return nil }
    return await part.waitForEnd(number)
  }

  /// Closes a scope whose operation, or whose set-up, has ended.
  ///
  /// - Returns: The error of closing, if this call closes the scope; if other code has closed it, `scopeClosed`, unless
  ///   that has called no closer.
  @usableFromInline
  nonisolated(nonsending) func endScope(_ ending: UDIEnding) async -> (any Error)? {
    if let (part, number, isNew) = Closing.join(self, ending, nil, on: #isolation) {
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

  /// Waits until the context has been closed, or until something that runs in it, or in a context below, has failed: an
  /// operation that ``UDIRegistration/running(mayEnd:fileID:line:_:)`` was given.
  ///
  /// ```swift
  /// try await root.warmUp()
  /// try await root.untilClosed()  // Throws if one of the services fails.
  /// ```
  ///
  /// A failure is thrown only once: to those who wait when it happens, or else to the next one who waits. If nobody has
  /// got it, ``close()`` throws it. If the closing waits for the caller, this returns at once, or when the closing
  /// begins.
  ///
  /// - Throws: ``UDIFailure``, with the operation's error or ``UDIUntimelyEnd/tooEarly``; or `CancellationError` if the
  ///   current task is cancelled.
  /// - Complexity: O(contexts below, and their registrations).
  nonisolated(nonsending) public func untilClosed() async throws {
    while let (end, number) = try enterEnd(.task(.present, through: [])) {
      (end as? Closing)?.endIfDone()
      let hasEnded = await end.waitUnlessCancelled(number)
      // This task may have been told of a failure although it was cancelled at the same moment.
      if let failure = Tree.change({ _ in (end as? Operation)?.failure }) { throw failure }
      if !hasEnded, Task.isCancelled { throw CancellationError() }
    }
  }

  /// Adds a waiter for the end of the context.
  ///
  /// - Returns: What to wait for, and the waiter's number. Nil if the context is closed, or waits for the waiter.
  /// - Throws: The failure of an operation, if nobody has been told of it.
  private func enterEnd(_ waiter: Activity.Waiter) throws -> (Activity, UInt64)? {
    try change { node, _ -> (Activity, UInt64)? in
      if node.treeLocked.state == .closed { return nil }
      let extras = node.treeLocked.ensureExtras()
      // A run of `close()` might wait for this task, and gets the failures.
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
