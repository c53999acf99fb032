import Synchronization

extension Node {
  /// All live dependencies of the type that a lookup asks for, whatever their names, in search order; those of one
  /// context in the order of registration.
  ///
  /// - Parameter onlyFirst: Whether to return only the dependency that a lookup of one would find, with its name.
  /// - Returns: The dependencies, the last one first, so that the caller can take them out of the array one by one.
  /// - Complexity: O(contexts that have an entry for a key of the type or lead to one), and O(levels above) if the
  ///   search climbs, whatever else the tree contains. If names are in use with the type, also O(keys at this node and
  ///   at those above it).
  func allDependencies(_ request: LookupRequest, onlyFirst: Bool = false) -> ContiguousArray<LoadedEntry> {
    let token = TypeToken.of(request.type)
    return Tree.change { garbage in
      let search = direction(of: request.search)
      while true {
        let entries =
          onlyFirst
          ? nearestEntry(token.keyID(named: request.name), search).map { [$0] } ?? []
          : entries(of: token.identity.object, search)
        var found: ContiguousArray<LoadedEntry> = []
        var hasWithdrawn = false
        found.reserveCapacity(entries.count)
        for entry in entries.reversed() {
          if let next = entry.read({ $0.load(for: request.reach, &hasWithdrawn, &garbage) }) { found.append(next) }
        }
        if !hasWithdrawn {
          if treeLocked.makings > 0 { for (entry, _) in found { entry.noteHelp() } }
          if Tree.areLooking, !onlyFirst { noteNeed(request.key, request.search, findsAll: true) }
          return found
        }
        // Another entry might have taken the place of a dead one. It might have a different position in the order, so
        // everything is collected again.
        for (entry, object) in found {
          garbage.add(entry)
          if let object { garbage.add(object) }
        }
      }
    }
  }

  // MARK: - Without making anything

  /// The live bindings and the providers of the given type, in search order. Do not call this under a lock.
  func registrations(of type: TypeIdentity, _ search: UDISearch?) -> [Entry] {
    Tree.change { garbage in
      let search = direction(of: search)
      var entries: [Entry] = []
      for reference in self.entries(of: type, search) {
        let entry = reference.object
        guard let node = entry.node else { continue }
        // User code gets the registration, which has to name the context, even after moves.
        if let context = node.treeLocked.heldContext { node.remember(context) }
        // The slot's entry only shows that there is something: it might be an override or a kept instance, and it might
        // hide a provider.
        if let binding = node.bindingInTable(entry.key), binding.liveObject(&garbage) != nil { entries.append(binding) }
        if let provider = node.provider(entry.keyID) { entries.append(provider) }
      }
      for entry in entries { garbage.add(entry) }
      return entries
    }
  }

  // MARK: - In search order, dead or alive

  // All entries are collected before any object is loaded. A weak load is a memory barrier. Without barriers in
  // between, the processor can load the nodes of several branches at the same time, which saves time because nodes are
  // seldom in the processor's cache.

  /// The entries under all keys of a type, in search order. Called under the tree lock.
  func entries(of type: TypeIdentity, _ search: UDISearch) -> [Unretained<Entry>] {
    var found: [Unretained<Entry>] = []
    visitAll(
      search, branch: { found = $0.entriesInBranch(of: type) },
      alone: { node in
        var own: [Unretained<Entry>] = []
        node.forEachSlot(of: type) { if $0.state.depth == 0 { own.append($0.state.best) } }
        if !own.isEmpty { found += own.inOrder { $0.read { UInt64($0.serial) } } }
      })
    return found
  }

  /// Calls `body` with this node's slots for all keys of a type.
  @inline(__always)
  private func forEachSlot(of type: TypeIdentity, _ body: (borrowing Slot) -> Void) {
    if type.namedKeys.load(ordering: .relaxed) == 0 {
      if let slot = shared.slots.find(type.id) { body(slot.element) }
    } else {
      let type = Unretained(type)
      shared.slots.forEach { slot in if slot.state.best.read({ $0.key.typeReference }) == type { body(slot) } }
    }
  }

  /// The entries of this node and of all nodes below it, level by level.
  private func entriesInBranch(of type: TypeIdentity) -> [Unretained<Entry>] {
    var own: [Unretained<Entry>] = []
    own.reserveCapacity(min(Int(type.namedKeys.load(ordering: .relaxed)) + 1, shared.slots.count))
    var leadsFurther = false
    forEachSlot(of: type) { slot in
      if slot.state.depth == 0 { own.append(slot.state.best) }
      leadsFurther = leadsFurther || slot.state.depth > 0 || !slot.state.isSingle
    }
    if !leadsFurther { return own.inOrder { $0.read { UInt64($0.serial) } } }
    var keys: [UInt64] = []
    forEachSlot(of: type) { keys.append($0.key) }
    return entriesInBranch(keys)
  }

  /// The same under several keys. Visits only nodes that lead to entries.
  private func entriesInBranch(_ keys: [UInt64]) -> [Unretained<Entry>] {
    /// An item of work on one level.
    enum Step {
      case visit(Node)
      /// Wait for the level of an entry that is further down. The item keeps the entry's position in the order.
      case wait(Unretained<Entry>, levels: UInt32)
    }
    var found: [Unretained<Entry>] = []
    var level: ContiguousArray = [Step.visit(self)]
    var next: ContiguousArray<Step> = []
    var own: [Unretained<Entry>] = []
    var children: [Node] = []
    while !level.isEmpty {
      for step in level {
        switch step {
        case .visit(let node):
          // The keys are visited by index, because a loop over the array would count a reference to it for each node.
          for index in keys.indices {
            guard let slot = node.shared.slots.find(keys[index]) else { continue }
            if slot.element.state.depth == 0 {
              own.append(slot.element.state.best)
            } else if slot.element.state.isSingle, keys.count == 1 {
              // There is only one entry below, so its branch need not be walked: the slot says how many levels down the
              // entry is.
              next.append(.wait(slot.element.state.best, levels: slot.element.state.depth - 1))
              continue
            }
            slot.element.children.forEach { children.append($0) }
          }
          if !own.isEmpty { found += own.inOrder { $0.read { UInt64($0.serial) } } }
          own.removeAll(keepingCapacity: true)
          // Slots list children by the distance of their entries.
          children.sort { $0.treeLocked.sequence < $1.treeLocked.sequence }
          var last: Node?
          for child in children where child != last {
            next.append(.visit(child))
            last = child
          }
          children.removeAll(keepingCapacity: true)
        case .wait(let entry, let levels):
          if levels == 0 { found.append(entry) } else { next.append(.wait(entry, levels: levels - 1)) }
        }
      }
      swap(&level, &next)
      next.removeAll(keepingCapacity: true)
    }
    return found
  }
}

/// A live dependency that `linkAll` has found: its entry, and its object; nil if the instance has to be made or taken
/// out of its box.
typealias LoadedEntry = (entry: Entry, object: AnyObject?)

extension Entry {
  /// Loads the dependency for `linkAll`. Withdraws the entry if it is dead.
  ///
  /// - Parameter hasWithdrawn: Set if the entry has been withdrawn.
  /// - Returns: Nil if the entry is dead, or if the lookup must not have the dependency because of its reach.
  @inline(__always)
  fileprivate final func load(
    for reach: UDIReach, _ hasWithdrawn: inout Bool, _ garbage: inout Garbage
  ) -> LoadedEntry? {
    // The reach is checked before the object is loaded. A thread that may not use the object must not hold it either:
    // if all other references went away in the meantime, that thread would release the object.
    if registered.isRefused(to: reach) { return nil }
    if kind == .owned { return unsafe (self, unsafeDowncast(self, to: InstanceEntry.self).owned) }
    if !kind.isWeak { return (self, nil) }
    if let object { return (self, object) }
    withdraw(&garbage)
    hasWithdrawn = true
    return nil
  }
}
