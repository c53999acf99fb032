/// What keeps an instance that was made. That is the provider itself, or an `InstanceCache` if there are arguments or
/// if the instance goes into a user's storage.
protocol InstanceKeeper: AsyncKeeper {
  var provider: Provider { get }
  /// The user's storage, if the lifetime has one. It then keeps the instance, and `kept` is nil.
  var custom: CustomStorage? { get }
  /// The instance that is kept. Under the tree lock.
  var kept: InstanceEntry? { get }
  /// The instance that is being made. Under the tree lock.
  var creation: SharedCreation? { get set }
  /// The instance that an asynchronous factory is making. Under the tree lock.
  var asyncCreation: AsyncCreation? { get set }
  /// Whether the provider has discarded this keeper because it held nothing. Under the tree lock.
  var isDiscarded: Bool { get }
  /// Whether an instance may be made now: not if the context is being closed. Under the tree lock.
  func mayMake(in node: Node) -> Bool

  /// Keeps an instance, and drops the one that was kept before, if any. Under the tree lock.
  func keep(_ entry: InstanceEntry, _ garbage: inout Garbage)
  /// Drops the instance. Under the tree lock.
  func forgetKept(_ garbage: inout Garbage)
}

/// What a thread that wants an instance does next.
enum Claim {
  /// Takes the instance.
  case found(Instance)
  /// Waits for another thread, which is making the instance.
  case wait(Gate, SharedCreation)
  /// Makes an instance for this context, and then calls `end`.
  case make(UDIContext, SharedCreation)
  /// Looks for another keeper, because this one is no longer in use.
  case discarded
  /// Looks up again, because the provider has left its context.
  case gone
}

extension InstanceKeeper {
  /// Finds the instance that is kept or being made. If there is none, the caller has to make one.
  ///
  /// - Throws: `ProviderFailure.cycle` if waiting would never end.
  func claim(for context: UDIContext, _ resolution: Unretained<Resolution>) throws -> Claim {
    let provider = provider
    return try Tree.change { garbage in
      guard let node = provider.node else { return .gone }
      if isDiscarded { return .discarded }
      if let kept {
        if let instance = kept.instance { return .found(instance) }
        forgetKept(&garbage)
        if node.treeLocked.state.isEnding { throw ProviderFailure.closed(node.fullPath) }
      }
      if let custom { custom.isIdle = false }
      // After a reset, another thread might still be storing an older instance. No newer one is made before the older
      // one has been removed from the storage again.
      if let creation = creation ?? custom?.storing {
        return .wait(try creation.prepareToWait(resolution), creation)
      }
      // No instance is made while the storage is being reset, either. But a storage may link while it is reset: if this
      // thread would then wait for ever, it does not wait.
      for reset in custom?.resets ?? [] {
        if let gate = try? reset.prepareToWait(resolution) { return .wait(gate, reset) }
      }
      if !mayMake(in: node) { throw ProviderFailure.closed(node.fullPath) }
      guard let owner = context.withNode({ $0 == node }) ? context : node.context else { return .gone }
      // An audit has to know this context. If the context has no parent, it might not have been noted (see
      // `Node.rememberWithoutParent`).
      if BindingAudit.isOn { node.remember(owner) }
      let new = resolution.read { $0.beginCreation(provider) }
      creation = new
      return .make(owner, new)
    }
  }

  /// Ends a creation: keeps what the caller has made, if the lifetime says so, and passes it to the threads that wait.
  func end(_ creation: SharedCreation, _ outcome: SharedCreation.Outcome) {
    let provider = provider
    guard case .made(let instance) = outcome else {
      return Tree.change { garbage in
        endNow(creation, outcome)
        provider.leaveIfEnding(&garbage)
      }
    }
    let isWeak = provider.sharing == .weak
    if isWeak, instance.isBox { provider.reportWeakValue(instance) }
    if let custom { store(instance, in: custom, creation) }
    Tree.change { garbage in
      let isCurrent = isCurrent(creation)
      endNow(creation, .made(instance))
      guard let node = provider.node, isCurrent else { return provider.dropUnclosed(instance, &garbage) }
      if !instance.isBox { BindingAudit.note(instance.object, provider, node, &garbage) }
      guard custom == nil, !(isWeak && instance.isBox) else { return provider.leaveIfEnding(&garbage) }
      keep(InstanceEntry(instance, provider, isWeak: isWeak), &garbage)
    }
  }

  /// Whether a creation is still the current one: after a reset it no longer is. Under the tree lock.
  func isCurrent(_ creation: SharedCreation) -> Bool { self.creation === creation }

  /// Ends a creation. The caller holds the creation, so it is not released under the lock. Under the tree lock.
  private func endNow(_ creation: SharedCreation, _ outcome: @autoclosure () -> SharedCreation.Outcome) {
    if isCurrent(creation) { self.creation = nil }
    if creation.end(outcome()) { creation.maker.read { $0.reuse(creation) } }
  }

  /// Drops what is kept and what is being made. Threads that already wait for what is being made still get it, but
  /// whoever asks from now on gets a newer instance. Under the tree lock.
  ///
  /// - Returns: The user's storage, to be reset once the lock has been given back.
  func dropKept(_ garbage: inout Garbage) -> DroppedStorage? {
    if let creation { garbage.add(creation) }
    creation = nil
    if let asyncCreation { garbage.add(asyncCreation) }
    asyncCreation = nil
    forgetKept(&garbage)
    return custom.map { DroppedStorage($0, of: provider) }
  }
}

extension Provider: InstanceKeeper {
  var provider: Provider { self }
  var custom: CustomStorage? { nil }
  var kept: InstanceEntry? { shown }
  var isDiscarded: Bool { false }
  /// True, because a provider that keeps nothing leaves its context as soon as that is being closed.
  func mayMake(in node: Node) -> Bool { true }

  func keep(_ entry: InstanceEntry, _ garbage: inout Garbage) {
    if let shown { garbage.add(shown) }
    show(entry)
  }

  func forgetKept(_ garbage: inout Garbage) { if hasMade { forget(shown, &garbage) } }
}
