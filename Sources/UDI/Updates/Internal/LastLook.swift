/// Where the answer to a watcher's last look came from: tells whether a provider that it comes to next is worth asking.
struct LastLook {
  private enum Source {
    /// There was nothing at all.
    case nothing
    /// An object that somebody bound.
    case bound
    /// An object that a look for some watcher brought. What is behind it may be any provider up to the one with this number.
    case broughtByLook(newestProvider: UInt)
    /// A provider, by its `id`: it made the answer, or kept it, or failed.
    case provider(UInt)
  }

  private var source = Source.nothing
  /// What a provider keeps a value in, which tells the value from the next one.
  private weak var box: AnyObject?

  /// Whether a look that has nothing made asks this entry all the same: a provider that is new to the watcher and did not come from a
  /// look, or a box with another value.
  func isNew(_ entry: Entry) -> Bool {
    if let made = entry as? MadeEntry { return made.owned !== box }
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
      guard let made = entry as? MadeEntry else { return nil }
      // Taken out meanwhile, and its provider with it, perhaps: then any other one is new.
      source = made.node == nil ? .bound : .provider(made.maker.id)
      return made.owned
    }
  }

  /// Notes that there was an answer without a provider, or none.
  ///
  /// - Parameters:
  ///   - node: Where the lookup begins.
  ///   - isKeptOnly: Whether the look has nothing made, and so leaves open what is behind an object that a look brought.
  mutating func note(_ key: KeyIdentity, _ search: UDISearch?, from node: Node, isKeptOnly: Bool) {
    Tree.change { garbage in
      guard let entry = node.nearestEntry(key.id, node.direction(of: search))?.object else { return source = .nothing }
      garbage.add(entry)
      if let made = entry as? MadeEntry {
        source = .provider(made.maker.id)
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
