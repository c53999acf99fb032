/// How a provider with a closer keeps track of the instances that have yet to be closed.
extension Provider {
  /// Stops the program if the provider has a closer but the context does not own the provider's instances, because the
  /// closer would never be called. Called under the tree lock, when the provider enters the context.
  final func noteCloser(_ node: Node) {
    if closer != nil || isAsynchronous { node.treeLocked.hasClosers = true }
    guard closer != nil else { return }
    switch sharing {
    case .strong: return
    case .unique, .graph, .weak, .custom:
      fatalError(
        """
        \(site.fileID):\(site.line): \(describeType(key.type.text)) was registered with `onClose`, but under the \
        lifetime "\(lifetime.name)" the context does not own the instances, so it cannot close them. Name a lifetime \
        under which the context keeps them, for example `.context`; or close each instance where it is used.
        """)
    }
  }

  /// Records that a new instance has to be closed.
  ///
  /// - Parameter sequence: The instance's number, if it has one already.
  @inline(never)
  final func noteUnclosed(_ instance: Instance, _ sequence: UInt64? = nil) {
    Tree.change { _ in
      if let closer, !closer.isOfProvided { add(instance, to: closer, sequence) }
    }
  }

  /// Records that an instance that `provide` was given has to be closed. Call this under the tree lock.
  final func noteProvided(_ instance: Instance) {
    if let closer { add(instance, to: closer) }
  }

  private final func add(_ instance: Instance, to closer: Closer, _ sequence: UInt64? = nil) {
    closer.unclosed.append(Unclosed(instance, reach, sequence: sequence ?? Tree.nextUnclosed()))
  }

  /// Drops a new instance that the provider does not keep, because the provider was reset or left its context while the
  /// factory ran. Also reports the instance, if it still has to be closed. If the context is being closed, the instance
  /// is closed instead, because `close()` has waited for the factory. Call this under the tree lock.
  final func dropUnclosed(_ instance: Instance, _ garbage: inout Garbage) {
    guard let closer else { return leaveIfEnding(&garbage) }
    if !closer.isClosing, let index = closer.unclosed.lastIndex(where: { $0.instance.object === instance.object }) {
      garbage.add(closer.unclosed.remove(at: index))
      garbage.add(unclosedReport(count: 1))
    }
    leaveIfEnding(&garbage)
  }

  /// Drops all instances that have not been closed, and reports them. Call this under the tree lock.
  ///
  /// - Parameter isReset: Whether the provider stays in its context.
  final func dropUnclosed(_ closer: Closer, isReset: Bool, _ garbage: inout Garbage) {
    guard !closer.isClosing, !(isReset && closer.isOfProvided), !closer.unclosed.isEmpty else { return }
    garbage.add(unclosedReport(count: closer.unclosed.count))
    for unclosed in closer.unclosed { garbage.add(unclosed) }
    closer.unclosed = []
  }

  /// The report that instances were dropped before they were closed.
  private final func unclosedReport(count: Int) -> LateReport {
    let key = key
    return LateReport(.unclosed, at: site) {
      """
      \(count == 1 ? "An instance" : "\(count) instances") of \(key), registered with `onClose`, \
      \(count == 1 ? "was" : "were") dropped without having been closed. Await `close()` on the context before it \
      is reset or goes away, and before the registration is replaced or taken back. The asynchronous `withScope` \
      closes its scope; the synchronous one does not.
      """
    }
  }

  /// Removes the provider from a context that is being closed, as soon as the provider neither keeps nor makes an
  /// instance, because it will not make another one there. An alias is removed with its target. Call this under the
  /// tree lock.
  final func leaveIfEnding(_ garbage: inout Garbage) {
    guard let node, node.treeLocked.state.isEnding, !hasMade, creation == nil, asyncCreation == nil, !hasCaches,
      !(self is Alias)
    else {
      return
    }
    node.unregister(self, &garbage)
  }
}

extension AsyncFactory {
  /// Closes a new instance that is not kept, because no task waits for it any longer or the context is being closed.
  ///
  /// - Parameter path: The path of the context that would have owned the instance.
  final func close(_ instance: Instance, path: [String]) async {
    do { try await Tree.change({ _ in closer })?.close(instance) } catch {
      UDICloseError(failures: [UDIFailure(self, path, error)]).report()
    }
  }
}

extension Tree {
  /// The next number for an instance that has to be closed. Call this under the tree lock.
  static func nextUnclosed() -> UInt64 {
    unsafe unclosedCount += 1
    return unsafe unclosedCount
  }
}
