/// The closure that `register` or `provide` was given as `onClose`, and the instances for which it has not been called
/// yet.
final class Closer: @unchecked Sendable {
  // Unchecked: the tree lock guards all mutable properties.

  /// The closure, without its types. When it is called, it moves to the actor that it belongs to.
  typealias Body = @Sendable (Instance) async throws -> Void

  private let body: ActorOwned<Body>
  /// Whether the provider serves an instance that `provide` was given. Such a provider never makes another instance,
  /// and a reset does not drop the one that it has.
  let isOfProvided: Bool
  /// The instances that have to be closed. Their numbers give the order.
  var unclosed: [Unclosed] = []
  /// Whether the context is being closed. If it is, `close()` calls the closer, so instances that leave the provider
  /// are not reported as unclosed.
  var isClosing = false

  private init(_ body: ActorOwned<Body>, isOfProvided: Bool) {
    self.body = body
    self.isOfProvided = isOfProvided
  }

  func close(_ instance: Instance) async throws { try await body.value(instance) }

  /// The same closure, for a provider with instances of its own.
  var forAnotherProvider: Closer { Closer(body, isOfProvided: isOfProvided) }
}

extension Closer {
  /// Makes a closer for a `Sendable` dependency; nil if there is no closure.
  static func of<Dependency: Sendable>(
    _ close: (@Sendable @isolated(any) (Dependency) async throws -> Void)?, isOfProvided: Bool = false
  ) -> Closer? {
    guard let close else { return nil }
    let body: Body = { instance in
      if let dependency = instance.value(as: Dependency.self, isExact: true) { try await close(dependency) }
    }
    return Closer(ActorOwned(body, by: close.isolation), isOfProvided: isOfProvided)
  }

  /// Makes a closer for a dependency that need not be `Sendable`; nil if there is no closure. The closure runs on the
  /// main actor.
  ///
  /// - Precondition: The closure belongs to no actor other than the main actor.
  @MainActor
  static func onMainActor<Dependency>(
    _ close: (@isolated(any) (Dependency) async throws -> Void)?, isOfProvided: Bool = false, _ site: UDICallSite
  ) -> Closer? {
    guard let close else { return nil }
    _ = Isolation.onMainActor(close.isolation, nil, at: site)
    let plain = MainActorFunction(close)
    let body: @MainActor @Sendable (Instance) async throws -> Void = { instance in
      guard let dependency = instance.value(as: Dependency.self, isExact: true) else { return }
      try await plain.call(ArgumentPack(dependency))
    }
    return Closer(ActorOwned(body, by: MainActor.shared), isOfProvided: isOfProvided)
  }
}

/// An instance that its context has to close, and its number. Such instances are numbered in the order in which they
/// were made, in all contexts together.
typealias Unclosed = (instance: OwnedInstance, number: UInt64)

// MARK: - How a provider with a closer keeps track of the instances that have yet to be closed

extension Provider {
  /// Notes that closing the context might take time. Stops the program if the provider has a closer but the context
  /// does not own the provider's instances, because the closer would never be called. Called under the tree lock, when
  /// the provider enters the context.
  final func noteCloser(_ node: Node) {
    if closer != nil || isAsynchronous { node.treeLocked.hasClosers = true }
    guard closer != nil, sharing != .strong, sharing != .scope else { return }
    fatalError(
      """
      \(site.fileID):\(site.line): \(describeType(key.type.text)) was registered with `onClose`, but under the \
      lifetime "\(lifetime.name)" the context does not own the instances, so it cannot close them. Name a lifetime \
      under which the context keeps them, for example `.context` or `.scope`; or close each instance where it is used.
      """)
  }

  /// Records that an instance has to be closed, if the provider has a closer. Call this under the tree lock.
  ///
  /// - Parameter number: The instance's number in the order in which instances are closed.
  final func noteUnclosed(_ instance: Instance, _ number: UInt64) {
    closer?.unclosed.append((OwnedInstance(instance, reach), number))
  }

  /// Drops instances that have not been closed, and reports them. Does nothing while the context is being closed. Call
  /// this under the tree lock.
  ///
  /// - Parameter isDropped: Whether to drop the instance with this number.
  final func dropUnclosed(_ garbage: inout Garbage, where isDropped: (UInt64) -> Bool) {
    guard let closer, !closer.isClosing else { return }
    let dropped = closer.unclosed.filter { isDropped($0.number) }
    if dropped.isEmpty { return }
    closer.unclosed.removeAll { isDropped($0.number) }
    for (instance, _) in dropped { garbage.add(instance) }
    let (key, count) = (key, dropped.count)
    garbage.add(
      LateCall.report(.unclosed, at: site) {
        """
        \(count == 1 ? "An instance" : "\(count) instances") of \(key), registered with `onClose`, \
        \(count == 1 ? "was" : "were") dropped without having been closed. Await `close()` on the context before it \
        is reset or goes away, and before the registration is replaced or taken back. The asynchronous `withScope` \
        closes its scope; the synchronous one does not.
        """
      })
  }

  /// If the context is being closed, removes the provider from it, unless the provider keeps or makes an instance, or
  /// has caches: it will not make another instance there. An alias is removed with its target. Call this under the tree
  /// lock.
  final func leaveIfEnding(_ garbage: inout Garbage) {
    if unsafe showsInstance || kept != nil || creation != nil || hasCaches || self is Alias { return }
    if let node, node.treeLocked.state.isEnding { node.unregister(self, &garbage) }
  }
}

extension AsyncFactory {
  /// Calls the closer, if there is one, for a new instance that is not kept, because all tasks that wanted it have been
  /// cancelled.
  ///
  /// - Parameter path: The path of the context that would have owned the instance.
  final func close(_ instance: Instance, path: [String]) async {
    do { try await Tree.change({ _ in closer })?.close(instance) } catch {
      UDICloseError(failures: [UDIFailure(self, path: path, error: error)]).report()
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
