#if DEBUG || FUZZING
  @testable import UDI

  /// What holds in a tree while no change is under way.
  ///
  /// The pictures above `Node` and `Slot` show what these functions check.
  extension UDIContext {
    /// The first invariant that does not hold in this context, or in one below it; nil if all of them hold.
    ///
    /// - Complexity: O(contexts, and their keys).
    package var brokenInvariant: String? {
      change { node, _ in
        for (node, _) in BreadthFirst(node) {
          if let broken = node.brokenEdge ?? node.brokenSlot ?? node.brokenKeeper {
            return "\(node.fullPath): \(broken)"
          }
        }
        return nil
      }
    }
  }

  extension Node {
    /// The tree: a parent and its children know each other, and the children are in the order in which they were added.
    fileprivate var brokenEdge: String? {
      var (last, count): (Node?, Int) = (nil, 0)
      for child in children {
        if child.parent != self { return "\(child.tag) has another parent" }
        if child.treeLocked.heldContext == nil { return "nothing holds \(child.tag)" }
        if child.treeLocked.previousSibling != last { return "\(child.tag) does not follow the child before it" }
        if let last, last.treeLocked.sequence >= child.treeLocked.sequence { return "\(child.tag) is out of order" }
        if child.treeLocked.sequence >= treeLocked.nextChildSequence {
          return "\(child.tag) has a number of the future"
        }
        if child.treeLocked.state < treeLocked.state { return "\(child.tag) is more open than its parent" }
        (last, count) = (child, count + 1)
      }
      if treeLocked.lastChild != last { return "the last child is another one" }
      let known = treeLocked.childrenByTag.count
      return known == 0 || known == count ? nil : "\(known) of \(count) children are known by their tags"
    }

    /// The five invariants of `Slot`.
    fileprivate var brokenSlot: String? {
      var keys = Set(shared.slots.map(\.key))
      let visible = children.filter { !$0.treeLocked.isScope }
      for child in visible { child.shared.slots.forEach { keys.insert($0.key) } }
      var own: [UInt64: Entry] = [:]
      treeLocked.providers.forEach { if $0.provider.kind != .scoped { own[$0.provider.keyID] = $0.provider.current } }
      treeLocked.bindings.forEachEntry { own[$0.binding.keyID] = $0.binding }
      for override in treeLocked.extras?.making.overrides ?? [] { own[override.keyID] = override.shown }
      if treeLocked.state == .closed, !own.isEmpty { return "a closed context has entries" }
      for key in keys.union(own.keys) {
        let below = visible.filter { $0.shared.slots.find(key) != nil }
        guard let slot = shared.slots.find(key)?.element else { return "no slot for \(key)" }
        if own[key] == nil, below.isEmpty { return "a slot for \(key), which has no entry" }
        // The state that follows from the entry, or from the nearest child.
        func rank(_ node: Node) -> (UInt32, UInt64) {
          (node.shared.slots.find(key)?.element.state.depth ?? 0, node.treeLocked.sequence)
        }
        let ranked = below.sorted { rank($0) < rank($1) }
        var listed: [Node] = []
        slot.children.forEach { listed.append($0) }
        if listed != ranked { return "the children for \(key) are \(listed.map(\.tag)), not \(ranked.map(\.tag))" }
        let nearest = ranked.first?.shared.slots.find(key)?.element.state
        let found = own[key].map { Unretained($0) } ?? nearest?.found
        let depth = own[key] == nil ? (nearest?.depth ?? 0) + 1 : 0
        let isSingle = own[key] == nil ? nearest?.isSingle == true && ranked.count == 1 : ranked.isEmpty
        if slot.state != Slot.State(found: found, depth: depth, isSingle: isSingle) { return "the state for \(key)" }
      }
      return nil
    }

    /// What providers keep: a provider is under its key, and it and what it shows know their context.
    fileprivate var brokenKeeper: String? {
      var broken: String?
      treeLocked.providers.forEach { element in
        let provider = element.provider
        if provider.node != self { broken = "\(provider.key) is in another context" }
        guard let shown = provider.shown else { return }
        if shown.node != self { broken = "what \(provider.key) keeps is in another context" }
        if shown.maker !== provider { broken = "what \(provider.key) keeps is another's" }
        if provider.kind == .scoped { broken = "what a scope keeps of \(provider.key) has an entry" }
      }
      return broken
    }
  }

  extension NodeState {
    fileprivate static func < (left: NodeState, right: NodeState) -> Bool { left.rawValue < right.rawValue }
  }
#endif
