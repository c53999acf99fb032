/// The creation of an instance that several threads may want: one thread runs the factory, and the others wait for the
/// result.
///
/// The same type also stands for a module that is being installed, and for a user's storage that is being reset or is
/// storing an instance. Other threads wait for these in the same way, although no
/// instance is being made.
final class SharedCreation: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  enum Outcome {
    case made(Instance)
    case failed(any Error)
    /// There is no result; the threads that waited repeat their lookups.
    case undecided
  }

  /// The provider that makes or stores an instance; nil if other threads wait for something else. The reference is
  /// unowned: it is used only before the creation ends, and until then the call that makes the instance holds the
  /// provider.
  private(set) var provider: Unretained<Provider>?
  /// The thread that makes the instance. The reference is unowned: it is used only before the creation ends, which
  /// happens on that thread.
  private(set) var maker: Unretained<Resolution>
  /// Whether the provider makes this instance only once. If so, it does not matter whether a look caused the creation
  /// (see `ChangeKind`). False if the factory has ever failed, because in that case, each look might run it again.
  private(set) var happensOnce = false
  private var hasEnded = false
  /// The outcome. Set when the creation ends, but only if a thread waits for it.
  private var outcome: Outcome?
  /// The gate at which the other threads wait; made by the first of them.
  private var gate: Gate?
  /// Where the instance may be used.
  private var reach = UDIReach.anywhere
  /// The list that the creation is in, if its provider has dropped it.
  var dropped: DroppedCreations?
  /// The tasks that wait until the creation has ended.
  private var tasks: [CheckedContinuation<Void, Never>] = []

  deinit {
    guard reach == .mainActor, outcome != nil else { return }
    releaseOnMainActor(outcome.take() as Any)
  }

  /// - Parameter provider: The provider that makes or stores an instance; nil if other threads wait for something else.
  init(_ provider: Unretained<Provider>? = nil, maker: Unretained<Resolution>) {
    self.provider = provider
    self.maker = maker
  }

  /// Begins the creation of an instance. This object is new, or is reused after a creation that no thread has waited
  /// for. Call this under the tree lock.
  func begin(_ provider: Provider) {
    self.provider = Unretained(provider)
    reach = provider.reach
    happensOnce = provider.sharing == .strong && !provider.comesFromLook && !provider.hasEverFailed
    hasEnded = false
  }

  /// Prepares this thread to wait. Call this under the tree lock.
  ///
  /// - Throws: `ProviderFailure.cycle` if this thread would wait for itself, because it is the maker, or because the
  ///   maker waits for something that this thread makes, directly or through other threads.
  func prepareToWait(_ resolution: Unretained<Resolution>) throws -> Gate {
    var chain = [self]
    // A thread's `waitingFor` may be out of date: once the creation in it has ended, the thread is no longer waiting,
    // even if it has not woken up yet.
    while let last = chain.last, !last.hasEnded {
      if last.maker == resolution { throw ProviderFailure.cycle(Self.path(chain)) }
      guard let next = last.maker.read({ $0.waitingFor }) else { break }
      chain.append(next)
    }
    resolution.read { $0.waitingFor = self }
    if let gate { return gate }
    let new = Gate()
    gate = new
    return new
  }

  /// The keys of a cycle, each of which is needed to make the one before it. The path begins and ends with the last
  /// creation of the chain, which is this thread's own. All other threads in the chain wait and cannot go on without
  /// the tree lock, so their frames do not change while the path is read.
  private static func path(_ chain: [SharedCreation]) -> [KeyIdentity] {
    var path: [KeyIdentity] = []
    for creation in [chain[chain.count - 1]] + chain.dropLast() {
      path += creation.maker.read { $0.path(from: creation) }
    }
    if let provider = chain[chain.count - 1].provider { path.append(provider.read(\.key)) }
    return path
  }

  /// Ends the creation, and wakes the threads that wait for it. Call this under the tree lock.
  ///
  /// - Returns: Whether no thread has waited, so that only the caller still refers to the creation.
  @discardableResult
  func end(_ outcome: @autoclosure () -> Outcome) -> Bool {
    hasEnded = true
    guard let gate else { return true }
    pass(outcome(), gate)
    return false
  }

  // A separate function, so that `end` is small enough to be inlined.
  @inline(never)
  private func pass(_ outcome: Outcome, _ gate: Gate) {
    self.outcome = outcome
    gate.open()
    for task in tasks { Tree.resume(task) }
    tasks = []
    dropped.take()?.remove(self)
  }

  /// Announces that a task will wait. Makes the gate, because without one, the end of the creation would wake no tasks,
  /// and the creation would be reused. Call this under the tree lock.
  func expectTask() { if gate == nil { gate = Gate() } }

  /// Waits, without blocking a thread, until the creation has ended. `expectTask` must have been called before, while
  /// the creation was under way, so that it is not reused. Do not call this under a lock.
  func waitForEnd() async {
    await withCheckedContinuation { continuation in
      let isOver = Tree.change { _ in
        if hasEnded { return true }
        tasks.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Returns the outcome to a thread that has waited for it. Do not call this under a lock.
  func takeOutcome(_ resolution: Unretained<Resolution>) -> Outcome {
    Tree.change { garbage in
      resolution.read {
        if let waited = $0.waitingFor { garbage.add(waited) }
        $0.waitingFor = nil
      }
      return outcome ?? .undecided
    }
  }
}
