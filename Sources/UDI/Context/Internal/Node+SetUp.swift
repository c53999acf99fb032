/// Which set-up blocks have to run before a lookup.
struct Sleep: OptionSet {
  let rawValue: UInt8
  /// The context's own.
  static let own = Sleep(rawValue: 1)
  /// Perhaps some context's below: before a lookup that goes down.
  static let below = Sleep(rawValue: 2)
}

/// A context's set-up block, until it has run.
final class SetUp: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.
  let body: (UDIContext) -> Void
  let isOnMainActor: Bool
  /// While it runs: what other threads wait for.
  var running: Creation?

  init(isOnMainActor: Bool, _ body: @escaping (UDIContext) -> Void) {
    PerThread.prepare()
    self.isOnMainActor = isOnMainActor
    self.body = body
  }
}

extension Node {
  /// Notes that there is a set-up block. Under the tree lock.
  func fallAsleep(_ setUp: SetUp) {
    self.setUp = setUp
    lock.withLock { _ = sleep.insert(.own) }
    noteSleepBelow()
  }

  /// Tells the contexts above that something here or below has not been set up. Under the tree lock.
  func noteSleepBelow() {
    var next = parent
    while let node = next, !node.sleep.contains(.below) {
      node.lock.withLock { _ = node.sleep.insert(.below) }
      next = node.parent
    }
  }

  /// Looks up after running the set-up blocks that it takes: the context's own and, upwards, those above; downwards, where the
  /// context itself has no answer, all below. No lock is held.
  @inline(never)
  func answerWaking(
    _ key: @autoclosure () -> UInt64?, isExact: Bool, _ search: UDISearch?, _ context: UDIContext,
    into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    wake(context, search, below: false)
    if let known = key(), Tree.change({ _ in ownEntry(known) != nil }) {
      let answer = unsafe answerCleaningUp(known, isExact: isExact, .local, into: memory)
      if case .nothing = answer {} else { return answer }
    }
    wake(context, search, below: true)
    guard let key = key() else { return .nothing }
    return unsafe answerCleaningUp(key, isExact: isExact, search, into: memory)
  }

  /// Runs set-up blocks. No lock is held.
  ///
  /// - Parameters:
  ///   - context: This node's context.
  ///   - search: The direction of the lookup that they are run for.
  ///   - below: Whether those of the contexts below are to run, too, if the lookup goes down.
  func wake(_ context: UDIContext, _ search: UDISearch?, below: Bool) {
    let sleeping = Tree.change { garbage -> [UDIContext] in
      let search = search ?? self.search
      var contexts: [UDIContext] = []
      var next: Node? = self
      while let node = next {
        if node.setUp != nil, let found = node == self ? context : node.context { contexts.append(found) }
        next = search == .ancestors ? node.parent : nil
      }
      if below, search == .descendants, sleep.contains(.below) {
        for element in BreadthFirst(self) {
          let node = element.node
          if node.sleep.contains(.below) { node.lock.withLock { _ = node.sleep.remove(.below) } }
          if element.parent != nil, node.setUp != nil, let found = node.context { contexts.append(found) }
        }
      }
      for context in contexts { garbage.add(context) }
      return contexts
    }
    for context in sleeping { context.runSetUp() }
  }
}

extension UDIContext {
  /// Runs the set-up block, or waits until it has run on another thread. Not if this thread is in the middle of it, or if waiting
  /// would have no end.
  fileprivate func runSetUp() {
    enum Task {
      case run(SetUp, Creation)
      case wait(Gate, Creation)
    }
    let resolution = PerThread.resolution.object
    let task = change { node, _ -> Task? in
      guard let setUp = node.setUp else { return nil }
      // Until somebody comes who may run it.
      if setUp.isOnMainActor, setUp.running == nil, !MainActorCheck.isOnMainActor { return nil }
      if let running = setUp.running {
        return (try? running.prepareToWait(resolution)).map { .wait($0, running) }
      }
      let creation = Creation(nil, maker: resolution)
      setUp.running = creation
      return .run(setUp, creation)
    }
    switch task {
    case nil: break
    case .wait(let gate, let creation):
      gate.wait()
      _ = creation.takeOutcome(resolution)
    case .run(let setUp, let creation):
      setUp.body(self)
      change { node, garbage in
        if node.setUp === setUp {
          node.setUp = nil
          node.lock.withLock { _ = node.sleep.remove(.own) }
        }
        setUp.running = nil
        garbage.add(setUp)
        creation.end(.undecided)
      }
    }
  }
}
