/// The contexts that a lookup passes by although their set-up is pending: this thread is itself running the set-up, or
/// a wait for it would never end. The contexts are held, so that the memory of their nodes is not reused meanwhile.
private typealias PassedBy = [Node: UDIContext]

extension Node {
  /// Looks up after running the set-up blocks that the lookup reaches. Called with no lock held.
  ///
  /// - Parameter key: Returns the key's id; nil if the key's name is not in use. It is called again each time, because
  ///   a set-up block might be the first to use the name.
  @inline(never)
  func answerAfterSetUp(
    _ key: () -> UInt64?, _ form: LookupForm, _ search: UDISearch?, _ context: UDIContext,
    into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    while true {
      runPendingSetUps(context, search, key)
      guard let known = key() else { return .nothing }
      let answer = unsafe answerOrCleanUp(known, form, search, into: memory)
      // What was dead has been withdrawn. Now the lookup might get further, to a set-up that it did not reach before.
      if case .dead = answer { continue }
      return answer
    }
  }

  /// Looks up under the tree lock, and withdraws what is found dead.
  private func answerOrCleanUp(
    _ key: UInt64, _ form: LookupForm, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    Tree.change { garbage in
      guard let entry = nearestEntry(key, direction(of: search)) else { return .nothing }
      let answer = entry.read { unsafe $0.answer(form, into: memory) }
      if case .dead = answer { entry.read { $0.withdraw(&garbage) } }
      return answer
    }
  }

  /// Runs the set-up blocks of the contexts that a lookup reaches, in search order, up to the first context that has an
  /// answer. Called with no lock held.
  ///
  /// - Parameters:
  ///   - context: This node's context.
  ///   - key: What is looked up; nil for anything.
  /// - Complexity: For `.descendants`, O(levels × log siblings) for each set-up that runs, whatever else the tree
  ///   holds.
  func runPendingSetUps(_ context: UDIContext, _ search: UDISearch?, for key: UInt64?) {
    runPendingSetUps(context, search) { key }
  }

  private func runPendingSetUps(_ context: UDIContext, _ search: UDISearch?, _ key: () -> UInt64?) {
    guard mustRunSetUps(search) else { return }
    let keys: SetUp.Keys = MainActorCheck.isOnMainActor ? [.anywhere, .mainActor, .running] : [.anywhere, .running]
    var passedBy: PassedBy = [:]
    while let next = nextPending(context, search, for: key(), keys, passedBy) {
      if !next.runSetUp() { next.withNode { passedBy[$0] = next } }
    }
  }

  /// Whether a set-up is pending in a context that a lookup may reach. Called with no lock held.
  func mustRunSetUps(_ search: UDISearch?) -> Bool {
    lock.lock()
    var node = self
    var isPending = !shared.pendingSetUps.isEmpty
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

  /// The first context with a pending set-up that a lookup reaches.
  private func nextPending(
    _ context: UDIContext, _ search: UDISearch?, for key: UInt64?, _ keys: SetUp.Keys, _ passedBy: PassedBy
  ) -> UDIContext? {
    Tree.change { _ in
      func contextOf(_ node: Node) -> UDIContext? { node == self ? context : node.context }
      // A node that has an answer also ends the search. Then this method returns nil.
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
  }

  /// The nearest pending set-up here or below. Called under the tree lock.
  private func nearestPending(_ keys: SetUp.Keys, _ passedBy: PassedBy) -> Place? {
    var nearest: Place?
    for id in SetUp.Keys.ids where keys.contains(id) {
      guard let slot = shared.slots.find(id), let best = slot.element.state.best.read({ $0.node }) else { continue }
      SetUp.countStep()
      var place: Place = (best, slot.element.state.depth)
      if passedBy.keys.contains(best) {
        // This is rare: only set-ups that are running now are passed by.
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

  /// A node at or below the node where a lookup begins.
  private typealias Place = (node: Node, depth: UInt32)

  /// Whether a lookup reaches a place before another one: it is on a higher level or, on the same level, in the branch
  /// that was added first. Called under the tree lock.
  private static func comes(_ place: Place, before other: Place) -> Bool {
    guard place.depth == other.depth else { return place.depth < other.depth }
    var (left, right) = (place.node, other.node)
    if left == right { return false }
    // Climb until both are children of one parent. There is such a parent: at the latest, the node where the lookup
    // begins.
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

  /// What a new entry must neither replace nor hide, if this thread is running one of this context's set-up blocks: a
  /// provider or a live binding under the same key that none of these blocks registered. Nil if there is none. Called
  /// under the tree lock.
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

  /// Runs the set-up blocks that may run on this thread, or waits while another thread runs one. Does neither if this
  /// thread is already running one of the blocks; does not wait if the wait would never end.
  ///
  /// - Returns: Whether a block has run.
  fileprivate func runSetUp() -> Bool {
    let resolution = PerThread.resolution
    var hasRun = false
    while let step = nextStepOfSetUp(resolution) {
      step()
      hasRun = true
    }
    return hasRun
  }

  /// What to do next, with no lock held: to run a block, or to wait while another thread runs one.
  private func nextStepOfSetUp(_ resolution: Unretained<Resolution>) -> (() -> Void)? {
    change { node, _ in
      guard let setUp = node.treeLocked.extras?.setUp else { return nil }
      if let running = setUp.running {
        guard let gate = try? running.prepareToWait(resolution) else { return nil }
        return {
          gate.wait()
          _ = running.takeOutcome(resolution)
        }
      }
      let begun = setUp.begin(isOnMainActor: MainActorCheck.isOnMainActor, resolution)
      node.updateIndex(of: setUp)
      guard let (block, creation) = begun else { return nil }
      return {
        resolution.read { $0.looking(block.comesFromLook) { block.body(self) } }
        self.change { node, garbage in
          garbage.add(setUp)
          garbage.add(creation)
          let haveAllRun = setUp.end(creation)
          node.updateIndex(of: setUp)
          if haveAllRun { node.treeLocked.extras?.setUp = nil }
        }
      }
    }
  }
}
