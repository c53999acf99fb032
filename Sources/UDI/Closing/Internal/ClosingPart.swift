/// The end of one context, as a part of a run of `close()` (`ClosingRun`). Those who wait for the end of a context wait
/// for its own part, which comes before those of the contexts above: a closer of a root may wait for requests below.
final class ClosingPart: Activity, @unchecked Sendable {
  // Unchecked: the tree lock guards all mutable properties. Accesses under it cannot overlap, so they are not checked
  // for that: see `ClosingRun`.

  let run: ClosingRun
  /// The index of this part in `run.parts`, and that of the context above; nil for the outermost one.
  let index: Int
  let outer: Int?
  /// The indices of the parts directly below.
  @safe @exclusivity(unchecked) private var inner: [Int] = []
  /// The context. It is held until it has ended.
  @safe @exclusivity(unchecked) fileprivate(set) var context: UDIContext?
  /// The activities that were under way when the run began, each with the number of this part among its waiters:
  /// earlier runs for contexts directly below; creations; and operations of `whileAvailable`.
  @safe @exclusivity(unchecked) var underWay: [(activity: Activity, number: UInt64)] = []
  /// The context's providers, if it might have something to close.
  @safe @exclusivity(unchecked) var toClose: [Provider] = []
  /// How many of those that wait get the error: callers of `close()`, and a later run for a context above.
  @safe @exclusivity(unchecked) private(set) var takers = 0
  /// The failures that they get, once the context has ended.
  @safe @exclusivity(unchecked) private(set) var failures: [UDIFailure] = []
  /// Whether a closer has been called, here or below.
  @safe @exclusivity(unchecked) var hasCalledCloser = false
  /// How long each activity is still awaited, here and below; nil as long as no limit of this part is over.
  var rest: Limit?
  /// For each limit that a caller gave, a task that waits until it is over.
  @safe @exclusivity(unchecked) private var timers: [Task<Void, Never>] = []

  /// Makes the next part of a run that is being set up, and enters it at the context.
  init(_ run: ClosingRun, _ context: UDIContext, _ node: Node, below outer: ClosingPart?) {
    (self.run, self.context, index, self.outer) = (run, context, run.parts.count, outer?.index)
    super.init()
    outer?.inner.append(index)
    node.treeLocked.ensureExtras().closing.part = self
  }

  /// The path of the context. Do not call this under a lock.
  var path: [String] { Tree.change { _ in context }?.fullPath ?? [] }

  /// The run takes the parts one after the other.
  override var following: Activity? { run.parts.isEmpty || index == 0 ? nil : run.parts[index - 1] }

  /// Joins the run that ends a context, or begins one. From then on, nothing is added to the context or to those below,
  /// and nothing new is made in them. Adds the current task to those that wait for the context's end.
  ///
  /// A scope whose operation has ended gets the error only of a run that it has begun itself.
  ///
  /// - Parameter actor: The actor on which this runs.
  /// - Returns: The part of the run, the number of the task among its waiters, and whether this call has begun the run.
  ///   Nil if the context is closed, or if the task must not wait, because the run itself waits for the closer or the
  ///   asynchronous factory that the task is part of.
  static func join(
    _ context: UDIContext, _ ending: UDIEnding, _ limit: Limit?, on actor: (any Actor)?
  ) -> (ClosingPart, UInt64, isNew: Bool)? {
    let call = AsyncCall.current
    let isClose = if case .closed = ending { true } else { false }
    var begun: ClosingRun?
    let (part, number) = context.change { node, garbage -> (ClosingPart?, UInt64?) in
      if !node.treeLocked.state.isEnding { begun = ClosingRun(context, node, ending, &garbage) }
      guard let part = node.treeLocked.extras?.closing.part else { return (nil, nil) }
      let number = try? part.enter(.task(call, through: []))
      if number != nil, isClose || begun != nil { part.takers += 1 }
      return (part, number)
    }
    if let begun { begun.goOn(after: 0, here: actor == nil && limit == nil && number != nil) { await begun.start() } }
    // The limit counts even if the caller must not wait.
    if let limit, let part { part.startTimer(limit, leaving: number) }
    guard let part, let number else { return nil }
    return (part, number, begun != nil)
  }

  /// Waits until the context has ended.
  ///
  /// - Parameter number: The number of the waiter, which gets the error.
  /// - Returns: The error, if something has failed, or if a limit was over before the run came to the context.
  func waitForEnd(_ number: UInt64) async -> UDICloseError? {
    endIfDone()
    await wait(number)
    let failures = Tree.change { _ in takeFailures() } ?? [late]
    return failures.isEmpty ? nil : UDICloseError(failures: failures)
  }

  /// The failures, for one of the takers. Nil if the context has not ended; this taker then gets nothing. Call this
  /// under the tree lock.
  func takeFailures() -> [UDIFailure]? {
    if hasEnded { return failures }
    takers -= 1
    return nil
  }

  /// Lets a later run wait for this one, and take its failures. Call this under the tree lock.
  func enter(_ later: ClosingPart) {
    takers += 1
    later.underWay.append((self, add(.activity(later))))
  }

  /// The failure that stands for a context that was not waited for until its end.
  var late: UDIFailure { UDIFailure(TypeIdentity.of(UDIContext.self), path: path, error: UDIUntimelyEnd.notInTime) }

  /// When the limit is over, leaves behind the activity that the run waits for, here or below. From then on, the run
  /// waits for each activity for a tenth of the limit.
  ///
  /// - Parameter number: The number of the caller among those that wait for this part. The caller stops waiting if it
  ///   is not the turn of this part, or of one below.
  func startTimer(_ limit: Limit, leaving number: UInt64? = nil) {
    // If a closer is left behind, the run goes on with the task-local values of this task.
    let timer = Task { [self] in if await limit.wait() { leaveBehind(limit.tenth, leaving: number) } }
    let isOver = Tree.change { _ in
      if !hasEnded { timers.append(timer) }
      return hasEnded
    }
    if isOver { timer.cancel() }
  }

  /// Leaves behind the activity that the run waits for, here or below, because a limit is over.
  ///
  /// - Parameter rest: How long the run waits for each activity from then on.
  func leaveBehind(_ rest: Limit?, leaving number: UInt64? = nil) {
    let left = Tree.change { _ -> ClosingRun.Awaited? in
      if hasEnded { return nil }
      let isFirst = self.rest == nil
      if isFirst { self.rest = rest }
      run.isLate = true
      // It is the turn of this part, or of one below.
      if run.isPart(run.current, below: self) { return isFirst ? run.awaitedNow : nil }
      return number.map { (self, $0, nil) }
    }
    if let left { run.leave(left) }
  }

  /// Ends the context if its turn is over. When the run has finished a part, it ends the context at once only if
  /// something waits for that. A later waiter therefore calls this. Do not call this under a lock.
  func endIfDone() { if Tree.change({ _ in index > run.current && !run.isEnding }) { end() } }

  /// Ends the context and those below, and wakes those that wait. Do not call this under a lock.
  func end() { wakeAll(endAll()) }

  /// Ends the context and those below. Do not call this under a lock.
  ///
  /// Each context ends before those below it. These are therefore roots when they end, so no context above has to be
  /// updated. In the opposite order, the end of each context in a long chain would update all contexts above it.
  ///
  /// - Returns: The contexts that have been ended, for `wakeAll`.
  func endAll() -> [UDIContext] {
    let all = Tree.change { _ in
      var parts = hasEnded ? [] : [self], next = 0
      while next < parts.count {
        parts += parts[next].inner.map { run.parts[$0] }
        next += 1
      }
      return parts.compactMap(\.context)
    }
    for context in all { context.withNode { _ = $0.end(onlyIfAtOnce: false) } }
    return all
  }

  /// Wakes those that wait for the end of the contexts. Do not call this under a lock.
  func wakeAll(_ all: [UDIContext]) {
    var timers: [Task<Void, Never>] = []
    Tree.change { _ in
      for context in all {
        let extras = context.withNode { $0.treeLocked.extras }
        guard let part = extras?.closing.part.take() else { continue }
        extras?.closing.hasCalledCloser = part.hasCalledCloser
        if part.takers > 0 { part.failures = run.takeFailures(of: part) }
        // Neither is released under the lock: the caller holds the context, and the run holds its parts.
        part.context = nil
        part.wake()
        timers += part.timers
      }
    }
    for timer in timers { timer.cancel() }
  }
}
