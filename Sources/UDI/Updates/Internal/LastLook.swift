/// Where the answer of a watcher's last lookup came from. If the next lookup finds a provider, this decides whether the
/// lookup should ask it.
struct LastLook {
  /// The ids of the providers that the answer may have come from, or of the provider that was asked and failed. Empty
  /// if somebody bound the answer; nil if the lookup found nothing at all.
  private var providers: Range<UInt>?
  /// The box in which a provider keeps a value. Each value has a box of its own.
  private weak var box: AnyObject?

  /// Whether even a lookup that makes nothing should ask this entry. It should ask a provider that is new to the
  /// watcher, unless a watcher's lookup registered that provider. It should also ask a box that contains another value
  /// than before.
  func isNew(_ entry: Entry) -> Bool {
    if let instanceEntry = entry as? InstanceEntry { return instanceEntry.owned !== box }
    guard let provider = entry as? Provider, let providers else { return true }
    return !provider.comesFromLook && !providers.contains(provider.id)
  }

  /// Records that the lookup asked an entry: a provider, or a box that contains the value that a provider keeps.
  mutating func note(_ entry: Entry) {
    box = Tree.change { _ in
      if let provider = entry as? Provider {
        providers = Self.only(provider)
        return provider.shown?.owned
      }
      guard let instanceEntry = entry as? InstanceEntry else { return nil }
      // If the entry has been removed meanwhile, its provider may also have been removed. Then any provider that is
      // found next is new.
      providers = instanceEntry.node == nil ? 0..<0 : Self.only(instanceEntry.maker)
      return instanceEntry.owned
    }
  }

  /// Records the origin of an answer that was found without asking a provider, or that there was no answer.
  ///
  /// - Parameters:
  ///   - node: The node where the lookup begins.
  ///   - isKeptOnly: Whether the lookup makes nothing. Such a lookup cannot tell which provider made an object that
  ///     appeared during a watcher's lookup. The last record then stays as it is.
  mutating func note(_ key: KeyIdentity, _ search: UDISearch?, from node: Node, isKeptOnly: Bool) {
    Tree.change { garbage in
      guard let entry = node.nearestEntry(key.id, node.direction(of: search))?.object else { return providers = nil }
      garbage.add(entry)
      if let provider = entry as? Provider ?? (entry as? InstanceEntry)?.maker {
        providers = Self.only(provider)
      } else if !entry.comesFromLook {
        providers = 0..<0
      } else if !isKeptOnly {
        // Any of the providers that exist now may have made it.
        providers = unsafe 0..<Tree.providerCount + 1
      }
    }
  }

  private static func only(_ provider: Provider) -> Range<UInt> { provider.id..<provider.id + 1 }
}
