/// Who looks something up, for the record of who needs what.
enum Dependent {
  /// An object that uses one of its verbs or properties.
  case object(UDIAttachment, Any.Type)
  /// A provider whose factory is running.
  case provider(Provider)
}

extension UDIContext {
  /// Who is looking something up in this context. Nil if that is unknown, or if recording is off. Do not call this under
  /// a lock.
  ///
  /// - Parameter asker: The object whose verb or property it is, if there is one.
  @inline(never)
  func presentDependent(_ asker: Asker?) -> Dependent? {
    guard UDIRecording.isOn else {
      // Recording was turned off, so lookups from here may take the fast path again.
      change { node, _ in node.stopRecordingLookups() }
      return nil
    }
    if let asker {
      // The conformance may be isolated to an actor, which the cast of a reference does not check. It need not: the
      // object looks up where its conformance may be used.
      return (asker.object as? any UDIObject).map { .object($0._attachedContext, type(of: asker.object)) }
    }
    PerThread.prepare()
    if let provider = PerThread.presentResolution?.read({ $0.runningProvider }) { return .provider(provider) }
    return AsyncCall.currentProvider.map { .provider($0) }
  }

  /// Has lookups that begin here take the way on which they are recorded.
  func recordLookups() {
    if withNode({ node in node.lock.withLock { node.shared.pendingSetUps.contains(.recorded) } }) { return }
    change { node, _ in node.recordLookups() }
  }
}

// MARK: - Under the tree lock

extension Node {
  /// Has lookups that begin here take the way on which they are recorded.
  func recordLookups() {
    if shared.pendingSetUps.contains(.recorded) || treeLocked.state == .closed { return }
    lock.withLock { _ = shared.pendingSetUps.insert(.recorded) }
  }

  fileprivate func stopRecordingLookups() {
    guard shared.pendingSetUps.contains(.recorded) else { return }
    lock.withLock { _ = shared.pendingSetUps.remove(.recorded) }
  }
}
