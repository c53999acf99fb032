/// Keeps the instances of one provider for one scope, under the lifetime `.scope`.
///
/// A provider with this lifetime keeps nothing by itself. Each scope that asks gets a `ScopeKeeper`, which keeps the
/// instances as a provider does under `.context`, while the provider's factory makes them. The keeper is in the table
/// of the scope's providers, so its instances are closed, reset, listed and released together with the rest. But slots
/// do not refer to it. A lookup finds the provider, whether the scope has made anything or not. So the order of lookups
/// makes no difference to what they find.
final class ScopeKeeper: Provider, @unchecked Sendable {
  // Unchecked: this class adds a constant, and an instance that is guarded by the tree lock.

  let provider: Provider
  /// The instance that is kept. It has no entry, because no slot would refer to it. An entry would add a tenth to the
  /// row "scoped" of `Benchmarks/instructions`.
  @exclusivity(unchecked) private final var instance: Instance?

  init(_ provider: __shared Provider) {
    self.provider = provider
    super.init(keepingFor: provider)
  }

  deinit {
    guard reach == .mainActor, let instance = unsafe instance.take() else { return }
    releaseOnMainActor(consume instance)
  }

  override var kept: Instance? { unsafe instance }

  override func keep(_ instance: Instance, _ garbage: inout Garbage) { unsafe self.instance = instance }

  override func forgetKept(_ garbage: inout Garbage) {
    guard let instance = unsafe instance.take() else { return }
    garbage.add(instance.object, reach)
    leaveIfIdle(&garbage)
  }
}

extension Provider {
  /// Returns the keeper for the nearest scope around a context, after making it if there is none. Do not call this
  /// under a lock.
  final func scopeKeeper(for context: UDIContext) throws -> ScopeKeeper {
    try context.change { node, garbage in
      let (owner, obstacle) = owner(around: node)
      // Contexts might move to another scope.
      if Tree.areLooking { node.noteScope(scopeKey) }
      if let present = owner?.keeper(of: self) { return present }
      guard let scope = owner, obstacle == nil else { throw ProviderFailure.explained(obstacle ?? .contextGone) }
      // A parent holds the scope's context, and a scope that has had children remembers it.
      if scope == node, scope.parent == nil { scope.remember(context) }
      let new = ScopeKeeper(self)
      new.enter(scope)
      scope.treeLocked.providers.insert(Node.Source(provider: new), initialCapacity: 4)
      return new
    }
  }

  /// The scope that owns the instance that the provider makes for a context under the lifetime `.scope`: the nearest
  /// one of the provider's kind. It must not be above the context in which the provider is registered, because its
  /// instances would outlive that context. Called under the tree lock.
  ///
  /// - Returns: The scope, and why it cannot own a new instance, if it cannot.
  /// - Complexity: O(depth).
  package final func owner(around first: Node) -> (scope: Node?, obstacle: UDIExplanation.Cause?) {
    for scope in sequence(first: first, next: { $0.shared.parent }) {
      let isOwner = scope.treeLocked.isScope && (scopeKind == nil || scopeKind == scope.scopeKind)
      if isOwner, let above = node?.parent, above.andAncestors.contains(scope) {
        return (nil, .scopeIsAbove(scopePath: scope.fullPath))
      }
      if isOwner, !scope.isEnding { return (scope, nil) }
      // No outer scope replaces a closed one.
      let isPast = scope.isEnding && scope.past.contains { $0.scopeKind.map { scopeKind ?? $0 == $0 } == true }
      if isOwner || isPast { return (isOwner ? scope : nil, .contextClosed(fullPath: scope.endingPath ?? [])) }
    }
    return (nil, .noScope(kind: scopeKind, present: first.andAncestors.compactMap(\.scopeKind).reversed()))
  }
}

/// Scopes. Used under the tree lock.
extension Node {
  /// The keeper of a provider's instances for this scope; nil if the scope has made none.
  func keeper(of provider: Provider) -> ScopeKeeper? {
    // The cast is safe, because only these keepers are in the table under such keys.
    self.provider(ScopeKey.id(provider.id)).map { unsafe unsafeDowncast($0, to: ScopeKeeper.self) }
  }
}
