/// Where a provider keeps an instance: by itself, in one of its caches, or for the nearest scope.
extension Provider {
  /// Returns the keeper of the instance for the given arguments; under the lifetime `.scope`, that of the nearest scope
  /// around a context. Do not call this under a lock.
  ///
  /// - Throws: `ProviderFailure`: `noScope` or `scopeIsAbove` if no scope can own the instance, or `closed` if the
  ///   scope is closed, or is being closed and has made nothing with this provider, or if a closed scope of that kind
  ///   is nearer.
  @inline(never)
  final func keeper(for arguments: ArgumentKey?, asking context: UDIContext) throws -> InstanceKeeper {
    sharing == .scope ? try scopeKeeper(for: context).keeper(for: arguments) : keeper(for: arguments)
  }

  /// Returns the keeper of the instance for the given arguments. Do not call this under a lock.
  // Consuming, because the result refers to the provider.
  final consuming func keeper(for arguments: ArgumentKey?) -> InstanceKeeper {
    guard arguments != nil || sharing == .custom else { return InstanceKeeper(provider: self, cache: nil) }
    let (caches, first) = Tree.change { _ in
      let extras = ensureExtras()
      let caches = extras.caches ?? InstanceCaches()
      extras.caches = caches
      return (caches, caches.first(arguments))
    }
    // Usually there is no other cache with the same hash.
    if let first, first.arguments == arguments { return InstanceKeeper(provider: self, cache: first) }
    let (cache, isNew) = InstanceCache.find(for: self, arguments, in: caches)
    if isNew { caches.sweep(sparing: cache) }
    return InstanceKeeper(provider: self, cache: cache)
  }

  // MARK: - For scopes

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
