/// What a provider with a closer has made, or was given, and nobody has closed yet.
extension Provider {
  /// Stops the program if the context does not own what the provider makes; then there is nothing that it could close.
  /// Called under the tree lock, when the provider enters the context.
  final func noteCloser(_ node: Node) {
    if closer != nil || isAsynchronous { node.treeLocked.hasClosers = true }
    guard closer != nil else { return }
    switch sharing {
    case .strong, .custom: return
    case .unique, .graph, .weak:
      fatalError(
        """
        \(site.fileID):\(site.line): \(key.type.text) was registered with `onClose`, but under the lifetime \
        "\(lifetime.name)" the context does not own what is made, so it cannot close it. Name a lifetime under which \
        the context keeps the instance, for example `.context`; or close each instance where it is used.
        """)
    }
  }

  /// Notes that an instance was made and has to be closed. An instance that goes into a user's storage is noted there.
  final func noteUnclosed(_ instance: Instance) {
    Tree.change { _ in
      if let closer, !closer.isOfProvided, sharing == .strong { add(instance, to: closer) }
    }
  }

  /// Notes that an instance that was provided has to be closed. Under the tree lock.
  final func noteProvided(_ instance: Instance) {
    if let closer { add(instance, to: closer) }
  }

  private final func add(_ instance: Instance, to closer: Closer) {
    closer.unclosed.append(Unclosed(instance, reach, sequence: Tree.nextUnclosed()))
  }

  /// Drops an instance that was made but is not kept, because the provider was reset or has left its context while the
  /// factory ran. Under the tree lock.
  final func dropUnclosed(_ instance: Instance, _ garbage: inout Garbage) {
    guard let closer else { return leaveIfEnding(&garbage) }
    let index = closer.unclosed.lastIndex { $0.instance.object === instance.object }
    if let index { garbage.add(closer.unclosed.remove(at: index)) }
    // What was to go into a user's storage was never noted.
    if index != nil || sharing == .custom { garbage.add(unclosedReport(count: 1)) }
    leaveIfEnding(&garbage)
  }

  /// Lets go of what has not been closed, and reports it. Under the tree lock.
  ///
  /// - Parameter isReset: Whether the provider stays in its context.
  final func dropUnclosed(_ closer: Closer, isReset: Bool, _ garbage: inout Garbage) {
    guard !closer.isClosing, !(isReset && closer.isOfProvided), !closer.unclosed.isEmpty else { return }
    garbage.add(unclosedReport(count: closer.unclosed.count))
    for unclosed in closer.unclosed { garbage.add(unclosed) }
    closer.unclosed = []
  }

  /// The report that instances were let go of without having been closed.
  final func unclosedReport(count: Int) -> LateReport {
    let key = key
    return LateReport(.unclosed, at: site) {
      """
      \(count == 1 ? "An instance" : "\(count) instances") of \(key), registered with `onClose`, \
      \(count == 1 ? "was" : "were") let go of without having been closed. Await `close()` on the context before it \
      is reset or goes away, and before the registration is replaced or taken back. The asynchronous `withScope` \
      closes its scope, the synchronous one does not.
      """
    }
  }

  /// Leaves a context that is being closed, if the provider neither keeps nor makes anything: nothing more is made
  /// there. An alias leaves with its target. Under the tree lock.
  final func leaveIfEnding(_ garbage: inout Garbage) {
    guard let node, node.treeLocked.state.isEnding, !hasMade, creation == nil, asyncCreation == nil, !hasCaches,
      !(self is Alias)
    else {
      return
    }
    // Without caches, there are no storages to reset.
    _ = node.unregister(self, &garbage)
  }
}

extension AsyncFactory {
  /// Closes an instance that was made although nobody waited for it any more.
  ///
  /// - Parameter path: The path of the context that would have owned it.
  final func close(_ instance: Instance, path: [String]) async {
    do { try await Tree.change({ _ in closer })?.close(instance) } catch {
      UDICloseError(failures: [UDICloseError.Failure(self, path, error)]).report()
    }
  }
}

extension Tree {
  /// The number of the next instance that has to be closed. Under the tree lock.
  static func nextUnclosed() -> UInt64 {
    unsafe unclosedCount += 1
    return unsafe unclosedCount
  }
}
