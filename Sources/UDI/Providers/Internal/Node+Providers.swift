/// A context's providers. Everything here is called under the tree lock.
///
/// When a context loses a provider, it *retires* the provider. When a provider is retired or reset, it *drops* what it
/// keeps. For that, it *forgets* the entry for each instance, and *discards* the caches that nothing will use again.
extension Node {
  /// Registers a provider. If another one is registered under the same key, removes it, and drops the instances that it
  /// keeps.
  func register(_ provider: Provider, _ garbage: inout Garbage) {
    provider.enter(self)
    if AuditNotice.isEnteringNoted { AuditNotice.noteEntering(provider, self, &garbage) }
    if treeLocked.bindings.entryCount > 0, let binding = bindingInTable(provider.key) {
      // A dead binding is withdrawn here, because it would hide the provider.
      if let object = binding.object { garbage.add(object, binding.reach) } else { binding.withdraw(&garbage) }
    }
    let found = treeLocked.providers.find(provider.keyID)
    let old = found?.element.provider
    if let found {
      found.element.provider = provider
    } else {
      treeLocked.providers.insert(Node.Source(provider: provider), initialCapacity: 4)
    }
    if treeLocked.bindings.entryCount == 0 || bindingInTable(provider.key) == nil {
      setEntry(provider.current, forKey: provider.keyID, notifying: provider.changeKind)
    }
    if let old {
      if isRecording { reportReplaced(old, by: provider, &garbage) }
      retire(old, &garbage)
    }
  }

  /// The pairs of lines for which `reportReplaced` has reported something. Guarded by the tree lock.
  @exclusivity(unchecked) private nonisolated(unsafe) static var reportedPairs = ObjectTable<KeyIdentity>()

  /// Reports that a provider replaces another one that was registered at a different line, once for each such pair. A
  /// task's own reporter is told each time, because each test has to learn of it.
  private func reportReplaced(_ old: Provider, by new: Provider, _ garbage: inout Garbage) {
    if new.replaces != nil || new.isOfSetUp || old.isOfSetUp { return }
    if old is Alias || new is Alias || old.site.hash == new.site.hash { return }
    let pair = new.site.hash ^ (old.site.hash &* 3)
    guard unsafe UDIReporter.ofTask != nil || Self.reportedPairs[pair] == nil else { return }
    unsafe Self.reportedPairs[pair] = new.key
    let (path, key, first) = (fullPath, new.key, old.site)
    garbage.add(
      LateCall.report(.registeredTwice, at: new.site) {
        """
        This replaces what was registered as \(key) in \(quoted(path)) at \(first.fileID):\(first.line). If that is \
        meant, pass `replaces: true`; if what is there should stay, `replaces: false`.
        """
      })
  }

  /// Removes a provider, and drops the instances that it keeps. Does nothing if the provider is no longer registered.
  func unregister(_ provider: Provider, _ garbage: inout Garbage) {
    guard let found = treeLocked.providers.find(provider.keyID), found.element.provider === provider else { return }
    treeLocked.providers.remove(provider.keyID)
    if provider.kind != .scoped { showProvided(provider.key, notifying: provider.changeKind) }
    retire(provider, &garbage)
  }

  /// Retires a provider that has been removed from the table or replaced there: drops what it keeps, and makes it and
  /// its aliases leave their context.
  private func retire(_ provider: Provider, _ garbage: inout Garbage) {
    let helpers = provider.helpers
    // Whatever has helped this provider has also helped those that it has helped. (Once closing has begun, the order is
    // known.)
    if !helpers.isEmpty, !treeLocked.state.isEnding {
      treeLocked.providers.forEach {
        if $0.provider.helpers.contains(provider.helpID) { $0.provider.ensureExtras().helpers += helpers }
      }
    }
    // As after a reset, this updates the slot, and in an ending context it calls `unregister`. Neither changes anything
    // here, because the table no longer has the provider, and the slot no longer refers to it.
    provider.drop(isReset: false, &garbage)
    provider.node = nil
    garbage.add(provider)
    if let alias = provider as? Alias { alias.target.extras?.aliases.removeAll { $0 === alias } }
    for alias in provider.aliases { unregister(alias, &garbage) }
  }

  /// Whether this context has a provider or a live binding under the given key.
  func hasDependency(_ key: KeyIdentity, _ garbage: inout Garbage) -> Bool {
    provider(key.id) != nil || bindingInTable(key)?.liveObject(&garbage) != nil
  }

  /// The provider that is registered under the given key.
  func provider(_ key: UInt64) -> Provider? {
    treeLocked.providers.isEmpty ? nil : treeLocked.providers.find(key)?.element.provider
  }

  /// The keeper of a provider's instances for this scope; nil if the scope has made none.
  func keeper(of provider: Provider) -> ScopeKeeper? {
    // The cast is safe, because only these keepers are in the table under such keys.
    self.provider(ScopeKey.id(provider.id)).map { unsafe unsafeDowncast($0, to: ScopeKeeper.self) }
  }

  /// The providers of this context, in the order of registration.
  @inline(never)
  var allProviders: [Provider] { treeLocked.providers.map { $0.provider }.inOrder { UInt64($0.serial) } }

  /// Makes the slot for the given key refer to the provider, or to the entry for the instance that it keeps; if there
  /// is no provider, the slot no longer refers to anything in this context. A binding takes precedence: if there is
  /// one, nothing changes. So does an override: see `setEntry`.
  func showProvided(_ key: KeyIdentity, notifying kind: ChangeKind) {
    guard treeLocked.bindings.entryCount == 0 || bindingInTable(key) == nil else { return }
    setEntry(provider(key.id)?.current, forKey: key.id, notifying: kind)
  }

  /// Drops what a context's providers keep, because the context is ending. The providers have already been taken out of
  /// the context. This takes the place of retiring each of them, and corrects no slots.
  func drop(_ providers: inout CompactTable<Node.Source>, _ garbage: inout Garbage) {
    providers.changeEach { element in
      // The references to the node are cleared first, so that `drop` does not correct slots, which end with the
      // context.
      element.provider.node = nil
      element.provider.shown?.node = nil
      // If nothing else holds the provider, and it has no extras, its instance is released together with it. Putting
      // both into the garbage would make most contexts allocate memory for it.
      if !element.provider.hasExtras, isKnownUniquelyReferenced(&element.provider) { return }
      element.provider.drop(isReset: false, &garbage)
      for alias in element.provider.aliases { garbage.add(alias) }
      element.provider.extras?.aliases = []
    }
  }

  /// Whether it might matter which instances of the context were made with the help of which others. In a scope, this
  /// is not known before everything has been made: a provider above might have a closer. Nor is it known where there
  /// might be an override, whose end drops the instances that were made with it. Call this under the tree lock.
  var closesInOrder: Bool { unsafe treeLocked.hasClosers || treeLocked.isScope || Tree.hasOverrides }

  /// Whether anything besides the context holds a provider, for example through a `UDIRegistration`.
  var hasProvidersHeldElsewhere: Bool {
    var result = false
    treeLocked.providers.changeEach { result = result || !isKnownUniquelyReferenced(&$0.provider) }
    return result
  }

  // MARK: - What the tree asks and tells

  /// An element of the table of a context's providers.
  struct Source: CompactTableElement {
    var provider: Provider
    var key: UInt64 { provider.keyID }
    static func hash(_ key: UInt64) -> UInt { scrambledID(key) }
  }

  /// The properties of making that only a few nodes need: the lifetime of dependencies that are registered without one,
  /// outside modules; and the modules that are installed.
  ///
  /// Closing the context waits for the activities, apart from the creations that providers refer to: for operations of
  /// `whileAvailable`, and for creations to which the provider no longer refers, because it was reset, replaced or
  /// removed, or because an asynchronous factory has ended and only the completion or the closer still runs.
  ///
  /// The overrides, with which tests replace what the context has, are providers that show the value. If a key has
  /// several, the one that was added last is in force.
  typealias MakingExtras = (
    defaultLifetime: UDILifetime?, modules: [InstalledModule], activities: [Activity], overrides: [Provider]
  )
  static var noMakingExtras: MakingExtras { (nil, [], [], []) }

  /// Whether this thread or task is running a factory, or a completion, that was given this node's context.
  var isHandedToFactory: Bool { Resolution.present?.read { $0.hasHanded(self) } == true || AsyncCall.hasHanded(self) }

  func source(_ key: UInt64) -> Entry? { provider(key) }

  func passOnDefaults(to child: Node) {
    if let lifetime = defaultLifetime { child.treeLocked.ensureExtras().making.defaultLifetime = lifetime }
  }

  func abandonActivities(_ garbage: inout Garbage) {
    // An activity that is still under way must not hold the last reference to the extras, which hold objects of the
    // user: it would release them under the lock.
    for activity in treeLocked.extras?.making.activities ?? [] {
      garbage.add(activity)
      activity.leaveContext()
    }
  }
}
