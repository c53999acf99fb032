import Synchronization

/// How a provider with a closer keeps track of the instances that have yet to be closed.
extension Provider {
  typealias ProviderCloser = Closer

  /// Closes the provider's instances; nil if they need not be closed.
  package final var closer: Closer? { extras?.closer }

  /// Sets the closer. No lock is needed before the provider enters a context.
  final func setCloser(_ closer: Closer) {
    ensureExtras().closer = closer
    hasCloser = true
    if closer.operation != nil { hasOperation.store(true, ordering: .relaxed) }
  }

  final func copyCloser(of original: Provider) { original.closer.map { setCloser($0.forAnotherProvider) } }

  /// Notes that the order of closing might matter in the context. Called under the tree lock.
  final func noteCloser(_ node: Node) {
    unsafe (node.treeLocked.hasClosers, Tree.hasClosers) = (true, Tree.hasClosers || hasCloser)
  }

  /// Whether no instance that the provider will keep is being made or stored. Call this under the tree lock.
  final var isAtRest: Bool {
    unsafe creation == nil && extras?.preparation == nil && caches?.all.allSatisfy(\.isAtRest) != false
  }

  /// Records that an instance has to be closed, if the provider has a closer. Call this under the tree lock.
  // Not inlined, so that keeping an instance stays short ("scoped" in `Benchmarks/instructions`).
  @inline(never)
  final func noteUnclosed(_ instance: Instance) {
    closer?.unclosed.append((OwnedInstance(instance, reach), operation: nil))
  }

  /// Drops the newest instances that have not been closed, cancels their operations, and reports them. Does nothing
  /// while the context is being closed. Call this under the tree lock.
  ///
  /// - Parameter count: How many instances to drop, if there are as many.
  @inline(never) final func dropUnclosed(_ count: Int, _ garbage: inout Garbage) {
    guard let closer, !closer.isClosing else { return }
    let dropped = closer.unclosed.suffix(count)
    if dropped.isEmpty { return }
    closer.unclosed.removeLast(dropped.count)
    for (instance, operation) in dropped {
      garbage.add(instance)
      guard let operation else { continue }
      if let node { operation.delayClosing(of: node) }
      garbage.add(LateCall { operation.cancel(closing: []) })
    }
    let (key, count) = (key, dropped.count)
    garbage.add(
      LateCall.report(.unclosed, at: site, to: closer.reporter) {
        """
        \(count == 1 ? "An instance" : "\(count) instances") of \(key), registered with `onClose` or `running`, \
        \(count == 1 ? "was" : "were") dropped without having been closed. Await `close()` on the context before it \
        is reset or goes away, and before the registration is replaced or taken back. The asynchronous `withScope` \
        closes its scope; the synchronous one does not.
        """
      })
  }

  /// Closes an instance that no context owns, and reports an error. This takes a task of its own: the current one might
  /// have been cancelled.
  ///
  /// - Parameter path: The path of the context that would have owned the instance.
  final func close(_ instance: Instance, with close: Closer.Body, _ path: [String]) async {
    do { try await Task { try await close.value(instance) }.value } catch {
      UDICloseError(failures: [UDIFailure(self, path: path, error: error)]).report()
    }
  }

  /// Does the same, if the provider has a closer.
  final func closeUnkept(_ instance: Instance, _ path: [String]) async {
    if let close = Tree.change({ _ in closer?.close }) { await self.close(instance, with: close, path) }
  }

  /// Begins the operation of an instance, or of each one that has none yet. Do not call this under a lock.
  ///
  /// - Parameters:
  ///   - instance: The instance; nil for all.
  ///   - isPutOff: Whether the operation is left to the next warm-up.
  final func beginOperations(of instance: Instance? = nil, isPutOff: Bool = false) {
    guard maker.runsInstances else { return }
    let begun = Tree.change { _ -> [Operation] in
      guard node != nil, let closer, let (body, mayEnd) = closer.operation, !closer.isClosing else { return [] }
      closer.hasPutOffOperations = isPutOff || instance != nil && closer.hasPutOffOperations
      if isPutOff { return [] }
      var begun: [Operation] = []
      // A given instance is usually the newest one.
      for index in closer.unclosed.indices.reversed() {
        let (owned, operation) = closer.unclosed[index]
        if let instance, owned.value.object !== instance.object { continue }
        if operation == nil {
          begun.append(Operation(of: self, mayEnd: mayEnd) { try await body.value(owned.value) })
          closer.unclosed[index].operation = begun.last
        }
        if instance != nil { break }
      }
      return begun.reversed()
    }
    for operation in begun { operation.start() }
  }

  /// Removes the provider from its context if it is of no more use there: it neither keeps nor makes an instance, and
  /// it is a scope's keeper, which can be made anew, or the context is being closed. An alias is removed with its
  /// target. Call this under the tree lock.
  final func leaveIfIdle(_ garbage: inout Garbage) {
    if unsafe showsInstance || kept != nil || creation != nil || hasCaches || self is Alias { return }
    if kind == .scoped, closer?.unclosed.isEmpty == false { return }
    if let node, kind == .scoped || node.treeLocked.state.isEnding { node.unregister(self, &garbage) }
  }
}
