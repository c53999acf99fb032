/// Ending a context.
extension UDIContext {
  /// Ends this context and all contexts below it: closes what they own, and takes this context out of its parent.
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
  /// The contexts below come first, the lowest before those above them. In each context, what was made last is closed
  /// first, so whatever was made of something is closed before it. The closures that were given as `onClose` run one
  /// after the other, each on its actor. If one throws, the others run all the same.
  ///
  /// As soon as this method is called, nothing is added to these contexts any more, and nothing is made in them. What
  /// is being made on another thread at that moment is waited for, and then closed. What has been made is found until
  /// it has been closed; resets are ignored meanwhile. Afterwards the contexts are closed: a lookup that begins there
  /// is a miss or an error that says so, and every attempt to register, bind or set up something there is ignored and
  /// reported, or throws.
  ///
  /// Closing is not cancelled with the task that calls this method. If several tasks call it, all of them wait for the
  /// same end, and all get the same error. Once the context is closed, this method returns at once. It also returns at
  /// once if it would otherwise wait for itself, because an `onClose` calls it that runs meanwhile: that one of this
  /// context, or of a context below.
  ///
  /// Do not block the thread of a factory until the factory's context is closed, for example with a semaphore: closing
  /// waits for the factory.
  ///
  /// - Throws: ``UDICloseError``, with everything that `onClose` closures threw.
  /// - Complexity: O(contexts below and what they have), apart from what the closures do.
  nonisolated(nonsending) public func close() async throws {
    // The error's type is not part of the signature: the compiler (Swift 6.3) crashes on optimised code that closes a
    // context in a `catch` clause and again after it, if the type is. `Edges` contains such code.
    if let error = await closeCollectingErrors() { throw error }
  }

  /// Does the same as `close`, but returns the error.
  nonisolated(nonsending) func closeCollectingErrors() async -> UDICloseError? {
    guard let (closing, isNew) = beginClosing() else { return nil }
    let waits = closing.mayBeAwaitedHere()
    if isNew { closing.start() }
    return waits ? await closing.waitForEnd() : nil
  }
}
