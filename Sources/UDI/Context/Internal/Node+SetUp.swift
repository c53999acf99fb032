/// Which set-up blocks have to run before a lookup.
struct Sleep: OptionSet {
  let rawValue: UInt8
  /// The context's own.
  static let own = Sleep(rawValue: 1)
  /// Perhaps some context's below: before a lookup that goes down.
  static let below = Sleep(rawValue: 2)
}

/// A context's set-up blocks that have not run yet.
final class SetUp: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.
  struct Block {
    let isOnMainActor: Bool
    let body: (UDIContext) -> Void
    /// Whether a look for a watcher added it, see `Tidings`.
    var comesFromLook = false
  }

  private var blocks: [Block] = []
  /// While one of them runs: what other threads wait for.
  private(set) var running: Creation?

  func add(_ block: Block) { blocks.append(block) }

  /// Takes out the first block that may run here.
  func begin(isOnMainActor: Bool, _ resolution: Resolution) -> (Block, Creation)? {
    guard let index = blocks.firstIndex(where: { isOnMainActor || !$0.isOnMainActor }) else { return nil }
    let creation = Creation(nil, maker: resolution)
    running = creation
    return (blocks.remove(at: index), creation)
  }

  /// - Returns: Whether all have run.
  func end(_ creation: Creation) -> Bool {
    creation.end(.undecided)
    running = nil
    return blocks.isEmpty
  }
}

extension Node {
  /// Adds a set-up block. Under the tree lock.
  func fallAsleep(_ block: SetUp.Block) {
    let setUp = self.setUp ?? SetUp()
    var block = block
    block.comesFromLook = Tree.isLooking
    setUp.add(block)
    self.setUp = setUp
    lock.withLock { _ = sleep.insert(.own) }
    noteSleepBelow()
    tellWatchersOfSetUp()
  }

  /// Tells the contexts above that something here or below has not been set up. Under the tree lock.
  func noteSleepBelow() {
    var next = parent
    while let node = next, !node.sleep.contains(.below) {
      node.lock.withLock { _ = node.sleep.insert(.below) }
      next = node.parent
    }
  }

  /// Looks up after running the set-up blocks that the lookup reaches. No lock is held.
  ///
  /// - Parameter key: The key's id, if it has one; asked again each time, because a block may be the first to use a name.
  @inline(never)
  func answerWaking(
    _ key: () -> UInt64?, isExact: Bool, _ search: UDISearch?, _ context: UDIContext,
    into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    while true {
      let hasRun = wake(context, search, for: key())
      guard let known = key() else {
        if hasRun { continue }
        return .nothing
      }
      let answer = unsafe answerCleaningUp(known, isExact: isExact, search, into: memory)
      // What stood in the way was dead, perhaps, and behind it is something that sleeps.
      if case .nothing = answer, hasRun { continue }
      return answer
    }
  }

  /// Runs the set-up blocks of the contexts that a lookup comes to, in search order, up to the first that has an answer.
  /// No lock is held.
  ///
  /// - Parameters:
  ///   - context: This node's context.
  ///   - key: What is looked up; nil for anything.
  /// - Returns: Whether one has run.
  @discardableResult
  func wake(_ context: UDIContext, _ search: UDISearch?, for key: UInt64?) -> Bool {
    if lock.withLock({ sleep.isEmpty && (search ?? self.search) != .ancestors }) { return false }
    var tried: Set<UDIContext> = []
    var hasRun = false
    while let sleeper = nextSleeper(context, search, for: key, after: tried) {
      tried.insert(sleeper)
      if sleeper.runSetUp() { hasRun = true }
    }
    return hasRun
  }

  private func nextSleeper(
    _ context: UDIContext, _ search: UDISearch?, for key: UInt64?, after tried: Set<UDIContext>
  ) -> UDIContext? {
    Tree.change { garbage in
      /// The node's context, if it sleeps and has not been tried.
      func sleeper(_ node: Node) -> UDIContext? {
        guard node.setUp != nil, let found = node == self ? context : node.context else { return nil }
        guard tried.contains(found) else { return found }
        garbage.add(found)
        return nil
      }
      func answers(_ node: Node) -> Bool { key.map { node.ownEntry($0) != nil } ?? false }
      switch search ?? self.search {
      case .local: return sleeper(self)
      case .ancestors:
        var next: Node? = self
        while let node = next {
          if let found = sleeper(node) { return found }
          if answers(node) { return nil }
          next = node.parent
        }
        return nil
      case .descendants:
        if let found = sleeper(self) { return found }
        if answers(self) || !sleep.contains(.below) { return nil }
        for element in BreadthFirst(self).dropFirst() {
          if let found = sleeper(element.node) { return found }
          if answers(element.node) { return nil }
        }
        forgetSleepBelow()
        return nil
      }
    }
  }

  /// Takes back what `noteSleepBelow` said, where nothing sleeps any more. Under the tree lock.
  private func forgetSleepBelow() {
    let branch = Array(BreadthFirst(self))
    var sleepsBelow = [Bool](repeating: false, count: branch.count)
    for (index, element) in branch.enumerated().reversed() {
      if let parent = element.parent, sleepsBelow[index] || element.node.setUp != nil { sleepsBelow[parent] = true }
      if !sleepsBelow[index], element.node.sleep.contains(.below) {
        element.node.lock.withLock { _ = element.node.sleep.remove(.below) }
      }
    }
  }
}

extension UDIContext {
  /// Adds a set-up block.
  func add(_ block: SetUp.Block) {
    PerThread.prepare()
    change { node, _ in node.fallAsleep(block) }
  }

  /// Runs the set-up blocks that may run here, or waits while another thread runs one. Not if this thread is in the middle of one, or
  /// if waiting would have no end.
  ///
  /// - Returns: Whether one has run.
  fileprivate func runSetUp() -> Bool {
    enum Task {
      case run(SetUp, SetUp.Block, Creation)
      case wait(Gate, Creation)
    }
    let resolution = PerThread.resolution.object
    var hasRun = false
    while true {
      let task = change { node, garbage -> Task? in
        guard let setUp = node.setUp else { return nil }
        if let running = setUp.running {
          return (try? running.prepareToWait(resolution)).map { .wait($0, running) }
        }
        let begun = setUp.begin(isOnMainActor: MainActorCheck.isOnMainActor, resolution)
        return begun.map { .run(setUp, $0, $1) }
      }
      switch task {
      case nil: return hasRun
      case .wait(let gate, let creation):
        gate.wait()
        _ = creation.takeOutcome(resolution)
        hasRun = true
      case .run(let setUp, let block, let creation):
        resolution.looking(block.comesFromLook) { block.body(self) }
        hasRun = true
        change { node, garbage in
          garbage.add(setUp)
          garbage.add(creation)
          guard setUp.end(creation), node.setUp === setUp else { return }
          node.setUp = nil
          node.lock.withLock { _ = node.sleep.remove(.own) }
        }
      }
    }
  }
}
