/// Where the answer of a watcher's last lookup came from. This decides whether the next lookup should ask a provider
/// that it finds.
struct LastLook {
  /// The ids of the providers that may have made or kept the answer, or failed: none, if somebody bound it. Nil means
  /// that there was nothing at all.
  private var providers: Range<UInt>?
  /// The box in which a provider keeps a value. Another value has another box.
  private weak var box: AnyObject?

  /// Whether even a lookup that makes nothing should ask this entry: it is a provider that is new to the watcher and
  /// that no watcher's lookup registered, or it is a box with another value.
  func isNew(_ entry: Entry) -> Bool {
    if let instanceEntry = entry as? InstanceEntry { return instanceEntry.owned !== box }
    guard let provider = entry as? Provider, let providers else { return true }
    return !provider.comesFromLook && !providers.contains(provider.id)
  }

  /// Records that an entry was asked: a provider, or the box with a value that a provider keeps.
  mutating func note(_ entry: Entry) {
    box = Tree.change { _ in
      if let provider = entry as? Provider {
        providers = Self.only(provider)
        return provider.shown?.owned
      }
      guard let instanceEntry = entry as? InstanceEntry else { return nil }
      // If the entry was removed meanwhile, its provider may be gone, too. Then any other provider is new.
      providers = instanceEntry.node == nil ? 0..<0 : Self.only(instanceEntry.maker)
      return instanceEntry.owned
    }
  }

  /// Records that the answer came without a provider, or that there was none.
  ///
  /// - Parameters:
  ///   - node: The node where the lookup begins.
  ///   - isKeptOnly: Whether the lookup makes nothing, and so does not find out where an object that appeared during a
  ///     watcher's lookup comes from.
  mutating func note(_ key: KeyIdentity, _ search: UDISearch?, from node: Node, isKeptOnly: Bool) {
    Tree.change { garbage in
      guard let entry = node.nearestEntry(key.id, node.direction(of: search))?.object else { return providers = nil }
      garbage.add(entry)
      if let provider = entry as? Provider ?? (entry as? InstanceEntry)?.maker {
        providers = Self.only(provider)
      } else if !entry.comesFromLook {
        providers = 0..<0
      } else if !isKeptOnly {
        // Any provider that there is may have made it.
        providers = unsafe 0..<Tree.providerCount + 1
      }
    }
  }

  private static func only(_ provider: Provider) -> Range<UInt> { provider.id..<provider.id + 1 }
}
