/// Adding and withdrawing bindings. Everything here runs under the tree lock.
extension Node {
  /// Binds here. A binding under the same key is replaced.
  ///
  /// - Parameter moving: Whether the same instance is withdrawn under the same key wherever else it is bound.
  func bind(_ binding: Binding, moving: Bool, _ garbage: inout Garbage) {
    binding.node = self
    binding.serial = nextSerial
    nextSerial &+= 1
    let expected = Int(parent?.expectedKeys ?? 1)
    let replaced = bindings.update(binding, forKey: binding.key, initialCapacity: expected)
    binding.enlist()
    setBinding(binding, forKey: binding.key.id, initialCapacity: expected)
    if let replaced = replaced?.binding {
      replaced.node = nil
      replaced.delist()
      garbage.add(replaced)
    }
    if moving {
      InstanceChain.bindings(at: binding.form.address) { other in
        if other !== binding, other.key === binding.key { other.withdraw(&garbage) }
      }
    }
    if bindings.looksForDeadEntries {
      // One look a time is enough here: most objects take their bindings with them, and lookups clean up what they meet.
      var alive: [AnyObject] = []
      for dead in bindings.deadEntriesInTurn(looks: 1, alive: &alive) { dead.binding.withdraw(&garbage) }
      garbage.add(alive as AnyObject)
    }
  }

  /// The binding that a lookup finds, dead or alive.
  func nearestBinding(_ key: UInt64, _ search: UDISearch) -> Unretained<Binding>? {
    switch search {
    case .descendants:
      return slots.find(key)?.element.best
    case .local:
      return ownBinding(key)
    case .ancestors:
      var next: Node? = self
      while let node = next {
        if let binding = node.ownBinding(key) { return binding }
        next = node.parent
      }
      return nil
    }
  }

  /// The binding at this very node, dead or alive.
  func ownBinding(_ key: UInt64) -> Unretained<Binding>? {
    guard let slot = slots.find(key), slot.element.depth == 0 else { return nil }
    return slot.element.best
  }
}

extension WeakEntry {
  /// The entry as what it is in a node's dictionary: only `bind` puts entries there.
  var binding: Binding { unsafe unsafeDowncast(self, to: Binding.self) }
}

extension Binding {
  /// Takes the binding out of its context, if it is in one.
  func withdraw(_ garbage: inout Garbage) {
    guard let node = node else { return }
    self.node = nil
    if let entry = node.bindings.removeEntry(forKey: key) { garbage.add(entry) }
    delist()
    node.setBinding(nil, forKey: key.id)
  }
}
