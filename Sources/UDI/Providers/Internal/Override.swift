/// What a context has under a key, set aside for something else: for `UDITesting`.
package final class Override: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.
  private let context: UDIContext
  private let provider: Provider
  private var hiddenBinding: Binding?
  private var hiddenProvider: Provider?

  /// Puts a value in the place of what the context has, until `end()`.
  package init<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, with value: Dependency, in context: UDIContext,
    _ fileID: StaticString, _ line: UInt
  ) {
    self.context = context
    provider = Factory<Dependency>(
      Provider.Description(
        type, name, .unique, nil, CallSite(fileID, line), isOnMainActor: false, completes: false), { _ in value }, nil)
    context.change { node, garbage in
      node.remember(context)
      guard !node.isInert else { return }
      if let binding = node.ownBinding(provider.key) {
        hiddenBinding = binding
        binding.takeOut(&garbage)
      }
      hiddenProvider = node.exchange(provider)
    }
  }

  /// Takes it back, and with it what was registered under the key meanwhile.
  package func end() {
    let storages = context.change { node, garbage -> [any UDIStorage] in
      if let present = node.ownBinding(provider.key) { present.takeOut(&garbage) }
      let storages = node.putBack(hiddenProvider, forKey: provider.key, &garbage)
      if let binding = hiddenBinding { node.bind(binding, moving: false, &garbage) }
      if let hiddenBinding { garbage.add(hiddenBinding) }
      hiddenBinding = nil
      hiddenProvider = nil
      return storages
    }
    for storage in storages { storage.reset() }
  }
}

extension Node {
  /// Puts a provider in the place of another one, which keeps what it has made. Under the tree lock.
  fileprivate func exchange(_ provider: Provider) -> Provider? {
    provider.enter(self)
    let old = self.provider(provider.key.id)
    old?.node = nil
    if let place = providers.find(provider.key.id) {
      place.element.provider = provider
    } else {
      providers.insert(ProviderEntry(provider: provider))
    }
    showProvided(provider.key)
    return old
  }

  /// Takes the provider under a key out, and puts the one back that was there before. Under the tree lock.
  fileprivate func putBack(_ old: Provider?, forKey key: KeyIdentity, _ garbage: inout Garbage) -> [any UDIStorage] {
    let storages = provider(key.id).map { unregister($0, &garbage) } ?? []
    guard let old else { return storages }
    old.node = self
    providers.insert(ProviderEntry(provider: old))
    showProvided(key)
    return storages
  }
}
