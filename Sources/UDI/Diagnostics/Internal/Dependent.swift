/// The object or provider that looks something up, for the record of who needs what: the object's attachment and class,
/// or the provider and nil.
typealias Dependent = (identity: AnyObject, objectType: Any.Type?)

extension UDIContext {
  /// Returns the object or provider that is looking something up in this context. Do not call this under a lock.
  ///
  /// - Parameter asker: The object that looks something up, if the caller knows of one.
  /// - Returns: Nil if recording is off, or if neither an object nor a provider is known to be looking something up.
  ///   What an observer or a reporter looks up does not count as looked up by the factory that runs meanwhile.
  @inline(never)
  func presentDependent(_ asker: AnyObject?) -> Dependent? {
    guard UDIRecording.isOn else { return nil }
    // The object's conformance might be isolated to an actor. This cast does not check that, and need not: the object
    // itself is performing the lookup, so its conformance may be used here.
    if let asker { return (asker as? any UDIObject).map { ($0._attachedContext, type(of: asker)) } }
    let resolution = Resolution.present
    if resolution?.read({ $0.isTelling }) == true { return nil }
    let provider = resolution?.read { $0.runningProvider } ?? AsyncCall.currentProvider
    return provider.map { ($0, nil) }
  }

  /// Marks this context, so that lookups that begin here are recorded.
  func recordLookups() { change { node, _ in node.recordLookups() } }
}

// MARK: - Under the tree lock

extension Node {
  /// Marks this node, so that lookups that begin here take the slow path, on which they are recorded.
  func recordLookups() {
    if shared.needsTreeLock || treeLocked.state == .closed { return }
    lock.withLock { shared.needsTreeLock = true }
  }

  /// Lets lookups that begin here take the fast path again, because recording was switched off, unless a creation needs
  /// the slow one.
  func stopRecordingLookups() {
    guard shared.needsTreeLock, treeLocked.makings == 0, !treeLocked.state.isEnding else { return }
    // `isOn` is checked again under the node's lock, because recording may have been switched on since. In that case,
    // another thread may have relied on the mark, in `UDIContext.recordLookups`.
    lock.withLock { if !UDIRecording.isOn { shared.needsTreeLock = false } }
  }
}
