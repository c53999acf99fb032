/// One run of `close()`, which ends a context and all contexts below it. It takes these steps:
///
/// 1. All of these contexts are marked as being closed, under a single hold of the tree lock. From then on, nothing is
///    added to them, and nothing new is made in them. The other steps are taken in a separate task, which goes on even
///    if the caller of `close()` is cancelled.
/// 2. All asynchronous creations are cancelled. (So are the operations of `whileAvailable`, whose watching ended with
///    step 1.)
/// 3. For one context after the other, those below before those above (`ClosingPart`), the run waits for earlier runs
///    that end contexts directly below, for creations, and for operations. For one instance after the other, it then
///    cancels and awaits the operation, and calls the closer, with no lock held.
/// 4. It ends the contexts, and wakes everything that waits. A context below for which something waits ends earlier: as
///    soon as its turn is over.
///
/// If there is a limit, and it is over, whatever the run waits for in step 3 is left behind.
///
/// `UDIContext.closeAtOnce` is a shorter way for scopes without children and without anything to close or to wait for.
final class ClosingRun: @unchecked Sendable {
  // Unchecked: the tree lock guards all mutable properties. The run's task also reads `parts` without it, which only
  // that task changes, and uses `turnBegan` and `underWayAtStart` alone. Accesses
  // cannot overlap, so they are not checked for that: the checks would take a tenth of "request-close" in
  // `Benchmarks/instructions`.

  /// The parts of the run, breadth-first. The run takes them in reverse order: those below before those above.
  @safe @exclusivity(unchecked) private(set) var parts: [ClosingPart] = []
  /// The index of the part whose turn it is.
  @safe @exclusivity(unchecked) private(set) var current = 0
  /// The failures, each with its part, and whether somebody gets it as an error.
  @safe @exclusivity(unchecked) private var failures: [(part: Int, failure: UDIFailure, isTold: Bool)] = []
  /// How the contexts end, as the closers see it.
  let ending: UDIEnding
  /// The activities that step 2 cancels.
  private var underWayAtStart: [Activity] = []
  /// Whether a limit is over.
  var isLate = false
  /// Whether the run ends all of its contexts now.
  @safe @exclusivity(unchecked) private(set) var isEnding = false
  /// The activity that the run waits for now, with the number of the part among its waiters; or the call of a closer,
  /// with the part itself as the activity.
  typealias Awaited = (activity: Activity, number: UInt64, call: AsyncCall?)
  @safe @exclusivity(unchecked) private(set) var awaitedNow: Awaited?
  /// The task in which the run goes on, once that has been noted.
  @safe @exclusivity(unchecked) private var task: Task<Void, Never>?
  /// How many closers have been left behind.
  @safe @exclusivity(unchecked) private var callsLeft = 0
  private let began = UDIObserver.time

  // MARK: - Whose turn it is to be closed

  /// The providers of the current part that may have something to close, the next one last; nil before the first
  /// closer.
  @safe @exclusivity(unchecked) private var order: [Provider]?
  /// The caches of the provider whose turn it is, by the addresses of the instances that they keep.
  @safe @exclusivity(unchecked) private var keepers = ObjectTable<InstanceCache>()
  /// The instance whose turn it is.
  @safe @exclusivity(unchecked) private var instance: OwnedInstance?
  /// When its turn began, and the errors since then.
  @safe @exclusivity(unchecked) private var turnBegan = Duration.zero
  @safe @exclusivity(unchecked) private var errors: [any Error] = []
  /// The closer that the run's task calls now, if it does.
  @safe @exclusivity(unchecked) private var call: AsyncCall?

  /// Marks a context, and all contexts below it, as being closed (step 1). Call this under the tree lock.
  init(_ context: UDIContext, _ first: Node, _ ending: UDIEnding, _ garbage: inout Garbage) {
    self.ending = ending
    for (node, _) in BreadthFirst(first) {
      let outer = node == first ? nil : node.parent?.treeLocked.extras?.closing.part
      if node.treeLocked.state.isEnding {
        // The parts below belong to the same earlier run.
        if let other = node.treeLocked.extras?.closing.part, let outer, outer.run === self { other.enter(outer) }
      } else if let context = node == first ? context : node.context {
        parts.append(ClosingPart(self, context, node, below: outer))
      }
    }
    current = parts.count - 1
    // Contexts below come first. If they came last, each provider that leaves would update all contexts above it.
    for part in parts.reversed() { part.context?.withNode { mark(part, $0, &garbage) } }
    underWayAtStart = parts.flatMap { $0.underWay.map(\.activity) }
  }

  /// Marks a context as being closed, and notes what the run has to close and to wait for there.
  private func mark(_ part: ClosingPart, _ node: Node, _ garbage: inout Garbage) {
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
      for cache in provider.caches?.all ?? [] { activities += [cache.creation, cache.preparation].compactMap(\.self) }
      provider.leaveIfIdle(&garbage)
    }
    for activity in activities { part.underWay.append((activity, activity.add(.activity(part)))) }
  }

  // MARK: - Parts. Under the tree lock, unless it says otherwise

  /// The path of the outermost context. Read this in the run's task, and not under the lock.
  private var path: [String] { parts[0].path }

  /// Whether a part is the given one, or below it.
  func isPart(_ index: Int, below outer: ClosingPart) -> Bool {
    var index: Int? = index
    while let next = index, next > outer.index { index = parts[next].outer }
    return index == outer.index
  }

  /// Takes the failures of a part and of those below it, for somebody who gets them now.
  func takeFailures(of outer: ClosingPart) -> [UDIFailure] {
    let taken = failures.indices.filter { isPart(failures[$0].part, below: outer) }
    for index in taken { failures[index].isTold = true }
    return taken.map { failures[$0].failure }
  }

  // MARK: - The task

  /// Goes on in a task of its own.
  ///
  /// - Parameters:
  ///   - number: How many closers have been left behind before.
  ///   - isHere: Whether the task may begin on this thread.
  func goOn(after number: Int, here isHere: Bool = false, _ body: sending @escaping @isolated(any) () async -> Void) {
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
    if !underWayAtStart.isEmpty {
      let path = path
      for activity in exchange(&underWayAtStart, with: []) { activity.cancel(closing: path) }
    }
    await takeParts()
  }

  /// What the run has to do for a part.
  private typealias Step = (part: ClosingPart, waits: Bool, closes: Bool)

  /// Takes the steps 3 and 4, beginning with the part whose turn it is.
  nonisolated(nonsending) private func takeParts() async {
    var next = Tree.change { _ in step }
    while let (part, waits, closes) = next {
      if waits { await waitForOthers(part) }
      if closes, await !callClosers(part) { return }
      next = noteDone(part)
    }
    end()
  }

  /// What the run has to do next; nil if it ends all of its contexts.
  private var step: Step? { (isEnding ? nil : parts[current]).map { ($0, !$0.underWay.isEmpty, !$0.toClose.isEmpty) } }

  /// Notes that everything has been closed in a context, and ends it if somebody waits for that. Returns the next step.
  @inline(never) private func noteDone(_ part: ClosingPart) -> Step? {
    let (isAwaited, next) = Tree.change { _ in
      (isEnding, current) = (part.index == 0, max(part.index - 1, 0))
      if part.hasCalledCloser, let outer = part.outer { parts[outer].hasCalledCloser = true }
      return (part.isWanted && !isEnding, step)
    }
    if isAwaited { part.end() }
    return next
  }

  /// Takes step 4. The observer is notified before the callers that wait go on.
  @inline(never) private func end() {
    let (first, path) = (parts[0], UDIObserver.mayExist ? path : [])
    let all = first.endAll()
    UDIObserver.tell { .closed(UDIEvent.Closed(nil, path: path, duration: UDIObserver.time - began)) }
    reportUntold { first.takers == 0 }
    first.wakeAll(all)
    // Whoever was to get the error may have left meanwhile.
    reportUntold()
    withExtendedLifetime(Tree.change { _ in (exchange(&parts, with: []), exchange(&failures, with: [])) }) {}
  }

  /// Begins to wait for an activity.
  ///
  /// - Parameter activity: Gives the activity. Called under the tree lock.
  /// - Returns: The timer that ends the waiting; nil as long as no limit is over.
  private func beginWaiting(_ part: ClosingPart, for activity: () -> Awaited) -> Task<Void, Never>? {
    let (awaited, rest) = Tree.change { _ in
      let awaited = activity()
      awaitedNow = awaited
      return (awaited, limit(of: part))
    }
    return rest.map { rest in Task { if await rest.wait() { leave(awaited) } } }
  }

  /// Waits for an activity, as long as there is time.
  ///
  /// - Returns: Whether the activity has ended.
  @inline(never)
  nonisolated(nonsending) private func wait(_ part: ClosingPart, for activity: Activity, _ number: UInt64) async -> Bool
  {
    let timer = beginWaiting(part) { (activity, number, nil) }
    await activity.wait(number)
    timer?.cancel()
    let (hasEnded, last) = Tree.change { _ in (activity.hasEnded, awaitedNow.take()) }
    withExtendedLifetime(last) {}
    return hasEnded
  }

  /// Leaves behind the activity that the run waits for, because the time is over. If that is a closer, the run's task
  /// stays with it, and is cancelled; another task goes on. Do not call this under a lock.
  func leave(_ awaited: Awaited) {
    awaited.activity.leave(awaited.number)
    let left = Tree.change { _ -> (part: ClosingPart, task: Task<Void, Never>?, number: Int)? in
      guard let call = awaited.call, self.call === call else { return nil }
      call.isLeft = true
      (self.call, awaitedNow) = (nil, nil)
      callsLeft += 1
      errors.append(UDIUntimelyEnd.notInTime)
      return (parts[current], task, callsLeft)
    }
    guard let (part, task, number) = left else { return }
    task?.cancel()
    goOn(after: number) { [self] in
      _ = finish(part)
      await takeParts()
    }
  }

  /// How long the run still waits for each activity of a part; nil if no limit is over.
  private func limit(of part: ClosingPart) -> Limit? {
    if !isLate { return nil }
    return sequence(first: part) { part in part.outer.map { self.parts[$0] } }.lazy.compactMap(\.rest).first
  }

  /// Waits for an operation. If the time is over, cancels it.
  ///
  /// - Returns: The operation's error, if it has failed.
  nonisolated(nonsending) private func error(of operation: Operation, _ part: ClosingPart) async -> (any Error)? {
    if let number = Tree.change({ _ in operation.closingNumber }), await !wait(part, for: operation, number) {
      operation.cancel(closing: [])
      return UDIUntimelyEnd.notInTime
    }
    return Tree.change { _ in operation.failure.take() }?.error
  }

  @inline(never)
  nonisolated(nonsending) private func waitForOthers(_ part: ClosingPart) async {
    // The run may hold the last reference to a user's object, for example through a creation. Taking the list out of
    // the part releases such an object here, with no lock held.
    let underWay = Tree.change { _ in exchange(&part.underWay, with: []) }
    for (activity, number) in underWay {
      activity.raisePriority()
      let hasEnded = await wait(part, for: activity, number)
      if let other = activity as? ClosingPart {
        let (failures, isTold, rest) = Tree.change { _ in
          part.hasCalledCloser = part.hasCalledCloser || other.hasCalledCloser
          let failures = other.takeFailures()
          return (failures, failures != nil && other.takers > 1, limit(of: part))
        }
        for failure in failures ?? [other.late] { note(failure, part, isTold: isTold) }
        if failures == nil, let rest { other.leaveBehind(rest) }
      } else if !hasEnded, let key = activity.key {
        note(UDIFailure(key, path: part.path, error: UDIUntimelyEnd.notInTime), part)
      }
    }
  }

  private func note(_ failure: UDIFailure, _ part: ClosingPart, isTold: Bool = false) {
    Tree.change { _ in failures.append((part.index, failure, isTold)) }
  }

  /// Reports the failures that nobody gets as an error, if a condition holds, which is checked under the tree lock.
  private func reportUntold(if condition: () -> Bool = { true }) {
    let untold = Tree.change { _ in
      guard condition(), !failures.isEmpty else { return failures.prefix(0) }
      defer { for index in failures.indices { failures[index].isTold = true } }
      return failures[...]
    }
    for (_, failure, isTold) in untold where !isTold { failure.reportWhileClosing() }
  }

  /// Closes the instances of a context.
  ///
  /// - Returns: False if a closer has been left behind, and another task goes on.
  @inline(never)
  nonisolated(nonsending) private func callClosers(_ part: ClosingPart) async -> Bool {
    while let (provider, unclosed, close) = Tree.change({ next(of: part, &$0) }) {
      if await !self.close(unclosed, of: provider, close, part) { return false }
    }
    return true
  }

  /// Closes the instance whose turn it is, and drops it.
  ///
  /// - Returns: False if the closer has been left behind, and another task goes on.
  @inline(never)
  nonisolated(nonsending) private func close(
    _ unclosed: Unclosed, of provider: Provider, _ close: Closer.Body?, _ part: ClosingPart
  ) async -> Bool {
    if let operation = unclosed.operation {
      operation.cancel(closing: path)
      if let error = await error(of: operation, part) { Tree.change { _ in errors.append(error) } }
    }
    // A closer that never ends keeps its call and the run alive, but no context. A call without an asker throws
    // nothing.
    guard let close, let call = try? AsyncCall(provider, beginning: part) else { return finish(part) }
    let timer = beginWaiting(part) {
      (part.hasCalledCloser, self.call) = (true, call)
      return (part, 0, call)
    }
    let error = await call.run { try await close.value(unclosed.instance.value) }
    timer?.cancel()
    return finish(part, call, error)
  }

  /// Drops the instance whose turn it was.
  ///
  /// - Parameters:
  ///   - call: The call of the closer, if it has ended.
  ///   - error: What the closer has thrown.
  /// - Returns: False if the closer had been left behind, and another task goes on.
  private func finish(_ part: ClosingPart, _ call: AsyncCall? = nil, _ error: (any Error)? = nil) -> Bool {
    let (isLeft, provider, failed, done) = Tree.change { garbage -> (Bool, Provider?, [any Error], Unclosed?) in
      if self.call !== call { return (true, nil, [], nil) }
      if let error { errors.append(error) }
      (self.call, awaitedNow) = (nil, nil)
      guard let provider = order?.last, let closed = instance.take() else { return (false, nil, [], nil) }
      let index = provider.closer?.unclosed.lastIndex { $0.instance === closed }
      let operation = index.flatMap { provider.closer?.unclosed.remove(at: $0) }?.operation
      let object = closed.value.object
      // An instance that came late is not in `keepers`.
      let known = provider.hasCaches ? keepers[UInt64(Unretained(object).address)] : nil
      if let cache = known ?? provider.caches?.all.first(where: { $0.kept?.owned === object }) {
        InstanceKeeper(provider: provider, cache: cache).dropKept(&garbage)
      } else if !provider.hasCaches, provider.kept.map({ $0.object === object }) ?? true {
        // The provider keeps this instance, or none. If it keeps another one, which will be closed later, it stays.
        provider.node?.unregister(provider, &garbage)
      }
      return (false, provider, exchange(&errors, with: []), (closed, operation))
    }
    _ = consume done
    guard let provider else { return !isLeft }
    for error in failed { note(UDIFailure(provider, path: part.path, error: error), part) }
    UDIObserver.tell {
      .closed(.init(provider, path: part.path, duration: UDIObserver.time - turnBegan, failure: failed.first))
    }
    return true
  }

  // MARK: - The order

  /// Goes on to the next instance of a part, in the reverse order of `inOrderOfMaking`. Called under the tree lock.
  ///
  /// - Returns: The provider, the instance, and the closer; nil at the end.
  private func next(of part: ClosingPart, _ garbage: inout Garbage) -> (Provider, Unclosed, Closer.Body?)? {
    if order == nil { order = inOrderOfMaking(part.toClose) }
    while let provider = order?.last {
      if let closer = provider.closer, let next = closer.unclosed.last {
        (instance, turnBegan) = (next.instance, UDIObserver.time)
        if provider.hasCaches, keepers.isEmpty {
          for cache in provider.caches?.all ?? [] {
            if let owned = cache.kept?.owned { keepers[UInt64(Unretained(owned).address)] = cache }
          }
        }
        return (provider, next, closer.close)
      }
      order?.removeLast()
      for cache in keepers.values { garbage.add(cache) }
      keepers = ObjectTable()
    }
    // From now on, nobody closes the instance of a factory that was left behind. That is reported.
    order = nil
    for provider in part.toClose {
      provider.closer?.isClosing = false
      garbage.add(provider)
    }
    part.toClose = []
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
      if isSecond || known.find(Unretained(provider)) != nil { continue }
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
