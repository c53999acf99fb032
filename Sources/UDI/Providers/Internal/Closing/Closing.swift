/// One run of `close()`, which ends a context and all contexts below it.
///
/// First, under a single hold of the tree lock, the run marks all of these contexts as being closed. From then on,
/// nothing is added to them and nothing new is made in them. The rest happens in a separate task, which goes on even if
/// the caller of `close()` is cancelled. The task waits for earlier runs, and for instances that are still being made.
/// It cancels asynchronous creations. Then it calls the closers one after the other with no lock held. Finally, it ends
/// the contexts.
final class Closing: @unchecked Sendable {
  // Unchecked: only the run's task uses `failures`; the tree lock guards all other mutable properties.

  /// The contexts to end, breadth-first. They are held until the run ends.
  private var contexts: [UDIContext] = []
  /// Shared creations that were under way in the contexts when the run began, including set-up blocks and users'
  /// storages that were storing an instance.
  var creations: [SharedCreation] = []
  /// Asynchronous creations that were under way for the contexts, each with the path of its context.
  var asyncCreations: [(creation: AsyncCreation, path: [String])] = []
  /// The providers with closers, each with the node of its context.
  var providers: [(provider: Provider, node: Node)] = []
  /// The runs that this run waits for: earlier runs for contexts below, and runs that are awaited in this run's
  /// closers.
  private var awaited: [Closing] = []
  private var failures: [UDICloseError.Failure] = []
  private var hasEnded = false
  /// The tasks that wait until the run has ended.
  private var tasks: [CheckedContinuation<Void, Never>] = []
  /// Whether no caller waits for the run. In that case, its error is reported, because no caller gets it.
  private var isUnattended = true

  /// The runs whose closers the current task is part of, the innermost last. There are several if a closer has closed
  /// another context.
  @TaskLocal private static var present: [Closing] = []

  /// Begins a run: marks a context, and all contexts below it, as being closed. Call this under the tree lock.
  init(_ context: UDIContext, _ first: Node, _ garbage: inout Garbage) {
    for (node, _) in BreadthFirst(first) {
      if node.treeLocked.state.isEnding {
        if let other = node.treeLocked.extras?.closing, !awaited.contains(where: { $0 === other }) {
          awaited.append(other)
        }
      } else if let context = node == first ? context : node.context {
        contexts.append(context)
      }
    }
    // Contexts below come first. If they came last, each provider that leaves would update all contexts above it.
    for context in contexts.reversed() { context.withNode { $0.beginClosing(self, &garbage) } }
    for creation in creations { creation.expectTask() }
  }

  /// Starts the task. Do not call this under a lock.
  func start() { Task { await run() } }

  // MARK: - Waiting

  /// Whether the current task may wait for the run. The result is false if the task is part of a closer or of an
  /// asynchronous factory that the run itself waits for. If the result is true, the caller
  /// must wait: the run then leaves its error to the caller, and no longer reports it.
  func mayBeAwaitedHere() -> Bool {
    let (present, call) = (Self.present, AsyncCall.current)
    return Tree.change { _ in
      var reached = present.isEmpty && call == nil ? [] : [self]
      var next = 0
      while next < reached.count {
        let run = reached[next]
        next += 1
        if run.hasEnded { continue }
        if present.contains(where: { $0 === run }) { return false }
        if run.asyncCreations.contains(where: { $0.creation.cycle(through: call, []) != nil }) { return false }
        for other in run.awaited where !reached.contains(where: { $0 === other }) { reached.append(other) }
      }
      present.last?.awaited.append(self)
      isUnattended = false
      return true
    }
  }

  /// Waits until the run has ended.
  ///
  /// - Returns: The error, if closers have failed.
  func waitForEnd() async -> UDICloseError? {
    await withCheckedContinuation { continuation in
      let isOver = Tree.change { _ in
        isUnattended = false
        if !hasEnded { tasks.append(continuation) }
        return hasEnded
      }
      if isOver { continuation.resume() }
    }
    Tree.change { _ in Self.present.last?.awaited.removeAll { $0 === self } }
    return error
  }

  /// The error, if closers have failed. Use this only after the run has ended.
  private var error: UDICloseError? { failures.isEmpty ? nil : UDICloseError(failures: failures) }

  // MARK: - The task

  private func run() async {
    let start = ContinuousClock.now
    let path = Tree.change { _ in contexts.first?.withNode(\.fullPath) ?? [] }
    // Everything is cancelled before anything is awaited, because one factory might wait for another.
    let asyncCreations = Tree.change { _ in self.asyncCreations }
    for (creation, path) in asyncCreations { creation.cancel(closing: path) }
    for other in Tree.change({ _ in awaited }) {
      if let error = await other.waitForEnd() { failures += error.failures }
    }
    for creation in Tree.change({ _ in creations }) { await creation.waitForEnd() }
    for (creation, _) in asyncCreations { await creation.waitForEnd() }
    var steps = steps()
    while let step = steps.popLast() { await take(step) }
    // Each context ends before those below it. It is therefore a root when it ends, so no context above has to be
    // updated. In the opposite order, the end of each context in a long chain would update all contexts above it.
    for context in contexts { context.withNode { _ = $0.end(where: { _ in true }) } }
    // The observer is notified before the callers that wait go on.
    if UDIObserver.mayExist {
      UDIObserver.tell { .closed(UDIEvent.Closed(contextAt: path, start.duration(to: .now))) }
    }
    end()
  }

  /// Calls one closer, and drops the instance that it has closed.
  private func take(_ step: Step) async {
    let closer = step.closer
    let start = ContinuousClock.now
    var failure: (any Error)?
    let path = UDIObserver.mayExist ? step.context.change { node, _ in node.fullPath } : []
    do {
      try await Self.$present.withValue(Self.present + [self]) { try await closer.close(step.unclosed.instance) }
    } catch {
      let path = step.context.change { node, _ in node.fullPath }
      failures.append(UDICloseError.Failure(step.provider, path, error))
      failure = error
    }
    step.drop()
    if UDIObserver.mayExist {
      UDIObserver.tell { .closed(UDIEvent.Closed(step.provider, path, start.duration(to: .now), failure)) }
    }
  }

  /// Ends the run, when the contexts have ended.
  private func end() {
    var isUnattended = false
    // The run may be the last to hold a user's object, for example through a creation that it has waited for. It
    // therefore passes everything that it holds out of the lock.
    _ = Tree.change { _ in
      isUnattended = self.isUnattended
      hasEnded = true
      for task in tasks { Tree.resume(task) }
      tasks = []
      for context in self.contexts { context.withNode { $0.treeLocked.extras?.closing = nil } }
      defer { (self.contexts, creations, asyncCreations, providers, awaited) = ([], [], [], [], []) }
      return (self.contexts, creations, asyncCreations, providers, awaited)
    }
    if isUnattended { error?.report() }
  }
}

// MARK: - The order

extension Closing {
  /// The call of a closer for one instance.
  fileprivate struct Step {
    let context: UDIContext
    let provider: Provider
    let closer: Closer
    let unclosed: Unclosed
    /// The cache that keeps the instance; nil if the provider itself keeps it, or if nothing does, because it was made
    /// too late.
    let cache: InstanceCache?

    /// Drops the instance, which has been closed. If the provider itself keeps the instance, unregisters the provider.
    func drop() {
      var storages: [DroppedStorage] = []
      context.change { node, garbage in
        if let index = closer.unclosed.lastIndex(where: { $0 === unclosed }) {
          garbage.add(closer.unclosed.remove(at: index))
        }
        if let cache {
          if let storage = cache.dropKept(&garbage) { storages = [storage] }
        } else if !provider.hasCaches {
          storages = node.unregister(provider, &garbage)
        }
      }
      for storage in storages { storage.reset() }
    }
  }

  /// The steps in reverse order: the last one in the array is taken first. Contexts below are closed before those
  /// above. In each context, instances that were made later are closed before those made earlier. By now, nothing new
  /// is made, so the list is complete.
  private func steps() -> [Step] {
    if Tree.change({ _ in providers.isEmpty }) { return [] }
    let positions = Dictionary(
      uniqueKeysWithValues: contexts.enumerated().map { ($1.withNode { $0 }, $0) })
    var steps: [(position: Int, step: Step)] = []
    for (provider, node) in Tree.change({ _ in providers }) {
      guard let position = positions[node], let closer = provider.closer else { continue }
      for (unclosed, cache) in provider.allUnclosed(closer) {
        let step = Step(
          context: contexts[position], provider: provider, closer: closer, unclosed: unclosed, cache: cache)
        steps.append((position, step))
      }
    }
    steps.sort { ($0.position, $0.step.unclosed.sequence) < ($1.position, $1.step.unclosed.sequence) }
    return steps.map(\.step)
  }
}

extension Provider {
  /// The instances that have to be closed, each with the cache that keeps it; nil if no cache does. Do not call this
  /// under a lock, because it calls the users' storages.
  fileprivate final func allUnclosed(_ closer: Closer) -> [(Unclosed, InstanceCache?)] {
    let (noted, caches) = Tree.change { _ in (closer.unclosed, hasCaches ? Array(self.caches.all) : []) }
    if sharing == .custom {
      return caches.compactMap { cache in
        cache.custom?.load().map { instance in
          (Unclosed(instance, reach, sequence: Tree.change { _ in cache.custom?.sequence ?? 0 }), cache)
        }
      }
    }
    let keepers = Tree.change { _ in
      Dictionary(
        caches.compactMap { cache in cache.kept?.owned.map { (ObjectIdentifier($0), cache) } }, uniquingKeysWith: { $1 }
      )
    }
    return noted.map { ($0, keepers[ObjectIdentifier($0.instance.object)]) }
  }
}

extension UDICloseError.Failure {
  init(_ provider: Provider, _ path: [String], _ error: any Error) {
    self.init(
      typeName: provider.key.type.text, name: provider.key.name?.description, path: path, error: error,
      fileID: provider.site.fileID, line: provider.site.line)
  }
}

extension UDICloseError {
  /// Reports the failures. Call this if they cannot be thrown because no caller waits.
  func report() {
    for failure in failures {
      let message = "An `onClose` threw an error that no caller waited for: \(failure)"
      UDIReporter.current.forward(
        UDIMisuse(kind: .closingFailed, message: message, fileID: failure.fileID, line: failure.line))
    }
  }
}
