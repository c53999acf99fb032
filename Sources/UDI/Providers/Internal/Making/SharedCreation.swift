/// An instance that is being made, for everybody who wants it: one thread runs the factory, and the others wait for
/// that instance only.
///
/// Also a set-up block that is running, a module that is being installed, and a user's storage that is being reset or
/// is storing an instance: other threads wait for these in the same way, although no instance is being made.
final class SharedCreation: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.

  enum Outcome {
    case made(Instance)
    case failed(any Error)
    /// The threads that waited have to look again.
    case undecided
  }

  /// The provider that makes or stores an instance; nil if other threads wait for something else. Not held: it is used
  /// only until the creation has ended, and until then the call that makes the instance holds it.
  private(set) var provider: Unretained<Provider>?
  /// The thread that makes the instance. Not held: it is used only until the creation has ended, which happens on that
  /// thread.
  private(set) var maker: Unretained<Resolution>
  /// Whether this happens only once, even if a look for a watcher causes it (see `ChangeKind`). False once the provider
  /// has failed: it is then asked again and again.
  private(set) var happensOnce = false
  private var hasEnded = false
  /// The outcome, once the creation has ended, if a thread waits for it.
  private var outcome: Outcome?
  /// The gate at which the other threads wait; made by the first of them.
  private var gate: Gate?
  /// Where the instance may be used.
  private var reach = Reach.anywhere
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

  /// Begins the creation of an instance: a new one, or one that has ended and that nobody has waited for. Under the
  /// tree lock.
  func begin(_ provider: Provider) {
    self.provider = Unretained(provider)
    reach = provider.reach
    happensOnce = provider.sharing == .strong && !provider.comesFromLook && !provider.hasEverFailed
    hasEnded = false
  }

  /// Prepares this thread to wait. Under the tree lock.
  ///
  /// - Throws: `ProviderFailure.cycle` if this thread would wait for itself, because it is the maker, or because the
  ///   maker waits for something that this thread makes, directly or through other threads.
  func prepareToWait(_ resolution: Unretained<Resolution>) throws -> Gate {
    var chain = [self]
    // Once a creation has ended, the thread that waited for it no longer waits, even if it has not woken up yet and
    // still has its `waitingFor`.
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

  /// The keys of a cycle, where each is needed to make the one before. The path begins and ends with the last creation
  /// of the chain, which is this thread's own. All other threads in the chain are waiting and cannot go on without the
  /// tree lock, so what they are making does not change in the meantime.
  private static func path(_ chain: [SharedCreation]) -> [KeyIdentity] {
    var path: [KeyIdentity] = []
    for creation in [chain[chain.count - 1]] + chain.dropLast() {
      path += creation.maker.read { $0.path(from: creation) }
    }
    if let provider = chain[chain.count - 1].provider { path.append(provider.read(\.key)) }
    return path
  }

  /// Ends the creation, and wakes the threads that wait for it. Under the tree lock.
  ///
  /// - Returns: Whether no thread has waited, so that only the caller still refers to the creation.
  @discardableResult
  func end(_ outcome: @autoclosure () -> Outcome) -> Bool {
    hasEnded = true
    guard let gate else { return true }
    pass(outcome(), gate)
    return false
  }

  // A function of its own, so that the compiler inlines `end` into making.
  @inline(never)
  private func pass(_ outcome: Outcome, _ gate: Gate) {
    self.outcome = outcome
    gate.open()
    for task in tasks { Tree.resume(task) }
    tasks = []
  }

  /// Prepares for a task that will wait. Whoever ends the creation looks for tasks only if there is a gate, and uses
  /// the creation again if there is none. Under the tree lock.
  func expectTask() { if gate == nil { gate = Gate() } }

  /// Waits, without blocking a thread, until the creation has ended. Call `expectTask` first, while the creation is
  /// known to be the right one. Do not call this under a lock.
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

  /// The outcome, for a thread that has waited. Do not call this under a lock.
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
