/// The origin of the answer to a watcher's last lookup. If the next lookup finds a provider, the record tells whether
/// to ask the provider for an instance.
struct LastLook {
  /// The ids of the providers that may have made the answer, or of the provider that was asked and failed. Empty if the
  /// answer was bound by user code; nil if the lookup found nothing.
  private var providers: Range<UInt>?
  /// The box that contained the answer, if a provider keeps a value. Each value has its own box.
  private weak var box: AnyObject?

  /// Whether even a lookup that makes no instance should ask this entry. It should ask a provider if the watcher's last
  /// lookup found nothing, or if the provider is new to the watcher and was not registered during a watcher's lookup.
  /// It should ask an entry with a box other than the last one, because that box contains a different value.
  func isNew(_ entry: Entry) -> Bool {
    if let instanceEntry = entry as? InstanceEntry { return instanceEntry.owned !== box }
    guard let provider = entry as? Provider, let providers else { return true }
    return !provider.comesFromLook && !providers.contains(provider.id)
  }

  /// Records that the lookup asked a provider, or an entry with the box of a value that a provider keeps.
  mutating func note(_ entry: Entry) {
    box = Tree.change { _ in
      if let provider = entry as? Provider {
        providers = Self.only(provider)
        return provider.shown?.owned
      }
      guard let instanceEntry = entry as? InstanceEntry else { return nil }
      // If the entry has been removed since, its provider may also have been removed. In this case, any provider that
      // is found next is new.
      providers = instanceEntry.node == nil ? 0..<0 : Self.only(instanceEntry.maker)
      return instanceEntry.owned
    }
  }

  /// Records the origin of an answer that was found without asking a provider, or that there was no answer.
  ///
  /// - Parameters:
  ///   - node: The node where the lookup begins.
  ///   - isKeptOnly: Whether the lookup makes no instance. If such a lookup finds an object that was bound during a
  ///     watcher's lookup, it cannot tell which provider made the object, so the last record is kept.
  mutating func note(_ key: KeyIdentity, _ search: UDISearch?, from node: Node, isKeptOnly: Bool) {
    forgetBox()
    Tree.change { garbage in
      guard let entry = node.nearestEntry(key.id, node.direction(of: search))?.object else { return providers = nil }
      garbage.add(entry)
      if let provider = entry as? Provider ?? (entry as? InstanceEntry)?.maker {
        providers = Self.only(provider)
      } else if !entry.comesFromLook {
        providers = 0..<0
      } else if !isKeptOnly {
        // The object may have been made by any of the providers that exist now.
        providers = unsafe 0..<Tree.providerCount + 1
      }
    }
  }

  /// Records that the answer was not the content of a box. If the same content is found later, it is a new answer.
  mutating func forgetBox() { box = nil }

  private static func only(_ provider: Provider) -> Range<UInt> { provider.id..<provider.id + 1 }
}
