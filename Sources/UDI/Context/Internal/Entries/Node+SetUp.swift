/// Contexts that a lookup passes by although their set-up is pending: this thread is running the set-up itself, or
/// would wait for ever. The contexts are held, so that the memory of their nodes is not reused in the meantime.
private typealias PassedBy = [Node: UDIContext]

extension Node {
  /// Runs the set-up blocks of the contexts that a lookup reaches, in search order, up to the first context that has an
  /// answer. Do not call this under a lock.
  ///
  /// - Parameters:
  ///   - context: This node's context.
  ///   - key: The id of the key that is looked up. If it is nil, no context has an answer.
  func runPendingSetUps(_ context: UDIContext, _ search: UDISearch?, for key: UInt64?) {
    afterPendingSetUps(context, search, for: key) { _ in }
  }

  /// Runs the set-up blocks of the contexts that a lookup reaches, in search order, up to the first context that has an
  /// answer. Then performs the lookup. Do not call this under a lock.
  ///
  /// - Parameters:
  ///   - context: This node's context.
  ///   - key: The id of the key that is looked up. If it is nil, no context has an answer.
  ///   - lookUp: Performs the lookup. Called under the tree lock. The lock is not released after the last check for
  ///     pending set-ups, so the lookup cannot see the content of a context without the context's set-up.
  /// - Complexity: For `.descendants`, O(levels × log siblings) for each set-up that runs, whatever else the tree
  ///   contains.
  func afterPendingSetUps<Result>(
    _ context: UDIContext, _ search: UDISearch?, for key: UInt64?, lookUp: (inout Garbage) -> Result
  ) -> Result {
    /// The keys of the set-ups that this thread may run or wait for. Not known until a set-up is pending.
    var keys: SetUp.Keys?
    var passedBy: PassedBy = [:]
    while true {
      let (result, next) = Tree.change { garbage -> (Result?, UDIContext?) in
        if reachesPendingSetUp(search) {
          guard let keys else { return (nil, nil) }
          if let next = nextPending(context, search, for: key, keys, passedBy) { return (nil, next) }
        }
        return (lookUp(&garbage), nil)
      }
      if let result { return result }
      if let next {
        if !next.runSetUp() { next.withNode { passedBy[$0] = next } }
      } else {
        keys = MainActorCheck.isOnMainActor ? [.anywhere, .mainActor, .running] : [.anywhere, .running]
      }
    }
  }

  /// Whether a set-up is pending in a context that a lookup might reach. Called under the tree lock, which is enough to
  /// read what other threads read under the nodes' locks.
  private func reachesPendingSetUp(_ search: UDISearch?) -> Bool {
    shared.pendingSetUps.hasBlocks
      || looksAbove(search) && ancestors.contains { $0.shared.pendingSetUps.contains(.own) }
  }

  /// Whether a set-up is pending in a context that a lookup might reach. Do not call this under a lock.
  func mustRunSetUps(_ search: UDISearch?) -> Bool {
    lock.lock()
    var node = self
    var isPending = shared.pendingSetUps.hasBlocks
    if !isPending, looksAbove(search) {
      while !isPending, let parent = node.shared.parent {
        node.climb(to: parent)
        node = parent
        isPending = node.shared.pendingSetUps.contains(.own)
      }
    }
    node.lock.unlock()
    return isPending
  }

  /// Returns the first context that a lookup reaches and that has a pending set-up. Nil if there is none, or if the
  /// lookup finds an answer earlier. Called under the tree lock.
  private func nextPending(
    _ context: UDIContext, _ search: UDISearch?, for key: UInt64?, _ keys: SetUp.Keys, _ passedBy: PassedBy
  ) -> UDIContext? {
    func contextOf(_ node: Node) -> UDIContext? { node == self ? context : node.context }
    // If a closure below returns this, the search ends with nil, because the lookup has found an answer.
    let end: UDIContext?? = .some(nil)
    return visit(direction(of: search)) { branch in
      let slot = key.flatMap { branch.shared.slots.find($0) }
      guard let found = branch.nearestPending(keys, passedBy) else { return slot == nil ? nil : end }
      guard let slot, let answer = slot.element.state.best.read({ $0.node }) else { return contextOf(found.node) }
      // Within one context, the set-up comes before the answer.
      let place: Place = (answer, slot.element.state.depth)
      return found.node != answer && Self.comes(place, before: found) ? end : contextOf(found.node)
    } alone: { node in
      SetUp.countStep()
      if node.treeLocked.extras?.setUp?.isPending(keys) == true, !passedBy.keys.contains(node),
        let found = contextOf(node)
      {
        return found
      }
      return key.flatMap { node.ownEntry($0) } == nil ? nil : end
    } ?? nil
  }

  /// Returns the nearest pending set-up, at this node or below. Called under the tree lock.
  private func nearestPending(_ keys: SetUp.Keys, _ passedBy: PassedBy) -> Place? {
    var nearest: Place?
    for id in SetUp.Keys.ids where keys.contains(id) {
      guard let slot = shared.slots.find(id), let best = slot.element.state.best.read({ $0.node }) else { continue }
      SetUp.countStep()
      var place: Place = (best, slot.element.state.depth)
      if passedBy.keys.contains(best) {
        // This is rare, because only set-ups that are running now are passed by.
        let all = bindings([id], .descendants)
        for _ in all { SetUp.countStep() }
        guard let other = all.lazy.compactMap({ $0.read { $0.node } }).first(where: { !passedBy.keys.contains($0) })
        else {
          continue
        }
        place = (other, other.levels(below: self))
      }
      if nearest.map({ Self.comes(place, before: $0) }) ?? true { nearest = place }
    }
    return nearest
  }

  /// A node, and how many levels it is below the node where a lookup begins.
  private typealias Place = (node: Node, depth: UInt32)

  /// Whether a lookup reaches one place before another: it is on a higher level or, on the same level, in the branch
  /// that was added first. Called under the tree lock.
  private static func comes(_ place: Place, before other: Place) -> Bool {
    guard place.depth == other.depth else { return place.depth < other.depth }
    var (left, right) = (place.node, other.node)
    if left == right { return false }
    // Both nodes are on the same level. The loop climbs until they are children of the same parent. There is such a
    // parent, because both are below the node where the lookup begins.
    while let leftParent = left.shared.parent, let rightParent = right.shared.parent, leftParent != rightParent {
      SetUp.countStep()
      (left, right) = (leftParent, rightParent)
    }
    return left.treeLocked.sequence < right.treeLocked.sequence
  }

  private func levels(below top: Node) -> UInt32 {
    var levels: UInt32 = 0
    for _ in andAncestors.prefix(while: { $0 != top }) {
      SetUp.countStep()
      levels += 1
    }
    return levels
  }
}

// MARK: - Registrations that set-up blocks leave alone

extension Node {
  /// Whether this thread is running a set-up block of this context. Used under the tree lock.
  @inline(__always)
  var isSetUpByThisThread: Bool { treeLocked.extras != nil && runsSetUpOnThisThread }

  @inline(never)
  private var runsSetUpOnThisThread: Bool {
    guard let running = treeLocked.extras?.setUp?.running else { return false }
    return running.maker == PerThread.resolution
  }

  /// Returns the entry that a new entry must leave in place, or nil if there is none. There is one only while this
  /// thread runs a set-up block of this context. Such a block must not replace or hide a provider or a live binding
  /// under the same key, unless a set-up block of this context registered it. Called under the tree lock.
  func leftBySetUp(_ new: Entry, _ garbage: inout Garbage) -> Entry? {
    guard isSetUpByThisThread else { return nil }
    let key = new.key
    if let provider = provider(key.id), !provider.isFromSetUp { return provider }
    if let binding = heldBinding(key), !binding.isFromSetUp, let object = binding.object {
      Schedule.reached(.loadedToLook)
      garbage.add(object, of: binding)
      return binding
    }
    return nil
  }
}

extension UDIContext {
  /// Adds a set-up block.
  func add(_ block: SetUp.Block) {
    PerThread.prepare()
    change { node, garbage in node.addSetUp(block, &garbage) }
  }

  /// Runs the set-up blocks that may run on this thread. If another thread is running one, waits for it, unless the
  /// wait would never end. Does nothing if this thread itself is running one of the blocks.
  ///
  /// - Returns: Whether a block has run, on this thread or on the one that this thread has waited for.
  fileprivate func runSetUp() -> Bool {
    let resolution = PerThread.resolution
    var hasRun = false
    while let step = nextStepOfSetUp(resolution) {
      step()
      hasRun = true
    }
    return hasRun
  }

  /// Returns what to do next, with no lock held: to run a block, or to wait while another thread runs one. Nil if there
  /// is nothing to do.
  private func nextStepOfSetUp(_ resolution: Unretained<Resolution>) -> (() -> Void)? {
    change { node, _ in
      guard let setUp = node.treeLocked.extras?.setUp else { return nil }
      if let running = setUp.running {
        // If the running block belongs to the main actor, a thread waits for it only if a block that may run anywhere
        // is still to come (see `wantedKeys`).
        guard setUp.isPending(.running), let gate = try? running.prepareToWait(resolution) else { return nil }
        return {
          gate.wait()
          _ = running.takeOutcome(resolution)
        }
      }
      let begun = setUp.begin(isOnMainActor: MainActorCheck.isOnMainActor, resolution)
      node.updateIndex(of: setUp)
      guard let (block, creation) = begun else { return nil }
      node.treeLocked.extras?.beginSetUp()
      return {
        resolution.read { $0.looking(block.comesFromLook) { block.body(self) } }
        self.change { node, garbage in
          garbage.add(setUp)
          garbage.add(creation)
          node.treeLocked.extras?.endSetUp()
          let haveAllRun = setUp.end(creation)
          node.updateIndex(of: setUp)
          if haveAllRun { node.treeLocked.extras?.setUp = nil }
        }
      }
    }
  }
}
