/// Ending a context.
extension UDIContext {
  /// Closes this context and all contexts below it, together with the instances that they own, and removes this context
  /// from its parent.
  ///
  /// ```swift
  /// context.register((any Store).self, lifetime: .context) {
  ///   try Database()
  /// } onClose: { store in
  ///   try await store.shutDown()
  /// }
  /// // ...
  /// try await context.close()
  /// ```
  ///
  /// Contexts below are closed before those above. In each context, the instance that was made last is closed first, so
  /// whatever was made with the help of an instance is closed before that instance. The `onClose` closures run one
  /// after the other, each on its actor. If one throws, the others still run.
  ///
  /// From the moment when this method is called, nothing can be added to these contexts, and nothing new is made in
  /// them. If another thread is making an instance at that moment, closing waits for the instance, and then closes it.
  /// Lookups still find an instance until it has been closed; resets are ignored meanwhile. Sequences of updates from
  /// these contexts end at once, and so does the waiting of `linkWhenAvailable` and `whileAvailable` there.
  ///
  /// Afterwards, lookups that begin in a closed context find what the contexts above have that are not closed, as far
  /// as their search goes upwards, and nothing else. If they find nothing, explanations and errors say that the context
  /// is closed. An attempt to register, bind or set up something there is ignored and reported, or throws.
  ///
  /// Objects that are attached to these contexts stay attached, so they can still use what is above.
  /// When everything has been closed, all that they have bound is withdrawn, in other contexts, too. If other code has
  /// bound these objects in other contexts, those bindings stay.
  ///
  /// Closing goes on even if the task that called this method is cancelled. If several tasks call it, they all wait
  /// until the context is closed, and all get the same error. If the context is already closed, this method returns at
  /// once. It also returns at once where it would otherwise wait for itself: in an `onClose` closure or an asynchronous
  /// factory that closing waits for, directly or by way of others.
  ///
  /// Do not let a factory block its thread until the factory's context is closed, for example with a semaphore: closing
  /// waits for the factory.
  ///
  /// - Throws: ``UDICloseError``, with all errors that `onClose` closures threw.
  /// - Complexity: O(contexts below, and their bindings and registrations), apart from the time that the closures take.
  ///   Each binding that is withdrawn elsewhere costs what `unbind` costs.
  nonisolated(nonsending) public func close() async throws {
    // The signature does not name the error's type. If it did, the compiler (Swift 6.3) would crash on optimised code
    // that closes a context both in a `catch` clause and after it. `Edges` contains such code.
    if let error = await closeCollectingErrors() { throw error }
  }

  /// Closes the context like `close`, but returns the error.
  nonisolated(nonsending) func closeCollectingErrors() async -> UDICloseError? {
    guard let (run, number) = Closing.join(self) else { return nil }
    return await run.waitForEnd(number)
  }

  /// Closes this context if nothing has to be closed or waited for, and it has no children; otherwise does nothing. A
  /// scope without closers thus needs no task of its own, which would take several times as long as the scope.
  ///
  /// - Returns: Whether the context is closed, by this call or already before.
  func closeAtOnce() -> Bool {
    let path = UDIObserver.mayExist ? fullPath : nil
    guard let isNew = withNode({ $0.end(onlyIfAtOnce: true) }) else { return false }
    if isNew, let path { UDIObserver.tell { .closed(UDIEvent.Closed(nil, path: path, duration: .zero)) } }
    return true
  }
}

extension Node {
  /// Whether closing the context would close nothing and wait for nothing, and there are no children. Call this under
  /// the tree lock.
  var canEndAtOnce: Bool {
    if treeLocked.state.isEnding || treeLocked.hasClosers || hasChildren { return false }
    if treeLocked.extras?.droppedCreations.isEmpty == false { return false }
    var isAtRest = true
    treeLocked.providers.forEach { isAtRest = isAtRest && $0.provider.isAtRest }
    return isAtRest
  }
}

extension Provider {
  /// Whether no instance that the provider will keep is being made or stored. Call this under the tree lock.
  fileprivate final var isAtRest: Bool { unsafe creation == nil && caches?.all.allSatisfy(\.isAtRest) != false }
}
