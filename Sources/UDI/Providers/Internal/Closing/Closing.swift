/// One run of `close()`, which ends a context and all contexts below it. It takes these steps:
///
/// 1. All of these contexts are marked as being closed, under a single hold of the tree lock. From then on, nothing is
///    added to them, and nothing new is made in them. The other steps are taken in a separate task, which goes on even
///    if the caller of `close()` is cancelled.
/// 2. The asynchronous creations are cancelled.
/// 3. The run waits for earlier runs, which end contexts below.
/// 4. It waits for the creations.
/// 5. It calls the closers, one after the other, with no lock held.
/// 6. It ends the contexts.
/// 7. Everything that waits for the run is woken.
///
/// `UDIContext.closeAtOnce` is a shorter way for scopes without children and without anything to close or to wait for.
final class Closing: Activity, @unchecked Sendable {
  // Unchecked: only the run's task uses `failures` before the run ends, and nothing writes it afterwards; the tree lock
  // guards all other mutable properties.

  /// The contexts to end, breadth-first. They are held until the run ends.
  private var contexts: [UDIContext] = []
  /// The creations that were under way for the contexts when the run began, each with the number of this run among its
  /// waiters and with the path of its context.
  private var creations: [(creation: Creation, number: UInt64, path: [String])] = []
  /// The providers with closers, each with the position of its context among `contexts`.
  var providers: [(provider: Provider, closer: Closer, position: Int)] = []
  /// The earlier runs for contexts below, which this run waits for, each with the number of this run among its waiters.
  private var awaited: [(run: Closing, number: UInt64)] = []
  private var failures: [UDIFailure] = []
  /// Whether neither a caller nor a later run waits for the run. In that case, its error is reported, because nothing
  /// else gets it.
  private var isUnattended = true

  /// Joins the run that ends a context, or begins one. From then on, nothing is added to the context or to those below,
  /// and nothing new is made in them. Adds the current task to those that wait for the run, which then leaves its error
  /// to the callers, and no longer reports it.
  ///
  /// - Returns: The run, and the number of the task among its waiters. Nil if the context is closed, or if the task
  ///   must not wait, because the run itself waits for the closer or the asynchronous factory that the task is part of.
  static func join(_ context: UDIContext) -> (run: Closing, number: UInt64)? {
    let call = AsyncCall.current
    var begun: Closing?
    let joined = context.change { node, garbage -> (run: Closing, number: UInt64)? in
      // The new run marks the context, and so becomes `closing`.
      if !node.treeLocked.state.isEnding { begun = Closing(context, node, &garbage) }
      guard let run = node.treeLocked.extras?.closing, let number = try? run.enter(.task(call, through: [])) else {
        return nil
      }
      run.isUnattended = false
      return (run, number)
    }
    if let begun { Task { await begun.run() } }
    return joined
  }

  /// Marks a context, and all contexts below it, as being closed (step 1). Call this under the tree lock.
  private init(_ context: UDIContext, _ first: Node, _ garbage: inout Garbage) {
    super.init()
    for (node, _) in BreadthFirst(first) {
      if node.treeLocked.state.isEnding {
        if let other = node.treeLocked.extras?.closing, !awaited.contains(where: { $0.run === other }) {
          awaited.append((other, other.add(.activity(self))))
          other.isUnattended = false
        }
      } else if let context = node == first ? context : node.context {
        contexts.append(context)
      }
    }
    // Contexts below come first. If they came last, each provider that leaves would update all contexts above it.
    for (position, context) in contexts.enumerated().reversed() {
      context.withNode { mark($0, at: position, &garbage) }
    }
  }

  /// Marks a context as being closed, and notes what the run has to close and to wait for there.
  ///
  /// - Parameter position: The position of the context among `contexts`.
  private func mark(_ node: Node, at position: Int, _ garbage: inout Garbage) {
    node.treeLocked.state = .closing
    let extras = node.treeLocked.ensureExtras()
    extras.closing = self
    // Watching ends now, because a closer may wait for a task that waits for updates from here.
    if node.treeLocked.isWatched { node.endWatching() }
    var underWay = extras.droppedCreations
    var present: [Provider] = []
    node.treeLocked.providers.forEach { present.append($0.provider) }
    for provider in present {
      garbage.add(provider)
      if let closer = provider.closer {
        closer.isClosing = true
        providers.append((provider, closer, position))
      }
      if let creation = unsafe provider.creation { underWay.append(creation) }
      underWay += provider.caches?.all.compactMap(\.creation) ?? []
      provider.leaveIfEnding(&garbage)
    }
    for creation in underWay { creations.append((creation, creation.add(.activity(self)), node.fullPath)) }
  }

  // MARK: - Waiting

  /// Waits until the run has ended.
  ///
  /// - Parameter number: The number of the waiter.
  /// - Returns: The error, if closers have failed.
  func waitForEnd(_ number: UInt64) async -> UDICloseError? {
    await wait(number)
    return error
  }

  /// The error, if closers have failed. Use this only after the run has ended.
  private var error: UDICloseError? { failures.isEmpty ? nil : UDICloseError(failures: failures) }

  // MARK: - The task

  /// Takes the steps 2 to 7. The steps that wait are functions of their own, so that each is compiled once, and not
  /// with everything that can come before it.
  private func run() async {
    let start = ContinuousClock.now
    let path = Tree.change { _ in contexts.first }?.fullPath ?? []
    await waitForOthers()
    await callClosers()
    // Step 6. Each context ends before those below it. These are therefore roots when they end, so no context above has
    // to be updated. In the opposite order, the end of each context in a long chain would update all contexts above it.
    for context in contexts { context.withNode { _ = $0.end(onlyIfAtOnce: false) } }
    // Step 7. The observer is notified before the callers that wait go on.
    UDIObserver.tell { .closed(UDIEvent.Closed(nil, path: path, duration: start.duration(to: .now))) }
    endRun()
  }

  @inline(never)
  private func waitForOthers() async {
    let (awaited, creations) = Tree.change { _ in (self.awaited, self.creations) }
    // Step 2. Everything is cancelled before anything is awaited, because one factory might wait for another.
    for (creation, _, path) in creations { creation.cancel(closing: path) }
    // Step 3.
    for (other, number) in awaited { failures += await other.waitForEnd(number)?.failures ?? [] }
    // Step 4.
    for (creation, number, _) in creations {
      creation.raisePriority()
      await creation.wait(number)
    }
  }

  /// Takes step 5.
  @inline(never)
  private func callClosers() async {
    var steps = steps()
    while let step = steps.popLast() { await take(step) }
  }

  /// Calls one closer, and drops the instance that it has closed.
  private func take(_ step: Step) async {
    let (context, provider, closer) = (contexts[step.position], step.provider, step.closer)
    let start = ContinuousClock.now
    var failure: (any Error)?
    let path = context.fullPath
    do {
      let call = try AsyncCall(provider, beginning: self)
      defer { call.end() }
      try await AsyncCall.$current.withValue(call) { try await closer.close(step.unclosed.instance.value) }
    } catch {
      failures.append(UDIFailure(provider, path: path, error: error))
      failure = error
    }
    context.change { node, garbage in
      if let index = closer.unclosed.lastIndex(where: { $0.instance === step.unclosed.instance }) {
        garbage.add(closer.unclosed.remove(at: index).instance)
      }
      if let cache = step.cache {
        InstanceKeeper(provider: provider, cache: cache).dropKept(&garbage)
      } else if !provider.hasCaches, provider.kept.map({ $0.object === step.unclosed.instance.value.object }) ?? true {
        // The provider keeps this instance, or none. If it keeps another one, which will be closed later, it stays.
        node.unregister(provider, &garbage)
      }
    }
    UDIObserver.tell {
      .closed(UDIEvent.Closed(provider, path: path, duration: start.duration(to: .now), failure: failure))
    }
  }

  /// Ends the run, when the contexts have ended, and wakes everything that waits for it.
  private func endRun() {
    // The run may be the last to hold a user's object, for example through a creation that it has waited for. It
    // therefore passes everything that it holds out of the lock: before it wakes those that wait, so that they find
    // released what nothing else holds.
    _ = Tree.change { _ in
      for context in self.contexts { context.withNode { $0.treeLocked.extras?.closing = nil } }
      defer { (self.contexts, creations, providers, awaited) = ([], [], [], []) }
      return (self.contexts, creations, providers, awaited)
    }
    let isUnattended = Tree.change { _ in
      wake()
      return self.isUnattended
    }
    if isUnattended { error?.report() }
  }
}

// MARK: - The order

extension Closing {
  /// A part of step 5: the call of a closer for one instance.
  ///
  /// It has the position of the context among `contexts`. The cache is the one that keeps the instance; nil if the
  /// provider keeps it by itself, or if nothing does, because the provider was reset or left its context while the
  /// factory ran.
  private typealias Step = (
    position: Int, provider: Provider, closer: Closer, unclosed: Unclosed, cache: InstanceCache?
  )

  /// The calls of closers in reverse order: the last one in the array is made first. Contexts below are closed before
  /// those above. In each context, instances that were made later are closed before those made earlier. After step 4,
  /// nothing new is made, so the list is complete.
  private func steps() -> [Step] {
    var steps: [Step] = []
    Tree.change { _ in
      for (provider, closer, position) in providers {
        // The caches by the addresses of the instances that they keep.
        var keepers = ObjectTable<InstanceCache>()
        for cache in provider.caches?.all ?? [] {
          if let owned = cache.kept?.owned { keepers[UInt64(Unretained(owned).address)] = cache }
        }
        for unclosed in closer.unclosed {
          let cache = keepers[UInt64(Unretained(unclosed.instance.value.object).address)]
          steps.append((position, provider, closer, unclosed, cache))
        }
      }
    }
    // Sorting keeps the order of what is equal.
    return steps.inOrder { $0.unclosed.number }.inOrder { UInt64($0.position) }
  }
}

extension UDIFailure {
  init(_ provider: Provider, path: [String], error: any Error) {
    self.init(
      typeName: provider.key.type.text, name: provider.key.name?.description, fullPath: path, error: error,
      fileID: provider.site.fileID, line: provider.site.line)
  }
}

extension UDICloseError {
  /// Reports the failures. Call this if no caller waits to get them as an error.
  func report() {
    for failure in failures {
      let message = "An `onClose` threw an error that no caller waited for: \(failure)"
      UDIReporter.current.report(
        UDIMisuse(kind: .closingFailed, message: message, fileID: failure.fileID ?? "", line: failure.line ?? 0))
    }
  }
}
