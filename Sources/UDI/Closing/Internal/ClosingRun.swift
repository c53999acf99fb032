/// One run of `close()`, which ends a context and all contexts below it. It takes these steps:
///
/// 1. All of these contexts are marked as being closed, under a single hold of the tree lock. From then on, nothing is
///    added to them, and nothing new is made in them. The other steps are taken in a separate task, which goes on even
///    if the caller of `close()` is cancelled.
/// 2. All asynchronous creations are cancelled. (So are the operations of `whileAvailable`, whose watching ended with
///    step 1.)
/// 3. For one context after the other, those below before those above (`Closing`), the run waits for earlier runs that
///    end contexts directly below, for creations, and for operations. For one instance after the other, it then cancels
///    and awaits the operation, and calls the closer, with no lock held.
/// 4. It ends the contexts, and wakes everything that waits. A context below for which something waits ends earlier: as
///    soon as its turn is over.
///
/// If there is a limit, and it is over, whatever the run waits for in step 3 is left behind.
///
/// `UDIContext.closeAtOnce` is a shorter way for scopes without children and without anything to close or to wait for.
final class ClosingRun: @unchecked Sendable {
  // Unchecked: the tree lock guards all mutable properties. `turn.began` is read by the run's task alone.

  /// The parts of the run, breadth-first. The run takes them in reverse order: those below before those above.
  private(set) var parts: [Closing] = []
  /// The index of the part whose turn it is.
  private(set) var current = 0
  /// The failures, each with its part, and whether somebody gets it as an error.
  private var failures: [(part: Int, failure: UDIFailure, isTold: Bool)] = []
  /// How the contexts end, as the closers see it.
  private let ending: UDIEnding
  /// Whether a limit is over.
  var isLate = false
  /// Whether the run ends all of its contexts now.
  private(set) var isEnding = false
  /// The activity that the run waits for now, with the number of the part among its waiters.
  private(set) var awaitedNow: (activity: Activity, number: UInt64)?
  /// The task in which the run goes on, once that has been noted.
  private var task: Task<Void, Never>?
  /// How many closers have been left behind.
  private var callsLeft = 0
  /// Whose turn it is in the current part. Accesses cannot overlap, because they are under the tree lock, or by the
  /// run's task alone. They are not checked, because the checks would take a fortieth of "request-close" in
  /// `Benchmarks/instructions`.
  @safe @exclusivity(unchecked) private var turn = Turn()
  private let began = UDIObserver.time

  /// Whose turn it is to be closed.
  private struct Turn: ~Copyable {
    /// The providers of the part that may have something to close, the next one last; nil before its first closer.
    var order: [Provider]?
    /// The caches of the provider whose turn it is, by the addresses of the instances that they keep.
    var keepers = ObjectTable<InstanceCache>()
    /// The instance whose turn it is.
    var instance: OwnedInstance?
    /// When its turn began, and the errors of its operation and its closer.
    var began = Duration.zero
    var errors: [any Error] = []
    /// The closer that the run's task calls now, if it does.
    var call: Operation?
  }

  /// Marks a context, and all contexts below it, as being closed (step 1). Call this under the tree lock.
  init(_ context: UDIContext, _ first: Node, _ ending: UDIEnding, _ garbage: inout Garbage) {
    self.ending = ending
    for (node, _) in BreadthFirst(first) {
      let outer = node == first ? nil : node.parent?.treeLocked.extras?.closing.part
      if node.treeLocked.state.isEnding {
        // The parts below belong to the same earlier run.
        if let other = node.treeLocked.extras?.closing.part, let outer, outer.run === self { other.enter(outer) }
      } else if let context = node == first ? context : node.context {
        parts.append(Closing(self, context, node, below: outer))
      }
    }
    current = parts.count - 1
    // Contexts below come first. If they came last, each provider that leaves would update all contexts above it.
    for part in parts.reversed() { part.context?.withNode { mark(part, $0, &garbage) } }
  }

  /// Marks a context as being closed, and notes what the run has to close and to wait for there.
  private func mark(_ part: Closing, _ node: Node, _ garbage: inout Garbage) {
    node.beginEnd(&garbage)
    node.treeLocked.state = .closing
    node.shared.slots.forEach {
      if $0.state.depth == 0 { node.treeLocked.formerSlots.insert(Slot(key: $0.key, children: .none, state: $0.state)) }
    }
    let extras = node.treeLocked.ensureExtras()
    // Watching ends now, because a closer may wait for a task that waits for updates from here.
    if node.treeLocked.isWatched { node.endFollowing() }
    // Those who wait for the end look again, and then wait for this part, unless it waits for them.
    extras.closing.end?.wakeForChange()
    var activities = extras.making.activities
    let present = node.allProviders
    if node.treeLocked.hasClosers { part.toClose = present }
    for provider in present {
      garbage.add(provider)
      provider.closer?.isClosing = true
      for unclosed in provider.closer?.unclosed ?? [] { unclosed.operation?.noteClosing(by: part) }
      if let creation = unsafe provider.creation { activities.append(creation) }
      if let preparation = provider.extras?.preparation { activities.append(preparation) }
      if let caches = provider.caches {
        activities += caches.all.flatMap { [$0.creation, $0.preparation].compactMap(\.self) }
      }
      provider.leaveIfIdle(&garbage)
    }
    for activity in activities { part.underWay.append((activity, activity.add(.activity(part)))) }
  }

  // MARK: - Parts. Under the tree lock, unless it says otherwise

  /// The path of the outermost context. Do not read this under the lock.
  private var path: [String] { Tree.change { _ in parts[0] }.path }

  /// Whether a part is the given one, or below it.
  func isPart(_ index: Int, below outer: Closing) -> Bool {
    var index: Int? = index
    while let next = index, next > outer.index { index = parts[next].outer }
    return index == outer.index
  }

  /// Takes the failures of a part and of those below it, for somebody who gets them now.
  func takeFailures(of outer: Closing) -> [UDIFailure] {
    let taken = failures.indices.filter { isPart(failures[$0].part, below: outer) }
    for index in taken { failures[index].isTold = true }
    return taken.map { failures[$0].failure }
  }

  // MARK: - The task

  /// Goes on in a task of its own.
  ///
  /// - Parameter isHere: Whether the task may begin on this thread.
  func goOn(here isHere: Bool = false, _ body: sending @escaping @isolated(any) () async -> Void) {
    let number = Tree.change { _ in callsLeft }
    let task = startTask(here: isHere, body)
    let isLeft = Tree.change { _ in
      if callsLeft == number { self.task = task }
      return callsLeft != number
    }
    if isLeft { task.cancel() }
  }

  /// Takes the steps 2 to 4. Code that waits and code that does not are in functions of their own, so that each is
  /// compiled once, and not with everything that can come before it.
  nonisolated(nonsending) func start() async {
    // Everything is cancelled before anything is awaited, because one factory might wait for another.
    cancelAll()
    await takeParts()
  }

  private func cancelAll() {
    let underWay = Tree.change { _ in parts.contains { !$0.underWay.isEmpty } ? parts.flatMap(\.underWay) : [] }
    if underWay.isEmpty { return }
    let path = path
    for (activity, _) in underWay { activity.cancel(closing: path) }
  }

  /// Takes the steps 3 and 4, beginning with the part whose turn it is.
  nonisolated(nonsending) private func takeParts() async {
    func next() -> (part: Closing, waits: Bool, closes: Bool)? {
      (isEnding ? nil : parts[current]).map { ($0, !$0.underWay.isEmpty, !$0.toClose.isEmpty) }
    }
    while let (part, waits, closes) = Tree.change({ _ in next() }) {
      if waits { await waitForOthers(part) }
      if closes, await !callClosers(part) { return }
      noteDone(part)
    }
    end()
  }

  /// Notes that everything has been closed in a context, and ends it if somebody waits for that.
  @inline(never) private func noteDone(_ part: Closing) {
    let isAwaited = Tree.change { _ in
      (isEnding, current) = (part.index == 0, max(part.index - 1, 0))
      if part.hasCalledCloser, let outer = part.outer { parts[outer].hasCalledCloser = true }
      return part.isWanted && !isEnding
    }
    if isAwaited { part.end() }
  }

  /// Takes step 4. The observer is notified before the callers that wait go on.
  @inline(never) private func end() {
    let (first, path) = (Tree.change { _ in parts[0] }, UDIObserver.mayExist ? path : [])
    let all = first.endAll()
    UDIObserver.tell { .closed(UDIEvent.Closed(nil, path: path, duration: UDIObserver.time - began)) }
    if !Tree.change({ _ in first.takers > 0 }) { reportUntold() }
    first.wakeAll(all)
    // Whoever was to get the error may have left meanwhile.
    reportUntold()
    withExtendedLifetime(Tree.change { _ in (exchange(&parts, with: []), exchange(&failures, with: [])) }) {}
  }

  /// Begins to wait for an activity.
  ///
  /// - Parameter number: The number of the part among the waiters of the activity.
  /// - Returns: The timer that ends the waiting; nil as long as no limit is over.
  private func beginWaiting(_ part: Closing, for activity: Activity, _ number: UInt64) -> Task<Void, Never>? {
    let rest = Tree.change { _ in
      awaitedNow = (activity, number)
      return limit(of: part)
    }
    return rest.map { rest in Task { if await rest.wait() { leave(activity, number) } } }
  }

  /// Waits for an activity, as long as there is time.
  ///
  /// - Returns: Whether the activity has ended.
  @inline(never)
  nonisolated(nonsending) private func wait(_ part: Closing, for activity: Activity, _ number: UInt64) async -> Bool {
    let timer = beginWaiting(part, for: activity, number)
    await activity.wait(number)
    timer?.cancel()
    let (hasEnded, last) = Tree.change { _ in (activity.hasEnded, awaitedNow.take()) }
    withExtendedLifetime(last) {}
    return hasEnded
  }

  /// Leaves behind the activity that the run waits for, because the time is over. If that is a closer, the run's task
  /// stays with it, and is cancelled; another task goes on. Do not call this under a lock.
  func leave(_ activity: Activity, _ number: UInt64) {
    activity.leave(number)
    let left = Tree.change { _ -> (part: Closing, task: Task<Void, Never>?)? in
      guard turn.call === activity else { return nil }
      (turn.call, awaitedNow) = (nil, nil)
      callsLeft += 1
      turn.errors.append(UDIUntimelyEnd.notInTime)
      return (parts[current], task)
    }
    guard let left else { return }
    left.task?.cancel()
    goOn { [self] in
      finish(left.part)
      await takeParts()
    }
  }

  /// How long the run still waits for each activity of a part; nil if no limit is over.
  private func limit(of part: Closing) -> Limit? {
    if !isLate { return nil }
    return sequence(first: part) { part in part.outer.map { self.parts[$0] } }.lazy.compactMap(\.rest).first
  }

  /// Waits for an operation. If the time is over, cancels it.
  ///
  /// - Returns: The operation's error, if it has failed.
  nonisolated(nonsending) private func error(of operation: Operation, _ part: Closing) async -> (any Error)? {
    if let number = Tree.change({ _ in operation.closingNumber }), await !wait(part, for: operation, number) {
      operation.cancel(closing: [])
      return UDIUntimelyEnd.notInTime
    }
    return Tree.change { _ in operation.failure.take() }?.error
  }

  @inline(never)
  nonisolated(nonsending) private func waitForOthers(_ part: Closing) async {
    // The run may hold the last reference to a user's object, for example through a creation. Taking the list out of
    // the part releases such an object here, with no lock held.
    let underWay = Tree.change { _ in exchange(&part.underWay, with: []) }
    for (activity, number) in underWay {
      activity.raisePriority()
      let hasEnded = await wait(part, for: activity, number)
      if let other = activity as? Closing {
        let (failures, rest) = Tree.change { _ in
          part.hasCalledCloser = part.hasCalledCloser || other.hasCalledCloser
          return (other.takeFailures(), limit(of: part))
        }
        for failure in failures ?? [other.late] { note(failure, part, isTold: other.takers > 1) }
        if failures == nil, let rest { other.leaveBehind(rest) }
      } else if !hasEnded, let key = activity.key {
        note(UDIFailure(key, path: part.path, error: UDIUntimelyEnd.notInTime), part)
      }
    }
  }

  private func note(_ failure: UDIFailure, _ part: Closing, isTold: Bool = false) {
    Tree.change { _ in failures.append((part.index, failure, isTold)) }
  }

  /// Reports the failures that nobody gets as an error.
  private func reportUntold() {
    let untold = Tree.change { _ in
      defer { for index in failures.indices { failures[index].isTold = true } }
      return failures
    }
    for (_, failure, isTold) in untold where !isTold { failure.reportWhileClosing() }
  }

  /// Closes the instances of a context.
  ///
  /// - Returns: False if a closer has been left behind, and another task goes on.
  @inline(never)
  nonisolated(nonsending) private func callClosers(_ part: Closing) async -> Bool {
    while let provider = Tree.change({ next(of: part, &$0) }) { if await !close(provider, part) { return false } }
    // From now on, nobody closes the instance of a factory that was left behind. That is reported.
    _ = Tree.change { _ in
      turn.order = nil
      for provider in part.toClose { provider.closer?.isClosing = false }
      return exchange(&part.toClose, with: [])
    }
    return true
  }

  /// Closes the instance whose turn it is, and drops it.
  ///
  /// - Returns: False if the closer has been left behind, and another task goes on.
  @inline(never)
  nonisolated(nonsending) private func close(_ provider: Provider, _ part: Closing) async -> Bool {
    let (unclosed, close) = Tree.change { _ in
      (provider.closer?.unclosed.last { $0.instance === turn.instance }, provider.closer?.close)
    }
    if let operation = unclosed?.operation {
      operation.cancel(closing: path)
      if let error = await error(of: operation, part) { Tree.change { _ in turn.errors.append(error) } }
    }
    if let close, let instance = unclosed?.instance {
      // A closer that never ends keeps this operation and the run alive, but no context.
      let call = Operation(of: provider, ending)
      let number = Tree.change { _ in
        (part.hasCalledCloser, turn.call) = (true, call)
        call.noteClosing(by: part)
        return call.closingNumber ?? 0
      }
      let timer = beginWaiting(part, for: call, number)
      let error = await call.perform { try await close.value(instance.value) }
      timer?.cancel()
      let isLeft = Tree.change { _ in
        if turn.call !== call { return true }
        if let error { turn.errors.append(error) }
        (turn.call, awaitedNow) = (nil, nil)
        return false
      }
      call.end(throwing: nil)
      if isLeft { return false }
    }
    finish(part)
    return true
  }

  /// Drops the instance whose turn it was.
  private func finish(_ part: Closing) {
    let (provider, failed, done) = Tree.change { garbage -> (Provider?, [any Error], Unclosed?) in
      guard let provider = turn.order?.last, let closed = turn.instance.take() else { return (nil, [], nil) }
      let index = provider.closer?.unclosed.lastIndex { $0.instance === closed }
      let operation = index.flatMap { provider.closer?.unclosed.remove(at: $0) }?.operation
      let object = closed.value.object
      // An instance that came late is not in `keepers`.
      let known = provider.hasCaches ? turn.keepers[UInt64(Unretained(object).address)] : nil
      if let cache = known ?? provider.caches?.all.first(where: { $0.kept?.owned === object }) {
        InstanceKeeper(provider: provider, cache: cache).dropKept(&garbage)
      } else if !provider.hasCaches, provider.kept.map({ $0.object === object }) ?? true {
        // The provider keeps this instance, or none. If it keeps another one, which will be closed later, it stays.
        provider.node?.unregister(provider, &garbage)
      }
      return (provider, exchange(&turn.errors, with: []), (closed, operation))
    }
    _ = consume done
    guard let provider else { return }
    for error in failed { note(UDIFailure(provider, path: part.path, error: error), part) }
    UDIObserver.tell {
      .closed(
        UDIEvent.Closed(provider, path: part.path, duration: UDIObserver.time - turn.began, failure: failed.first))
    }
  }

  // MARK: - The order

  /// Goes on to the next instance of a part, in the reverse order of `inOrderOfMaking`. Called under the tree lock.
  ///
  /// - Returns: Its provider; nil at the end.
  private func next(of part: Closing, _ garbage: inout Garbage) -> Provider? {
    if turn.order == nil { turn.order = inOrderOfMaking(part.toClose) }
    while let provider = turn.order?.last {
      if let next = provider.closer?.unclosed.last?.instance {
        (turn.instance, turn.began) = (next, UDIObserver.time)
        guard provider.hasCaches, turn.keepers.isEmpty else { return provider }
        for cache in provider.caches?.all ?? [] {
          if let owned = cache.kept?.owned { turn.keepers[UInt64(Unretained(owned).address)] = cache }
        }
        return provider
      }
      turn.order?.removeLast()
      for cache in turn.keepers.values { garbage.add(cache) }
      turn.keepers = ObjectTable()
    }
    return nil
  }

  /// Puts the providers of one context into the order in which they would make their instances if everything were made
  /// in the order of registration, each instance after those that help to make it. The order in which they were made in
  /// fact may differ from one run of the program to the next.
  private func inOrderOfMaking(_ providers: [Provider]) -> [Provider] {
    // Providers that have nothing to close matter only for the order, unless a factory that has been left behind makes
    // its instance in time.
    let toClose = providers.filter { $0.closer?.unclosed.isEmpty == false }
    if toClose.count == 1, !isLate { return toClose }
    var byID = ObjectTable<Provider>()
    for provider in providers { byID[UInt64(provider.id)] = provider }
    var order: [Provider] = []
    var known = ObjectSet()
    // The providers to be visited, the last one first. A provider is visited a second time after those that help it.
    var open = providers.inOrder { UInt64($0.maker.id) }.reversed().map { (provider: $0, isSecond: false) }
    while let (provider, isSecond) = open.popLast() {
      if isSecond { order.append(provider) }
      if isSecond || known.contains(provider) { continue }
      known.insert(Unretained(provider))
      open.append((provider, true))
      let helpers = provider.helpers.compactMap { byID[UInt64($0)] }
      open += helpers.inOrder { UInt64($0.maker.id) }.reversed().map { ($0, false) }
    }
    return order
  }
}

extension UDIFailure {
  package init(_ provider: Provider, path: [String], error: any Error) {
    self.init(provider.key, path: path, error: error)
    (fileID, line) = (provider.site.fileID, provider.site.line)
  }
}

extension UDIEvent.Closed {
  /// - Parameter provider: The provider whose instance has been closed; nil if a context has been.
  init(_ provider: Provider?, path: [String], duration: Duration, failure error: (any Error)? = nil) {
    self.init(
      typeName: provider?.key.typeName, name: provider?.key.name?.description, fullPath: path, duration: duration,
      failure: error.map { "\($0)" })
  }
}
