/// A context's providers. Everything here runs under the tree lock.
extension Node {
  /// Registers a provider. Removes a provider that was registered under the same key, with everything that it made.
  ///
  /// - Returns: The user's storages, to be reset once the lock has been given back.
  func register(_ provider: Provider, _ garbage: inout Garbage) -> [DroppedStorage] {
    provider.enter(self)
    provider.isFromSetUp = isSetUpByThisThread
    if treeLocked.bindings.heldCount > 0, let binding = ownBinding(provider.key) {
      // A dead binding is withdrawn here, because it would hide the provider.
      if let object = binding.object {
        Schedule.reached(.loadedToLook)
        garbage.add(object, of: binding)
      } else {
        binding.withdraw(&garbage)
      }
    }
    let expected = Int(shared.parent?.treeLocked.expectedKeys ?? 1)
    let old: Provider?
    if let found = treeLocked.providers.find(provider.keyID) {
      old = found.element.provider
      found.element.provider = provider
    } else {
      old = nil
      treeLocked.providers.insert(ProviderEntry(provider: provider), initialCapacity: expected)
    }
    if treeLocked.bindings.heldCount == 0 || heldBinding(provider.key) == nil {
      Tree.notifying(.of(provider)) {
        if provider.hasMade {
          setEntry(provider.current, forKey: provider.keyID, initialCapacity: expected)
        } else {
          setEntry(provider, forKey: provider.keyID, initialCapacity: expected)
        }
      }
    }
    if provider.hasMade, let entry = provider.shown, entry.kind == .owned {
      BindingAudit.note(entry.owned, entry, self, &garbage)
    }
    guard let old else { return [] }
    return retire(old, &garbage)
  }

  /// Removes a provider.
  ///
  /// - Returns: The user's storages, to be reset once the lock has been given back.
  func unregister(_ provider: Provider, _ garbage: inout Garbage) -> [DroppedStorage] {
    guard let found = treeLocked.providers.find(provider.keyID), found.element.provider === provider else { return [] }
    treeLocked.providers.remove(provider.keyID)
    Tree.notifying(.of(provider)) { showProvided(provider.key) }
    return retire(provider, &garbage)
  }

  /// Ends a provider that is no longer in the table, together with its aliases.
  private func retire(_ provider: Provider, _ garbage: inout Garbage) -> [DroppedStorage] {
    var storages = provider.leave(&garbage)
    garbage.add(provider)
    if let alias = provider as? Alias { alias.target.aliases.removeAll { $0 === alias } }
    for alias in provider.takeAliases() {
      garbage.add(alias)
      storages += unregister(alias, &garbage)
    }
    return storages
  }

  /// The provider under a key.
  func provider(_ key: UInt64) -> Provider? {
    treeLocked.providers.isEmpty ? nil : treeLocked.providers.find(key)?.element.provider
  }

  /// Makes the slot show what one of the providers keeps, unless something is bound: a binding takes precedence.
  func show(_ entry: InstanceEntry) {
    guard treeLocked.bindings.heldCount == 0 || heldBinding(entry.key) == nil else { return }
    setEntry(entry, forKey: entry.keyID)
  }

  /// Makes the slot for a key show what the provider has, unless something is bound: a binding takes precedence.
  func showProvided(_ key: KeyIdentity) {
    guard heldBinding(key) == nil else { return }
    setEntry(provider(key.id)?.current, forKey: key.id)
  }

  /// Drops what the providers of a context have made, because the context is ending. The providers have already been
  /// taken out of the context.
  ///
  /// - Returns: The user's storages, to be reset once the lock has been given back.
  func drop(_ providers: inout CompactTable<ProviderEntry>, _ garbage: inout Garbage) -> [DroppedStorage] {
    var storages: [DroppedStorage] = []
    providers.changeEach { element in
      // This comes first, so that slots that are about to disappear are not corrected.
      element.provider.node = nil
      element.provider.shown?.node = nil
      // If nobody else holds the provider, its instance is released with it. Otherwise most contexts would need memory
      // for their garbage, and the benchmark "the same by a scope: register 3, make 3, link 2, end it" would take
      // longer.
      if !element.provider.hasExtras, isKnownUniquelyReferenced(&element.provider) { return }
      storages += element.provider.leave(&garbage)
      for alias in element.provider.takeAliases() { garbage.add(alias) }
    }
    return storages
  }

  /// Whether somebody besides the context holds one of its providers, for example as a `UDIRegistration`.
  var hasProvidersHeldElsewhere: Bool {
    var result = false
    treeLocked.providers.changeEach { result = result || !isKnownUniquelyReferenced(&$0.provider) }
    return result
  }
}

/// An entry in the table of a context's providers.
struct ProviderEntry: CompactTableElement {
  var provider: Provider
  var key: UInt64 { provider.keyID }
  static func hash(_ key: UInt64) -> UInt { scrambledID(key) }
}
