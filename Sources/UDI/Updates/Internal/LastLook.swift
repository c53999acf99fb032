/// Where the answer to a watcher's last look came from. It decides whether a provider that the next look finds is worth asking.
struct LastLook {
  private enum Source {
    /// There was nothing at all.
    case nothing
    /// An object that somebody bound.
    case bound
    /// An object that came from a look for some watcher. Any provider up to the one with this number may be behind it.
    case broughtByLook(newestProvider: UInt)
    /// A provider, by its `id`: it made the answer, or kept it, or failed.
    case provider(UInt)
  }

  private var source = Source.nothing
  /// The box in which a provider keeps a value: another value has another box.
  private weak var box: AnyObject?

  /// Whether even a look that makes nothing asks this entry: it is a provider that is new to the watcher and did not come from a look, or a
  /// box with another value.
  func isNew(_ entry: Entry) -> Bool {
    if let instanceEntry = entry as? InstanceEntry { return instanceEntry.owned !== box }
    guard let provider = entry as? Provider else { return true }
    switch source {
    case .nothing: return true
    case .bound: return !provider.comesFromLook
    case .broughtByLook(let newest): return provider.id > newest && !provider.comesFromLook
    case .provider(let id): return provider.id != id && !provider.comesFromLook
    }
  }

  /// Notes that an entry was asked: a provider, or the box with a value that it keeps.
  mutating func note(_ entry: Entry) {
    box = Tree.change { _ in
      if let provider = entry as? Provider {
        source = .provider(provider.id)
        return provider.shown?.owned
      }
      guard let instanceEntry = entry as? InstanceEntry else { return nil }
      // If it was taken out meanwhile, its provider may be gone, too: then any other provider is new.
      source = instanceEntry.node == nil ? .bound : .provider(instanceEntry.maker.id)
      return instanceEntry.owned
    }
  }

  /// Notes that there was an answer without a provider, or none.
  ///
  /// - Parameters:
  ///   - node: Where the lookup begins.
  ///   - isKeptOnly: Whether the look makes nothing, and so does not find out what is behind an object that came from a look.
  mutating func note(_ key: KeyIdentity, _ search: UDISearch?, from node: Node, isKeptOnly: Bool) {
    Tree.change { garbage in
      guard let entry = node.nearestEntry(key.id, node.direction(of: search))?.object else { return source = .nothing }
      garbage.add(entry)
      if let instanceEntry = entry as? InstanceEntry {
        source = .provider(instanceEntry.maker.id)
      } else if let provider = entry as? Provider {
        source = .provider(provider.id)
      } else if !entry.comesFromLook {
        source = .bound
      } else if !isKeptOnly {
        source = .broughtByLook(newestProvider: unsafe Tree.providerCount)
      }
    }
  }
}
