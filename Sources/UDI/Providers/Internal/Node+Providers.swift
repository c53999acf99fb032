/// A context's providers. Everything here is called under the tree lock.
extension Node {
  /// Registers a provider. If another one is registered under the same key, removes it, and drops the instances that it
  /// keeps.
  func register(_ provider: Provider, _ garbage: inout Garbage) {
    provider.enter(self)
    if treeLocked.bindings.heldCount > 0, let binding = ownBinding(provider.key) {
      // A dead binding is withdrawn here, because it would hide the provider.
      if let object = binding.object {
        garbage.add(object, of: binding)
      } else {
        binding.withdraw(&garbage)
      }
    }
    let found = treeLocked.providers.find(provider.keyID)
    let old = found?.element.provider
    if let found {
      found.element.provider = provider
    } else {
      treeLocked.providers.insert(ProviderEntry(provider: provider), initialCapacity: 4)
    }
    if treeLocked.bindings.heldCount == 0 || heldBinding(provider.key) == nil {
      setEntry(provider.current, forKey: provider.keyID, notifying: provider.changeKind)
    }
    if AuditNotice.isOn, let entry = provider.shown, entry.kind == .owned {
      AuditNotice.note(entry.owned, as: entry, in: self, &garbage)
    }
    if let old { retire(old, &garbage) }
  }

  /// Removes a provider, and drops the instances that it keeps.
  func unregister(_ provider: Provider, _ garbage: inout Garbage) {
    guard let found = treeLocked.providers.find(provider.keyID), found.element.provider === provider else { return }
    treeLocked.providers.remove(provider.keyID)
    showProvided(provider.key, notifying: provider.changeKind)
    retire(provider, &garbage)
  }

  /// Makes a provider and its aliases leave their context. The provider has already been removed from the table.
  private func retire(_ provider: Provider, _ garbage: inout Garbage) {
    provider.drop(isReset: false, &garbage)
    provider.node = nil
    garbage.add(provider)
    if let alias = provider as? Alias { alias.target.aliases.removeAll { $0 === alias } }
    for alias in provider.aliases { unregister(alias, &garbage) }
  }

  /// Whether this context has a provider or a live binding under the given key.
  func hasDependency(_ key: KeyIdentity, _ garbage: inout Garbage) -> Bool {
    if provider(key.id) != nil { return true }
    guard let binding = heldBinding(key), let object = binding.object else { return false }
    garbage.add(object, of: binding)
    return true
  }

  /// The provider that is registered under the given key.
  func provider(_ key: UInt64) -> Provider? {
    treeLocked.providers.isEmpty ? nil : treeLocked.providers.find(key)?.element.provider
  }

  /// Makes the slot for the given key refer to the provider, or to the instance that it keeps. A binding takes
  /// precedence: if there is one, nothing changes.
  func showProvided(_ key: KeyIdentity, notifying kind: ChangeKind) {
    guard treeLocked.bindings.heldCount == 0 || heldBinding(key) == nil else { return }
    setEntry(provider(key.id)?.current, forKey: key.id, notifying: kind)
  }

  /// Drops the instances that a context's providers keep, because the context is ending. The providers have already
  /// been taken out of the context.
  func drop(_ providers: inout CompactTable<ProviderEntry>, _ garbage: inout Garbage) {
    providers.changeEach { element in
      // The references to the node are cleared first, so that `drop` does not correct slots that are about to
      // disappear.
      element.provider.node = nil
      element.provider.shown?.node = nil
      // If nothing else holds the provider, its instance is released together with the provider. Putting both into the
      // garbage would make most contexts allocate memory for it.
      if !element.provider.hasExtras, isKnownUniquelyReferenced(&element.provider) { return }
      element.provider.drop(isReset: false, &garbage)
      for alias in element.provider.aliases { garbage.add(alias) }
      element.provider.aliases = []
    }
  }

  /// Whether anything besides the context holds a provider, for example through a `UDIRegistration`.
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
