import Synchronization

/// The completion, which is the closure that `onCreate` was given, and the instances that it is called for.
extension Provider {
  /// The closure that `onCreate` was given, without its types and its isolation, and where it may be called.
  typealias Completion = (isolation: Isolation, function: ActorOwned<(UDIContext, Instance) -> Void>)

  /// Calls the completion for an instance that was made for the given context. If it belongs to an actor, and this code
  /// does not run there, because the instance was made before `onCreate` was called, a task calls it on that actor. Do
  /// not call this under a lock.
  final func complete(_ instance: Instance, for context: UDIContext) {
    guard let (isolation, function) = Tree.change({ _ in extras?.completion }) else { return }
    if isolation.isHere { return function.value(context, instance) }
    let owned = OwnedInstance(instance, reach)
    Task { await complete(owned.value, for: context, on: isolation.actor) }
  }

  /// Does the same on the completion's actor.
  final func complete(_ instance: Instance, for context: UDIContext, on actor: isolated (any Actor)?) {
    Tree.change { _ in extras?.completion }?.function.value(context, instance)
  }

  /// The actor that the completion belongs to; nil if it belongs to none. Do not read this under the tree lock.
  final var completionActor: (any Actor)? { Tree.change { _ in extras?.completion }?.isolation.actor }

  /// Sets the completion, and calls it for the instances that are kept already: by this provider, or for scopes.
  final func setCompletion(_ completion: Completion, at site: UDICallSite) {
    let kept = Tree.change { garbage -> [(instance: Instance, context: UDIContext)] in
      guard let keepers = openKeepers("onCreate", &garbage) else { return [] }
      let extras = ensureExtras()
      if extras.completion != nil { fatalError("\(site.fileID):\(site.line): `onCreate` was called twice.") }
      extras.completion = completion
      if completion.isolation.actor != nil, !isAsynchronous, !isOfProvided { hasActor.store(true, ordering: .relaxed) }
      completesInstances.store(true, ordering: .relaxed)
      return keepers.flatMap { keeper in
        keeper.allKept.compactMap { instance in
          // It might be held weakly.
          garbage.add(instance.object, reach)
          return keeper.node?.context.map { (instance, $0) }
        }
      }
    }
    for (instance, context) in kept {
      Resolution.current.object.atEnd(completes: true, instance, nil, of: self, in: nil, for: context, with: nil)
    }
  }

  /// All instances that the provider keeps, apart from those in a user's storage. Called under the tree lock.
  final var allKept: [Instance] { ([kept] + (caches?.all ?? []).map(\.kept?.instance)).compactMap(\.self) }

  /// This provider, and the keepers of its instances for scopes. Nil if the provider is in no context, or if the
  /// context is being closed, which is reported. Called under the tree lock.
  ///
  /// - Complexity: O(1); under the lifetime `.scope`, O(contexts in the tree), if a scope has asked for an instance.
  final func openKeepers(_ verb: String, _ garbage: inout Garbage) -> [Provider]? {
    guard let node, !node.treeLocked.state.isEnding else {
      node?.refuse(self, verb, &garbage)
      return nil
    }
    if extras?.scopeKey == nil { return [self] }
    let others: [Provider] = BreadthFirst(node.root).compactMap { $0.node.isEnding ? nil : $0.node.keeper(of: self) }
    return [self] + others
  }
}
