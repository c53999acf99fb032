/// An instance that is being made, for all who want it: one thread runs the factory, the others wait for that instance alone.
///
/// A running set-up block is one, too, and so is the reset of a user's storage: others wait for them, though they make nothing.
final class SharedCreation: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.

  enum Outcome {
    case made(Instance)
    case failed(any Error)
    /// Those who waited have to look again.
    case undecided
  }

  /// What makes it; nil where nothing is made.
  let provider: Provider?
  /// The thread that makes it; held, because others look at it until they know that the creation has ended.
  let maker: Resolution
  /// Whether this happens only once, even if a look for a watcher causes it (see `ChangeKind`). Not so once the provider has failed: it is
  /// then asked again and again.
  let happensOnce: Bool
  /// Nil until it has ended.
  private var outcome: Outcome?
  /// What the other threads wait at; made by the first of them.
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

  /// Gets ready to wait. Under the tree lock.
  ///
  /// - Throws: `ProviderFailure.cycle` if this thread would wait for itself: it is the maker, or the maker waits, perhaps through others,
  ///   for something that this thread makes.
  func prepareToWait(_ resolution: Resolution) throws -> Gate {
    var chain = [self]
    // Whoever waited for a creation that has ended waits no more, even if it has not woken up yet to say so.
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

  /// The keys of a cycle, each needed to make the one before. It begins and ends with the last creation of the chain, which is this
  /// thread's own. All other threads in the chain are waiting and cannot go on without the tree lock, so what they are making does not
  /// change meanwhile.
  private static func path(_ chain: [SharedCreation]) -> [KeyIdentity] {
    var path: [KeyIdentity] = []
    for creation in [chain[chain.count - 1]] + chain.dropLast() { path += creation.maker.path(from: creation) }
    if let provider = chain[chain.count - 1].provider { path.append(provider.key) }
    return path
  }

  /// Ends it, and wakes those who wait. Under the tree lock.
  func end(_ outcome: Outcome) {
    self.outcome = outcome
    gate?.open()
  }

  /// How it has ended, for a thread that has waited. Not under a lock.
  func takeOutcome(_ resolution: Resolution) -> Outcome {
    Tree.change { garbage in
      if let waited = resolution.waitingFor { garbage.add(waited) }
      resolution.waitingFor = nil
      return outcome ?? .undecided
    }
  }
}
