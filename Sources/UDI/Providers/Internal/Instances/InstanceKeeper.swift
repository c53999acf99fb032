/// An object that keeps an instance: the provider itself, or an `InstanceCache` if there are arguments or the instance
/// goes into a user's storage.
protocol InstanceKeeper: AsyncKeeper {
  var provider: Provider { get }
  /// The user's storage, if the lifetime has one. It then keeps the instance, and `kept` is nil.
  var custom: CustomStorage? { get }
  /// The entry for the instance that is kept. Guarded by the tree lock.
  var kept: InstanceEntry? { get }
  /// The creation of an instance, while a synchronous factory makes it. Guarded by the tree lock.
  var creation: SharedCreation? { get set }
  /// The creation of an instance, while an asynchronous factory makes it. Guarded by the tree lock.
  var asyncCreation: AsyncCreation? { get set }
  /// Whether the provider has discarded this keeper because it kept no instance. Guarded by the tree lock.
  var isDiscarded: Bool { get }
  /// Whether an instance may be made now. False while the context is being closed. Call this under the tree lock.
  func mayMake(in node: Node) -> Bool

  /// Keeps an instance, and drops the previous one, if there is one. Call this under the tree lock.
  func keep(_ entry: InstanceEntry, _ garbage: inout Garbage)
  /// Drops the instance. Call this under the tree lock.
  func forgetKept(_ garbage: inout Garbage)
  /// Lets the provider discard this keeper if it keeps no instance and none is being made. Call this under the tree
  /// lock, when a creation has failed.
  func discardIfUnused(_ garbage: inout Garbage)
}

/// The next step of a thread that wants an instance.
enum Claim {
  /// Take this instance.
  case found(Instance)
  /// Wait for another thread, which is making the instance.
  case wait(Gate, SharedCreation)
  /// Make an instance for this context, and then call `end`.
  case make(UDIContext, SharedCreation)
  /// Look for another keeper, because this one is no longer in use.
  case discarded
  /// Repeat the lookup, because the provider has left its context.
  case gone
}

extension InstanceKeeper {
  /// Finds the instance, or the creation that is making it. If there is neither, begins a creation, and the caller has
  /// to make the instance.
  ///
  /// - Throws: `ProviderFailure.cycle` if this thread would wait for itself.
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
      // one has been removed from the storage.
      if let creation = creation ?? custom?.storing {
        return .wait(try creation.prepareToWait(resolution), creation)
      }
      // While the storage is being reset, no instance is made: this thread waits for the end of the reset. There is one
      // exception: if the storage links during its own reset, this thread does not wait, because it would wait for
      // itself.
      for reset in custom?.resets ?? [] {
        if let gate = try? reset.prepareToWait(resolution) { return .wait(gate, reset) }
      }
      if !mayMake(in: node) { throw ProviderFailure.closed(node.fullPath) }
      guard let owner = context.withNode({ $0 == node }) ? context : node.context else { return .gone }
      // A leak audit has to know this context. If the context has no parent, the audit might not know it yet (see
      // `Node.rememberWithoutParent`).
      if AuditNotice.isOn { node.remember(owner) }
      let new = resolution.read { $0.beginCreation(provider) }
      creation = new
      return .make(owner, new)
    }
  }

  /// Ends a creation, and passes the outcome to the threads that wait. Keeps a new instance as the lifetime says,
  /// unless a reset or the provider's removal has dropped it in the meantime.
  func end(_ creation: SharedCreation, _ outcome: SharedCreation.Outcome) {
    let provider = provider
    guard case .made(let instance) = outcome else {
      return Tree.change { garbage in
        endNow(creation, outcome)
        // Otherwise the provider would hold the arguments, although it keeps nothing for them.
        discardIfUnused(&garbage)
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
      if !instance.isBox { AuditNotice.note(instance.object, provider, node, &garbage) }
      guard custom == nil, !(isWeak && instance.isBox) else { return provider.leaveIfEnding(&garbage) }
      keep(InstanceEntry(instance, provider, isWeak: isWeak), &garbage)
    }
  }

  /// Whether a creation is still the current one. After a reset, it is not. Call this under the tree lock.
  func isCurrent(_ creation: SharedCreation) -> Bool { self.creation === creation }

  /// Ends a creation. The caller must hold it, so that it is not released under the lock. Call this under the tree
  /// lock.
  private func endNow(_ creation: SharedCreation, _ outcome: @autoclosure () -> SharedCreation.Outcome) {
    if isCurrent(creation) { self.creation = nil }
    if creation.end(outcome()) { creation.maker.read { $0.reuse(creation) } }
  }

  /// Drops the instance that is kept or is being made. Threads that already wait still get it, but later requests get a
  /// newer one. A user's storage is reset when the lock has been released. Call this under the tree lock.
  func dropKept(_ garbage: inout Garbage) {
    if let creation {
      provider.node?.droppedCreations.add(creation)
      garbage.add(creation)
    }
    creation = nil
    if let asyncCreation {
      provider.node?.droppedCreations.add(asyncCreation)
      garbage.add(asyncCreation)
    }
    asyncCreation = nil
    forgetKept(&garbage)
    if let custom { garbage.add(DroppedStorage(custom)) }
  }
}

extension Provider: InstanceKeeper {
  var provider: Provider { self }
  var custom: CustomStorage? { nil }
  var kept: InstanceEntry? { shown }
  var isDiscarded: Bool { false }
  /// True, because the check is not needed here: when its context is being closed, a provider that keeps nothing leaves
  /// the context at once.
  func mayMake(in node: Node) -> Bool { true }

  func keep(_ entry: InstanceEntry, _ garbage: inout Garbage) {
    if let shown { garbage.add(shown) }
    show(entry)
  }

  func forgetKept(_ garbage: inout Garbage) { if hasMade { forget(shown, &garbage) } }

  /// Does nothing, because the provider itself is not discarded.
  func discardIfUnused(_ garbage: inout Garbage) {}
}
