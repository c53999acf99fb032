/// The next step of a thread or a task that wants an instance.
enum Claim {
  /// Take this instance.
  case found(Instance)
  /// Wait for another thread or task, which is making the instance; or for a thread that stores an older instance in
  /// the user's storage. The number is the waiter's.
  case wait(Creation, UInt64)
  /// Make the instance, and then call `keep` or `end`. If the caller is a task, it has already been added to those that
  /// wait.
  case make(Creation, UInt64?)
  /// Repeat the lookup, because the provider has left its context, or the cache has been discarded.
  case gone
}

/// Where a provider keeps an instance: by itself or, if there are arguments or the instance goes into a user's storage,
/// in a cache. A graph of asynchronous factories keeps its instances in caches, too.
struct InstanceKeeper {
  let provider: Provider
  /// The cache; nil if the provider keeps the instance by itself.
  let cache: InstanceCache?

  /// The user's storage, if the lifetime has one. It then keeps the instance, and `kept` is nil.
  var custom: CustomStorage? { cache?.custom }

  /// Whether all lookups with the same arguments get the same instance, and not only those of one graph. If so, the
  /// instance gets its own graph while it is made.
  var servesAllLookups: Bool { cache?.isOfGraph != true }

  /// The instance that is kept; nil if there is none, or if it has been released. Do not read this under the lock,
  /// because it asks the user's storage.
  var present: Instance? { if let custom { custom.load() } else { Tree.change { _ in kept } } }

  /// Finds the instance, or the creation that is making it. If there is neither, begins a creation, and the caller has
  /// to make the instance.
  ///
  /// - Parameters:
  ///   - context: The context that asks.
  ///   - thread: The calling thread, if it makes the instance; nil if a separate task does.
  ///   - isPreparing: Whether that task first obtains the parameters of an initialiser. Other tasks then wait for it,
  ///     but threads do not: if one makes the instance meanwhile, the task takes that.
  ///   - preparation: The preparation that has obtained the instance's parameters, if there was one. If it has been
  ///     dropped, the result is `gone`.
  /// - Throws: `ProviderFailure.cycle` if the caller would wait for itself; `ProviderFailure.closed` if the instance
  ///   would have to be made, but the context is being closed.
  func claim(
    for context: UDIContext, by waiter: Activity.Waiter, on thread: Unretained<Resolution>? = nil,
    isPreparing: Bool = false, after preparation: Creation? = nil
  ) throws -> Claim {
    try Tree.change { garbage in
      guard let node = provider.node, cache?.isDiscarded != true else { return .gone }
      if preparation != nil, preparation !== self.preparation { return .gone }
      let notesHelp = unsafe Tree.hasClosers
      if notesHelp { provider.noteHelp() }
      if let kept { return .found(kept) }
      // An instance that was held weakly might have been released.
      forget(&garbage)
      custom?.isIdle = false
      // After a reset, another thread might still be storing an older instance. No newer one is made before the older
      // one has been removed from the storage.
      if let creation = creation ?? custom?.storing { return .wait(creation, try creation.enter(waiter)) }
      if isPreparing, let other = self.preparation { return .wait(other, try other.enter(waiter)) }
      if let path = node.endingPath { throw ProviderFailure.closed(path) }
      let isElsewhere = servesAllLookups && !context.withNode { $0 == node }
      let owner = isElsewhere ? node.context : nil
      if isElsewhere, owner == nil { return .gone }
      // A leak audit has to know this context. If the context has no parent, the audit might not know it yet (see
      // `Node.loseParent`).
      if AuditNotice.isOn, servesAllLookups { node.remember(owner ?? context) }
      let spare = thread?.read { unsafe $0.spareCreation.take() }
      let new: Creation = spare ?? thread.map { Creation(on: $0) } ?? AsyncCreation(on: nil)
      new.begin(self, for: owner)
      if notesHelp, servesAllLookups { new.noteFactory(in: node) }
      if isPreparing { self.preparation = new } else { creation = new }
      return .make(new, new.isOfTask ? new.add(waiter) : nil)
    }
  }

  /// Ends a creation that has given no instance to keep.
  func end(_ creation: Creation, _ outcome: Creation.Outcome) {
    creation.noteEndOfFactory()
    Tree.change { garbage in
      _ = finish(creation, outcome)
      // If the cache stayed, the provider would hold the arguments, although it keeps nothing for them. A user's
      // storage may be asked whether it is empty only while no lock is held, so its cache stays until a sweep.
      if let cache, servesAllLookups, custom == nil, !cache.isInUse(&garbage) {
        provider.caches?.discard(cache, &garbage)
      }
      provider.leaveIfIdle(&garbage)
    }
  }

  /// Ends a creation that has given an instance. Keeps the instance as the lifetime says, unless a reset or the
  /// provider's removal has dropped it in the meantime.
  ///
  /// - Parameter maker: The provider whose factory has made the instance.
  /// - Returns: Whether the caller has to call the maker's completion. If the maker gets one later, `onCreate` calls
  ///   it.
  func keep(_ instance: Instance, of creation: Creation, by maker: Provider) -> Bool {
    let isWeak = provider.sharing == .weak
    if isWeak, instance.isBox { provider.reportWeakValue(instance) }
    if let custom { store(instance, in: custom, creation) }
    return Tree.change { garbage in
      let completes = maker.hasCompletion
      if isWeak, let asker = Provider.Looker.present, !asker.madeWeakly.contains(maker.id) {
        asker.madeWeakly.append(maker.id)
      }
      let isCurrent = finish(creation, .success(OwnedInstance(instance, provider.reach)))
      if provider.hasCloser { provider.noteUnclosed(instance) }
      guard let node = provider.node, isCurrent else {
        // If the context is being closed, the instance is closed instead, because `close()` has waited for the factory.
        if provider.hasCloser { provider.dropUnclosed(1, &garbage) }
        provider.leaveIfIdle(&garbage)
        return completes
      }
      if AuditNotice.isOn, !instance.isBox, servesAllLookups {
        AuditNotice.note(instance.object, as: provider, in: node, &garbage)
      }
      if custom != nil || isWeak && instance.isBox {
        provider.leaveIfIdle(&garbage)
      } else if let cache {
        cache.keep(InstanceEntry(instance, provider, isWeak: isWeak), &garbage)
      } else {
        provider.keep(instance, &garbage)
      }
      // To watchers, the instance of an asynchronous factory is a new one, because a lookup could not have made it.
      if servesAllLookups, provider.isAsynchronous {
        for key in [maker.key] + maker.aliases.map(\.key) { node.tellFollowersHereAndAbove(of: key) }
      }
      return completes
    }
  }

  // MARK: - Under the tree lock

  /// The instance that is kept; nil if there is none, or if it has been released.
  @inline(__always)
  private var kept: Instance? { if let cache { cache.kept?.instance } else { provider.kept } }

  @inline(__always)
  private func forget(_ garbage: inout Garbage) {
    if let cache { cache.keep(nil, &garbage) } else { provider.forgetKept(&garbage) }
  }

  /// The creation of the instance that will be kept, while it is under way.
  var creation: Creation? {
    get { if let cache { cache.creation } else { unsafe provider.creation } }
    nonmutating set { if let cache { cache.creation = newValue } else { unsafe provider.creation = newValue } }
  }

  /// The task that obtains the parameters of an initialiser, while it does so. Lookups that do not wait ignore it.
  var preparation: Creation? {
    @inline(never)
    get { if let cache { cache.preparation } else { provider.extras?.preparation } }
    nonmutating set {
      if let cache { cache.preparation = newValue } else { provider.ensureExtras().preparation = newValue }
    }
  }

  /// Ends a creation. From then on, the keeper no longer refers to it. If a task makes the instance, that task wakes
  /// those that wait, but only after it has run the completion or the closer. Until then, closing the context has to
  /// wait for the creation.
  ///
  /// - Returns: Whether the keeper referred to the creation. After a reset, and after the provider's removal, it does
  ///   not.
  @inline(__always)
  private func finish(_ creation: Creation, _ outcome: @autoclosure () -> Creation.Outcome) -> Bool {
    let isCurrent = if let cache { cache.creation === creation } else { unsafe provider.creation === creation }
    if isCurrent { self.creation = nil }
    if creation.isOfTask { return finishTask(creation, isCurrent) }
    creation.end(outcome())
    return isCurrent
  }

  private func finishTask(_ creation: Creation, _ isCurrent: Bool) -> Bool {
    let isPreparation = creation === preparation
    if isPreparation { preparation = nil }
    guard isCurrent || isPreparation else { return false }
    if servesAllLookups, let node = provider.node { creation.delayClosing(of: node) }
    return true
  }

  /// Drops the instance that is kept or is being made: does for one keeper what `Provider.drop` does for all keepers of
  /// a provider. Those that already wait for the instance still get it, but later requests get a newer one. A user's
  /// storage is reset when the lock has been released.
  @inline(__always)
  func dropKept(_ garbage: inout Garbage) {
    if let creation { drop(creation, &garbage) }
    creation = nil
    if cache != nil || provider.hasExtras, let preparation {
      drop(preparation, &garbage)
      self.preparation = nil
    }
    forget(&garbage)
    if let custom { garbage.add(custom.reset()) }
  }

  @inline(never)
  private func drop(_ creation: Creation, _ garbage: inout Garbage) {
    if let node = provider.node { creation.delayClosing(of: node) }
    garbage.add(creation)
  }
}
