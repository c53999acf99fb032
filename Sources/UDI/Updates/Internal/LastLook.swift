/// Where the answer of a watcher's last lookup came from. This decides whether the next lookup should ask a provider
/// that it finds.
struct LastLook {
  private enum Source {
    /// There was nothing at all.
    case nothing
    /// An object that somebody bound.
    case bound
    /// An object that appeared during a watcher's lookup. Any provider with an `id` up to this number may have made it.
    case broughtByLook(newestProvider: UInt)
    /// A provider, by its `id`: it made or kept the answer, or failed.
    case provider(UInt)
  }

  private var source = Source.nothing
  /// The box in which a provider keeps a value. Another value has another box.
  private weak var box: AnyObject?

  /// Whether even a lookup that makes nothing should ask this entry: it is a provider that is new to the watcher and
  /// that no watcher's lookup registered, or it is a box with another value.
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

  /// Records that an entry was asked: a provider, or the box with a value that a provider keeps.
  mutating func note(_ entry: Entry) {
    box = Tree.change { _ in
      if let provider = entry as? Provider {
        source = .provider(provider.id)
        return provider.shown?.owned
      }
      guard let instanceEntry = entry as? InstanceEntry else { return nil }
      // If the entry was removed meanwhile, its provider may be gone, too. Then any other provider is new.
      source = instanceEntry.node == nil ? .bound : .provider(instanceEntry.maker.id)
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
