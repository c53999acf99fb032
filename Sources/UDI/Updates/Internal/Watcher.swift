/// Holds a watcher as long as somebody wants to know of changes. All copies of an iterator use the same consumer.
///
/// The watcher is removed from the tree here, while it is still held. In its own `deinit` it would be too late: a
/// change on another thread could find it in the tree and retain it.
final class Consumer: Sendable {
  let watcher: Watcher

  /// - Parameters:
  ///   - context: The context where lookups begin. If it is nil, the watcher ends at once.
  ///   - findsAll: Whether to find all dependencies of the type, and not only the first one with the name.
  ///   - goesOnAbove: Whether the watching goes on when the context has been closed.
  @inline(never)
  init(_ context: UDIContext?, _ request: LookupRequest, findsAll: Bool = false, goesOnAbove: Bool = false) {
    watcher = Watcher(context, request, findsAll, goesOnAbove)
    Tree.change { _ in
      watcher.count(1)
      if let context { context.withNode { $0.enter(watcher) } } else { watcher.notify(of: .end) }
    }
  }

  deinit {
    Tree.change { garbage in
      watcher.count(-1)
      watcher.leave()
      watcher.dropNeeds(from: 0, &garbage)
      watcher.discardFindings(&garbage)
      watcher.stop()
    }
  }
}

/// Repeats a lookup on behalf of `updates(of:)`, `updates(ofAll:)`, `linkWhenAvailable`, `whileAvailable`, `follow` or
/// a followed property, whenever it might give a different answer than before. It knows no types, so it is compiled
/// once.
///
/// A watcher is notified only that something has changed; the consumer that waits for it then repeats the lookup. This
/// design has three advantages: a slow consumer costs no memory, nothing is looked up unless a consumer waits, and a
/// superfluous notification does no harm.
///
/// The lookups of factories that run in a look are watched, too (`Watcher+Needs.swift`).
final class Watcher: Lookout, @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock, or belong to the one who iterates.

  /// The context where lookups begin. The reference is weak, so that waiting for updates keeps no context alive.
  weak let context: UDIContext?
  /// What to look up.
  let request: LookupRequest
  /// Whether the watching goes on when the context has been closed, as lookups from there go on in the contexts above.
  let goesOnAbove: Bool
  /// Whether a need has changed since the consumer looked last. Guarded by the tree lock.
  var needsHaveChanged = false

  /// The lookups of factories in looks. The first `count` needs have been noted in the present look, or in the last
  /// one; the others remain from the look before. The next need is expected at `next`. Guarded by the tree lock.
  // The tree lock excludes overlapping accesses, so they are not checked ("look-needs" in `Benchmarks/instructions`).
  @safe @exclusivity(unchecked) var needs: (all: [Lookout], count: Int, next: Int) = ([], 0, 0)
  /// The ids of the providers that have made instances in the look and keep them weakly. Guarded by the tree lock.
  var madeWeakly: [UInt] = []
  /// The error that says why the last look found nothing, if there is one. It belongs to the one who iterates.
  var failure: (any Error)?
  /// The thread that is running the watcher's lookup now; 0 if there is none. Guarded by the tree lock.
  var lookingThread: UInt = 0

  /// The change that the consumer has not seen yet. A new watcher has one, so that its consumer performs a lookup at
  /// once. Guarded by the tree lock.
  var change: ChangeKind? = .answer
  /// Whether a look at existing instances has begun, and not ended. The change that caused it is no longer in `change`.
  /// Guarded by the tree lock.
  var looksAtKept = false
  /// Whether the consumer has waited long enough, or does not want to know of changes any more. Guarded by the tree
  /// lock.
  private(set) var isStopped = false
  let changes = Activity()

  /// The last answer, with the ids of the providers that were asked; nil if there has been none. It keeps nothing
  /// alive.
  var last: [(name: UDIName?, provider: UInt, instance: () -> Instance?)]?
  /// The id of the newest of all providers when the last answer was found: providers with greater ids came later. 0 if
  /// user code had bound the answer; nil if the lookup found nothing.
  var lastKnownProvider: UInt?

  fileprivate init(_ context: UDIContext?, _ request: LookupRequest, _ findsAll: Bool, _ goesOnAbove: Bool) {
    self.context = context
    (self.request, self.goesOnAbove) = (request, goesOnAbove)
    super.init(request.key, findsAll: findsAll)
  }

  /// Records a change and resumes the waiting tasks. Called under the tree lock.
  override func notify(of kind: ChangeKind) {
    guard isNews(kind) else { return }
    // If the change is caused by the watcher's own look, that look already gets the new answer. The watcher then needs
    // to know only that a provider might keep a different instance.
    let isOfLook = kind == .ofLook || kind == .keptOnly || lookingThread == currentThread()
    note(kind == .end ? .end : isOfLook ? .keptOnly : .answer)
  }

  /// Changes the numbers of watchers. Called under the tree lock.
  fileprivate func count(_ difference: Int) {
    unsafe Tree.followerCount += difference
    if findsAll { countFollower(difference) }
  }

  // MARK: - Waiting

  /// Waits until the lookup gives a different answer from the last one. The first call returns at once, unless `begin`
  /// has been called.
  ///
  /// - Returns: The dependencies that have been found; nil if the context is gone, or is closed and the watcher does
  ///   not go on above; if the task is cancelled; or if the watcher is stopped.
  // Never inlined, because a client would contain it once for each caller, which is 4 KiB.
  @inline(never)
  nonisolated(nonsending) func next() async -> [Found]? {
    while true { if let news = await news(after: nextChange(), onlyIfInDoubt: false, on: #isolation) { return news } }
  }

  /// Looks up after a change.
  ///
  /// - Parameters:
  ///   - hasChanged: The result of `nextChange`.
  ///   - isLazy: Whether to return nil as at the end, without a lookup, after a change that the user has made.
  ///   - actor: Where to look.
  /// - Returns: The dependencies that have been found, or nil at the end, as for `next`; nothing if the answer is still
  ///   the same.
  @inline(never)
  func news(after hasChanged: Bool, onlyIfInDoubt isLazy: Bool, on _: isolated (any Actor)?) async -> [Found]?? {
    guard hasChanged, let context else { return .some(nil) }
    // After the change, the lookup might pass through other contexts than before, so the watcher is entered anew. If it
    // were entered after the lookup, a change in between would be missed.
    let differs = context.change { node, garbage -> Bool? in
      node.enter(self)
      // The change counts until it has been compared (`readingAgain`). If there are copies of an iterator, one gets it.
      guard change != .end, let change = change.take() else { return false }
      let differs = self.differs(after: change, &garbage)
      // The answer to the consumer's own lookup is not known here.
      if isLazy, differs == true { last = nil }
      return differs
    }
    if differs == false { return nil }
    if isLazy, differs == true { return .some(nil) }
    let found = await look(from: context, keptOnly: differs == nil)
    if differs == nil { Tree.change { _ in looksAtKept = false } }
    Schedule.reached(.hasLooked)
    if let found, isNew(found) { return found }
    return nil
  }

  /// Whether the lookup or a need finds something else than before; nil if only a kept instance might be different.
  /// Called under the tree lock.
  private func differs(after change: ChangeKind, _ garbage: inout Garbage) -> Bool? {
    let haveNeedsChanged = exchange(&needsHaveChanged, with: false)
    if last == nil || change == .renewed { return true }
    if haveNeedsChanged, needsDiffer(&garbage) { return true }
    if change >= .answer { return !findsSame(&garbage) }
    looksAtKept = change == .keptOnly
    return looksAtKept ? nil : false
  }

  /// Waits until there is a change that the consumer has not seen.
  ///
  /// - Returns: Whether there is one; false if the context is gone, or is closed and the watcher does not go on above;
  ///   if the task is cancelled; or if the consumer has waited long enough.
  nonisolated(nonsending) func nextChange() async -> Bool {
    await changes.waitForChange { change ?? (isStopped ? .end : nil) } ?? .end != .end
  }

  private func needsDiffer(_ garbage: inout Garbage) -> Bool {
    !needs.all.prefix(needs.count).allSatisfy { $0.findsSame(&garbage) }
  }

  /// Begins another read on behalf of the consumer. If there has been a change that nobody has been told of, the read
  /// may find something else than the one before. So both must be told, even if the change is taken back. Called under
  /// the tree lock.
  ///
  /// - Returns: This watcher.
  func readingAgain(_ garbage: inout Garbage) -> Watcher {
    if change != nil || looksAtKept, !findsSame(&garbage) || needsDiffer(&garbage) { note(.renewed) }
    (needsHaveChanged, needs.count, isPending, isOutOfDate) = (false, 0, true, true)
    return self
  }

  /// Records a change. Called under the tree lock.
  func note(_ kind: ChangeKind) {
    change = max(change ?? kind, kind)
    changes.wakeForChange()
  }

  /// Ends the waiting; `next` then returns nil. Called under the tree lock.
  func stop() {
    isStopped = true
    changes.wakeForChange()
  }
}
