/// An instance that is being made, for everybody who wants it: one thread runs the factory, and the others wait for
/// that instance only.
///
/// Also a set-up block that is running, a module that is being installed, and a user's storage that is being reset or
/// is storing an instance: other threads wait for these, although they make nothing.
final class SharedCreation: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.

  enum Outcome {
    case made(Instance)
    case failed(any Error)
    /// The threads that waited have to look again.
    case undecided
  }

  /// The provider that makes the instance; nil if nothing is made.
  let provider: Provider?
  /// The thread that makes the instance. Held, because other threads look at it until they know that the creation has
  /// ended.
  let maker: Resolution
  /// Whether this happens only once, even if a look for a watcher causes it (see `ChangeKind`). False once the provider
  /// has failed: it is then asked again and again.
  let happensOnce: Bool
  /// The outcome; nil until the creation has ended.
  private var outcome: Outcome?
  /// The gate at which the other threads wait; made by the first of them.
  private var gate: Gate?

  deinit {
    guard provider?.reach == .mainActor, outcome != nil else { return }
    releaseOnMainActor(outcome.take() as Any)
  }

  /// Under the tree lock.
  init(_ provider: Provider?, maker: Resolution) {
    self.provider = provider
    self.maker = maker
    happensOnce = provider.map { $0.sharing == .strong && !$0.comesFromLook && !$0.hasEverFailed } ?? false
  }

  /// Prepares this thread to wait. Under the tree lock.
  ///
  /// - Throws: `ProviderFailure.cycle` if this thread would wait for itself: it is the maker; or the maker waits,
  ///   perhaps through others, for something that this thread makes.
  func prepareToWait(_ resolution: Resolution) throws -> Gate {
    var chain = [self]
    // A thread that waited for a creation that has ended no longer waits, even if it has not woken up yet to say so.
    while let last = chain.last, last.outcome == nil {
      if last.maker === resolution { throw ProviderFailure.cycle(Self.path(chain)) }
      guard let next = last.maker.waitingFor else { break }
      chain.append(next)
    }
    resolution.waitingFor = self
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
    for creation in [chain[chain.count - 1]] + chain.dropLast() { path += creation.maker.path(from: creation) }
    if let provider = chain[chain.count - 1].provider { path.append(provider.key) }
    return path
  }

  /// Ends the creation, and wakes the threads that wait for it. Under the tree lock.
  func end(_ outcome: Outcome) {
    self.outcome = outcome
    gate?.open()
  }

  /// The outcome, for a thread that has waited. Not under a lock.
  func takeOutcome(_ resolution: Resolution) -> Outcome {
    Tree.change { garbage in
      if let waited = resolution.waitingFor { garbage.add(waited) }
      resolution.waitingFor = nil
      return outcome ?? .undecided
    }
  }
}
