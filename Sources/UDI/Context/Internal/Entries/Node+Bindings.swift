/// Adding and withdrawing bindings. Everything here is called under the tree lock.
extension Node {
  /// Adds a binding to this context, unless the context refuses it. If the context has a binding under the same key
  /// already, the new one replaces it.
  ///
  /// - Parameter moving: Whether to withdraw the bindings of the same instance under the same key in all other
  ///   contexts.
  func bind(_ binding: Binding, in context: UDIContext, moving: Bool, _ garbage: inout Garbage) {
    // An audit notes the context of each binding, and the node's `context` returns it only if it is remembered.
    if AuditNotice.isOn { remember(context) }
    guard treeLocked.state == .open else { return refuse(binding, moving ? "bind" : "multiBind", &garbage) }
    binding.node = self
    if AuditNotice.isEnteringNoted { AuditNotice.noteEntering(binding, self, &garbage) }
    let replaced = treeLocked.bindings.update(binding, forKey: Unretained(binding.key))?.binding
    binding.serial = treeLocked.nextSerial
    treeLocked.nextSerial &+= 1
    let hasOthers = binding.enlist()
    if isRecording { noteBind(binding, insteadOf: replaced, &garbage) }
    if Tree.isLooking { binding.comesFromLook = true }
    setEntry(binding, forKey: binding.keyID, notifying: binding.changeKind)
    if let replaced {
      replaced.node = nil
      replaced.delist()
      garbage.add(replaced)
    }
    if moving, hasOthers {
      InstanceChain.bindings(at: binding.form.address) { other in
        guard other !== binding, other.key === binding.key else { return }
        other.withdraw(ifAlive: .withdrawn, by: binding.site, &garbage)
      }
    }
    if treeLocked.bindings.looksForDeadEntries {
      // Each `bind` checks one entry and, if that is dead, goes on until it has seen eight live ones in a row. This is
      // enough, because most objects withdraw their bindings when they are released, and lookups withdraw the dead
      // bindings that they find.
      let dead = treeLocked.bindings.deadEntriesInTurn(looks: 1) { garbage.add($0, $1.binding.reach) }
      for pair in dead { pair.entry.binding.withdraw(&garbage) }
    }
  }

  /// The entry that a lookup finds first, dead or alive.
  func nearestEntry(_ key: UInt64, _ search: UDISearch) -> Unretained<Entry>? {
    func found(_ entry: Unretained<Entry>?, at node: Node) -> Unretained<Entry>?? {
      entry == nil && !node.hadKey(key) ? nil : .some(entry)
    }
    return visit(
      search, branch: { found($0.shared.slots.find(key)?.element.state.best, at: $0) },
      alone: { found($0.ownEntry(key), at: $0) }) ?? nil
  }

  /// Returns the entry that a lookup finds first, and withdraws dead entries that come before it. The garbage keeps the
  /// entry alive.
  package func nearestLiveEntry(_ key: UInt64, _ search: UDISearch, _ garbage: inout Garbage) -> Entry? {
    while let entry = nearestEntry(key, search)?.object {
      garbage.add(entry)
      if entry.kind.rawValue > Entry.Kind.observed.rawValue || entry.liveObject(&garbage) != nil { return entry }
      entry.withdraw(&garbage)
    }
    return nil
  }

  /// The binding in this node's dictionary, even if an override hides it.
  func bindingInTable(_ key: KeyIdentity) -> Binding? { treeLocked.bindings.entry(forKey: Unretained(key))?.binding }

  /// The entry with which this node itself answers, dead or alive.
  func ownEntry(_ key: UInt64) -> Unretained<Entry>? {
    guard let slot = shared.slots.find(key), slot.element.state.depth == 0 else { return nil }
    return slot.element.state.best
  }
}

extension WeakEntry {
  /// The entry as a binding. The cast is safe, because only `bind` puts entries into a node's dictionary, and these are
  /// bindings.
  var binding: Binding { unsafe unsafeDowncast(self, to: Binding.self) }
}
