/// One run of `close()`, which ends a context and all contexts below it. It takes these steps:
///
/// 1. All of these contexts are marked as being closed, under a single hold of the tree lock. From then on, nothing is
///    added to them, and nothing new is made in them. The other steps are taken in a separate task, which goes on even
///    if the caller of `close()` is cancelled.
/// 2. The asynchronous creations are cancelled. (So are the operations of `whileAvailable`, whose watching ended with
///    step 1.)
/// 3. The run waits for earlier runs, which end contexts below.
/// 4. It waits for the creations and the operations.
/// 5. For one instance after the other, it cancels and awaits the operation, and calls the closer, with no lock held.
/// 6. It ends the contexts.
/// 7. Everything that waits for the run is woken.
///
/// If there is a limit, and it is over, whatever the run waits for in the steps 3 to 5 is left behind.
///
/// `UDIContext.closeAtOnce` is a shorter way for scopes without children and without anything to close or to wait for.
final class Closing: Activity, @unchecked Sendable {
  // Unchecked: only the run's task uses `failures` before the run ends, and nothing writes it afterwards; the tree lock
  // guards all other mutable properties.

  /// The contexts to end, breadth-first. They are held until the run ends.
  private var contexts: [UDIContext] = []
  /// What was under way in the contexts when the run began, each with the number of this run among its waiters and with
  /// the path of its context: earlier runs for contexts below, which come first; creations; and operations of
  /// `whileAvailable`.
  private var underWay: [(activity: Activity, number: UInt64, path: [String])] = []
  /// The contexts that have something to close, those below first, each with its providers.
  private var toClose: [(context: UDIContext, providers: [Provider])] = []
  private var failures: [UDIFailure] = []
  /// Whether neither a caller nor a later run waits for the run. In that case, its error is reported, because nothing
  /// else gets it.
  private var isUnattended = true
  /// How the contexts end, as the closers see it.
  private let ending: UDIEnding
  /// How long the run may take, and the clock that says so.
  typealias Limit = (time: Duration, clock: any Clock<Duration>)
  /// For each limit that the callers of `close` gave, a task that waits until it is over.
  private var timers: [Task<Void, Never>] = []
  /// How long the run still waits for each activity; nil as long as no limit is over.
  private var rest: Limit?
  /// What the run waits for now, with the number of this run among its waiters.
  private var awaitedNow: (activity: Activity, number: UInt64)?

  /// Joins the run that ends a context, or begins one. From then on, nothing is added to the context or to those below,
  /// and nothing new is made in them. Adds the current task to those that wait for the run, which then leaves its error
  /// to the callers, and no longer reports it.
  ///
  /// A scope whose operation has ended leaves the error of a run that it has not begun to others.
  ///
  /// - Returns: The run, the number of the task among its waiters, and whether this call has begun the run. Nil if the
  ///   context is closed, or if the task must not wait, because the run itself waits for the closer or the asynchronous
  ///   factory that the task is part of.
  static func join(_ context: UDIContext, _ ending: UDIEnding, _ limit: Limit?) -> (Closing, UInt64, isNew: Bool)? {
    let call = AsyncCall.current
    let isClose = if case .closed = ending { true } else { false }
    var begun: Closing?
    let (run, number, isWhole) = context.change { node, garbage -> (Closing?, UInt64?, Bool) in
      // The new run marks the context, and so becomes `closing`.
      if !node.treeLocked.state.isEnding { begun = Closing(context, node, ending, &garbage) }
      guard let run = node.treeLocked.extras?.closing else { return (nil, nil, false) }
      let number = try? run.enter(.task(call, through: []))
      if number != nil, isClose || begun != nil { run.isUnattended = false }
      return (run, number, run.contexts.first === context)
    }
    if let begun { Task { await begun.run() } }
    // A limit is that of the run, even if the caller must not wait. But if the run ends a context above as well, only
    // this caller stops waiting.
    if let limit, let run, isWhole || number != nil { run.startTimer(limit, leaving: isWhole ? nil : number) }
    guard let run, let number else { return nil }
    return (run, number, begun != nil)
  }

  /// Marks a context, and all contexts below it, as being closed (step 1). Call this under the tree lock.
  private init(_ context: UDIContext, _ first: Node, _ ending: UDIEnding, _ garbage: inout Garbage) {
    self.ending = ending
    super.init()
    for (node, _) in BreadthFirst(first) {
      if node.treeLocked.state.isEnding {
        if let other = node.treeLocked.extras?.closing, !underWay.contains(where: { $0.activity === other }) {
          underWay.append((other, other.add(.activity(self)), []))
          other.isUnattended = false
        }
      } else if let context = node == first ? context : node.context {
        contexts.append(context)
      }
    }
    // Contexts below come first. If they came last, each provider that leaves would update all contexts above it.
    for context in contexts.reversed() { context.withNode { mark(context, $0, &garbage) } }
  }

  /// Marks a context as being closed, and notes what the run has to close and to wait for there.
  private func mark(_ context: UDIContext, _ node: Node, _ garbage: inout Garbage) {
    node.treeLocked.state = .closing
    node.noteClosedKeys(&garbage)
    let extras = node.treeLocked.ensureExtras()
    extras.closing = self
    // Watching ends now, because a closer may wait for a task that waits for updates from here.
    if node.treeLocked.isWatched { node.endWatching() }
    // Those who wait for the end look again, and then wait for this run, unless it waits for them.
    extras.end?.wakeForChange()
    var activities = extras.activities
    let present = node.allProviders
    if node.treeLocked.hasClosers { toClose.append((context, present)) }
    for provider in present {
      garbage.add(provider)
      provider.closer?.isClosing = true
      for unclosed in provider.closer?.unclosed ?? [] { unclosed.operation?.noteClosing(by: self) }
      if let creation = unsafe provider.creation { activities.append(creation) }
      activities += (provider.caches?.all ?? []).flatMap { [$0.creation, $0.preparation].compactMap(\.self) }
      if let preparation = provider.extras?.preparation { activities.append(preparation) }
      provider.leaveIfEnding(&garbage)
    }
    for activity in activities { underWay.append((activity, activity.add(.activity(self)), node.fullPath)) }
  }

  // MARK: - Waiting

  /// Waits until the run has ended.
  ///
  /// - Parameter number: The number of the waiter.
  /// - Returns: The error, if closers have failed.
  func waitForEnd(_ number: UInt64) async -> UDICloseError? {
    await wait(number)
    guard Tree.change({ _ in hasEnded }) else { return UDICloseError(failures: [late]) }
    return error
  }

  /// What an error says of a run that was not waited for until its end.
  private var late: UDIFailure {
    UDIFailure(TypeIdentity.of(UDIContext.self), path: path, error: UDIUntimelyEnd.notInTime)
  }

  /// The path of the outermost context that the run ends.
  private var path: [String] { Tree.change { _ in contexts.first }?.fullPath ?? [] }

  /// The error, if closers have failed. Use this only after the run has ended.
  private var error: UDICloseError? { failures.isEmpty ? nil : UDICloseError(failures: failures) }

  /// Waits for something, as long as there is time.
  ///
  /// - Parameter number: The number of this run among the waiters of the activity.
  /// - Returns: Whether the activity has ended.
  @inline(never)
  private func wait(for activity: Activity, _ number: UInt64) async -> Bool {
    let rest = Tree.change { _ in
      awaitedNow = (activity, number)
      return self.rest
    }
    let timer = rest.map { rest in
      Task.detached { if (try? await rest.clock.sleep(for: rest.time)) != nil { activity.leave(number) } }
    }
    await activity.wait(number)
    timer?.cancel()
    let (hasEnded, last) = Tree.change { _ in (activity.hasEnded, awaitedNow.take()) }
    withExtendedLifetime(last) {}
    return hasEnded
  }

  /// Does the same for an operation. If the time is over, cancels it.
  ///
  /// - Returns: The operation's error, if it has failed.
  private func error(of operation: Operation) async -> (any Error)? {
    if let number = Tree.change({ _ in operation.closingNumber }), await !wait(for: operation, number) {
      operation.cancel(closing: [])
      return UDIUntimelyEnd.notInTime
    }
    return Tree.change { _ in operation.takeFailure() }?.error
  }

  /// Leaves behind what the run waits for when a limit is over, and has it wait for a tenth of the limit from then on.
  ///
  /// - Parameter number: The number of a caller that stops waiting instead; nil if the limit is that of the run.
  private func startTimer(_ limit: Limit, leaving number: UInt64? = nil) {
    // Detached, like the other timer: it may end a moment after the run, and a task keeps its task-local values alive.
    let timer = Task.detached { [self] in
      if limit.time > .zero, (try? await limit.clock.sleep(for: limit.time)) == nil { return }
      if let number { return leave(number) }
      let awaitedNow = Tree.change { _ -> (activity: Activity, number: UInt64)? in
        if rest != nil { return nil }
        rest = (limit.time / 10, limit.clock)
        return self.awaitedNow
      }
      if let awaitedNow { awaitedNow.activity.leave(awaitedNow.number) }
    }
    let isOver = Tree.change { _ in
      if !hasEnded { timers.append(timer) }
      return hasEnded
    }
    if isOver { timer.cancel() }
  }

  // MARK: - The task

  /// Takes the steps 2 to 7. The steps that wait are functions of their own, so that each is compiled once, and not
  /// with everything that can come before it.
  private func run() async {
    let start = ContinuousClock.now
    let path = path
    await waitForOthers()
    await callClosers()
    // From now on, what a factory makes that was left behind is closed by nobody, which is reported.
    Tree.change { _ in for provider in toClose.flatMap(\.providers) { provider.closer?.isClosing = false } }
    // Step 6. Each context ends before those below it. These are therefore roots when they end, so no context above has
    // to be updated. In the opposite order, the end of each context in a long chain would update all contexts above it.
    for context in contexts { context.withNode { _ = $0.end(onlyIfAtOnce: false) } }
    // Step 7. The observer is notified before the callers that wait go on.
    UDIObserver.tell { .closed(UDIEvent.Closed(nil, path: path, duration: start.duration(to: .now))) }
    // The run may be the last to hold a user's object, for example through a creation that it has waited for. It
    // therefore passes everything that it holds out of the lock: before it wakes those that wait, so that they find
    // released what nothing else holds.
    _ = Tree.change { _ in
      for context in self.contexts { context.withNode { $0.treeLocked.extras?.closing = nil } }
      defer { (self.contexts, underWay, toClose) = ([], [], []) }
      return (self.contexts, underWay, toClose)
    }
    if Tree.change({ _ in isUnattended }) { error?.report() }
    let timers = Tree.change { _ in
      wake()
      defer { self.timers = [] }
      return self.timers
    }
    for timer in timers { timer.cancel() }
  }

  @inline(never)
  private func waitForOthers() async {
    let underWay = Tree.change { _ in self.underWay }
    // Step 2. Everything is cancelled before anything is awaited, because one factory might wait for another.
    for (activity, _, _) in underWay { activity.cancel(closing: path) }
    // Steps 3 and 4.
    for (activity, number, path) in underWay {
      activity.raisePriority()
      let hasEnded = await wait(for: activity, number)
      if let other = activity as? Closing {
        failures += hasEnded ? other.failures : [other.late]
        if !hasEnded, let rest = Tree.change({ _ in rest }) { other.startTimer((.zero, rest.clock)) }
      } else if !hasEnded, let key = activity.key {
        failures.append(UDIFailure(key, path: path, error: UDIUntimelyEnd.notInTime))
      }
    }
  }

  /// Takes step 5.
  @inline(never)
  private func callClosers() async {
    var steps = steps()
    while let step = steps.popLast() { await take(step) }
  }

  /// Closes one instance, and drops it.
  @inline(never)
  private func take(_ step: Step) async {
    let start = ContinuousClock.now
    let path = step.context.fullPath
    var errors: [any Error] = []
    if let operation = step.unclosed.operation {
      operation.cancel(closing: path)
      if let error = await error(of: operation) { errors.append(error) }
    }
    if let call = beginClosing(step), let error = await error(of: call) { errors.append(error) }
    finish(step, errors, path: path, since: start)
  }

  /// Calls the closer for an instance; nil if there is only an operation.
  @inline(never)
  private func beginClosing(_ step: Step) -> Operation? {
    guard let close = step.closer.close else { return nil }
    // A closer that does not end holds only this, and not the context.
    let instance = step.unclosed.instance
    let call = Operation(of: step.provider, ending) { try await close.value(instance.value) }
    step.context.change { node, _ in
      for node in node.andAncestors { node.treeLocked.extras?.hasCalledCloser = node.isEnding }
      call.noteClosing(by: self)
    }
    call.start(isDetached: false)
    return call
  }

  /// Drops an instance that has been closed.
  @inline(never)
  private func finish(_ step: Step, _ errors: [any Error], path: [String], since start: ContinuousClock.Instant) {
    let (context, provider, closer, instance) = (step.context, step.provider, step.closer, step.unclosed.instance)
    for error in errors { failures.append(UDIFailure(provider, path: path, error: error)) }
    context.change { node, garbage in
      if let index = closer.unclosed.lastIndex(where: { $0.instance === instance }) {
        garbage.add(closer.unclosed.remove(at: index).instance)
      }
      if let cache = step.cache {
        InstanceKeeper(provider: provider, cache: cache).dropKept(&garbage)
      } else if !provider.hasCaches, provider.kept.map({ $0.object === instance.value.object }) ?? true {
        // The provider keeps this instance, or none. If it keeps another one, which will be closed later, it stays.
        node.unregister(provider, &garbage)
      }
    }
    UDIObserver.tell {
      .closed(UDIEvent.Closed(provider, path: path, duration: start.duration(to: .now), failure: errors.first))
    }
  }
}

// MARK: - The order

extension Closing {
  /// A part of step 5: what has to be done for one instance.
  ///
  /// The cache is the one that keeps the instance; nil if the provider keeps it by itself, or if nothing does, because
  /// the provider was reset or left its context while the factory ran.
  private typealias Step = (
    context: UDIContext, provider: Provider, closer: Closer, unclosed: Unclosed, cache: InstanceCache?
  )

  /// The parts of step 5 in reverse order: the last one in the array comes first. Contexts below are closed before
  /// those above. In each context, the order is that of `inOrderOfMaking`. After step 4, nothing new is made, so the
  /// list is complete.
  private func steps() -> [Step] {
    var steps: [Step] = []
    Tree.change { _ in
      for (context, providers) in toClose.reversed() {
        for provider in Self.inOrderOfMaking(providers) {
          guard let closer = provider.closer else { continue }
          // The caches by the addresses of the instances that they keep.
          var keepers = ObjectTable<InstanceCache>()
          for cache in provider.caches?.all ?? [] {
            if let owned = cache.kept?.owned { keepers[UInt64(Unretained(owned).address)] = cache }
          }
          for unclosed in closer.unclosed {
            let cache = keepers[UInt64(Unretained(unclosed.instance.value.object).address)]
            steps.append((context, provider, closer, unclosed, cache))
          }
        }
      }
    }
    return steps
  }

  /// Puts the providers of one context into the order in which they would make their instances if everything were made
  /// in the order of registration, each instance after those that help to make it. The order in which they were made in
  /// fact may differ from one run of the program to the next.
  private static func inOrderOfMaking(_ providers: [Provider]) -> [Provider] {
    var byID = ObjectTable<Provider>()
    for provider in providers { byID[UInt64(provider.id)] = provider }
    var order: [Provider] = []
    var known = ObjectSet()
    // To be visited, the last one first. A provider is visited a second time after those that help it.
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

  init(_ key: KeyIdentity, path: [String], error: any Error) {
    self.init(typeName: key.type.text, name: key.name?.description, fullPath: path, error: error)
  }

  func report(_ kind: UDIMisuse.Kind, _ what: String) {
    UDIReporter.current.report(
      UDIMisuse(kind: kind, message: "\(what): \(self)", fileID: fileID ?? "", line: line ?? 0))
  }
}

extension UDICloseError {
  /// Reports the failures. Call this if no caller waits to get them as an error.
  package func report() {
    for failure in failures { failure.report(.closingFailed, "Something failed while a context was closed") }
  }
}
