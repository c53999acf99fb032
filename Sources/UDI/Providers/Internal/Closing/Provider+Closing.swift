/// How a provider with a closer keeps track of the instances that have yet to be closed.
extension Provider {
  /// Stops the program if the provider has a closer but the context does not own the provider's instances, because the
  /// closer would never be called. Called under the tree lock, when the provider enters the context.
  final func noteCloser(_ node: Node) {
    if closer != nil || isAsynchronous { node.treeLocked.hasClosers = true }
    guard closer != nil, sharing != .strong else { return }
    fatalError(
      """
      \(site.fileID):\(site.line): \(describeType(key.type.text)) was registered with `onClose`, but under the \
      lifetime "\(lifetime.name)" the context does not own the instances, so it cannot close them. Name a lifetime \
      under which the context keeps them, for example `.context`; or close each instance where it is used.
      """)
  }

  /// Records that an instance has to be closed, if the provider has a closer. Call this under the tree lock.
  ///
  /// - Parameter number: The instance's number in the order in which instances are closed.
  final func noteUnclosed(_ instance: Instance, _ number: UInt64) {
    closer?.unclosed.append((OwnedInstance(instance, by: reach == .mainActor ? MainActor.shared : nil), number))
  }

  /// Drops a new instance that the provider does not keep, because the provider was reset or left its context while the
  /// factory ran. Also reports the instance, if it still has to be closed. If the context is being closed, the instance
  /// is closed instead, because `close()` has waited for the factory. Call this under the tree lock.
  final func dropUnclosed(_ instance: Instance, _ garbage: inout Garbage) {
    guard let closer else { return leaveIfEnding(&garbage) }
    if !closer.isClosing, let index = closer.unclosed.lastIndex(where: { $0.instance.value.object === instance.object })
    {
      garbage.add(closer.unclosed.remove(at: index).instance)
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
    for unclosed in closer.unclosed { garbage.add(unclosed.instance) }
    closer.unclosed = []
  }

  /// The report that instances were dropped before they were closed.
  private final func unclosedReport(count: Int) -> LateCall {
    let key = key
    return .report(.unclosed, at: site) {
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
    if hasMade || creation != nil || hasCaches || self is Alias { return }
    if let node, node.treeLocked.state.isEnding { node.unregister(self, &garbage) }
  }
}

extension AsyncFactory {
  /// Closes a new instance that is not kept, because all tasks that wanted it have been cancelled.
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
