/// The creation of an instance that several threads and tasks may want. If the factory is synchronous, one of the
/// threads makes the instance; if not, a separate task does (`AsyncCreation`). All others wait for the result.
///
/// The same type also stands for a module that a thread installs, and for a user's storage that a thread fills. Others
/// wait for these in the same way, although no instance is being made.
class Creation: Activity, @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock. `owner`, `provider` and `cache` are also read
  // without it, by the thread or the task that has begun the creation; only `begin` writes them, before that.

  /// The instance, or why there is none. A success without an instance decides nothing: those that waited repeat their
  /// lookups.
  typealias Outcome = Result<OwnedInstance?, any Error>

  /// The provider that keeps or stores the instance; nil if others wait for something else. The reference is unowned:
  /// it is used only before the creation ends, and until then the call that makes the instance holds the provider.
  private(set) final var provider: Unretained<Provider>?
  /// The cache that will keep the instance; nil if the provider will keep it by itself, or if no instance is being
  /// made.
  private(set) final var cache: InstanceCache?
  /// The context that the instance is made for; nil if it is the one that asks.
  private(set) final var owner: UDIContext?
  /// Whether a task makes the instance, and not a thread.
  final var isOfTask: Bool { thread == nil }
  /// The thread that makes the instance; nil if a task does. The reference is unowned: it is used only before the
  /// creation ends, which happens on that thread.
  private let thread: Unretained<Resolution>?
  /// Whether the current thread makes the instance.
  final var isOfThisThread: Bool { thread == Resolution.current }
  /// The creation that the thread began before this one, and that it has not ended. Whoever begins a creation holds it
  /// until it ends.
  private(set) final var outer: Unretained<Creation>?
  /// The outcome. Set when the creation ends, but only if something has waited for it.
  private var outcome: Outcome?
  /// Whether the factory is running, so that the instances that it finds help to make the new one. False again when the
  /// instance is being attached, and later.
  fileprivate(set) final var isInFactory = false
  /// The node whose lookups are recorded while the factory runs: see `noteFactory`.
  private var recordedNode: Node?

  /// - Parameter thread: The calling thread, if it makes the instance.
  init(on thread: Unretained<Resolution>?) { self.thread = thread }

  /// Begins the creation. The object may have been used for an earlier creation (`Resolution.spareCreation`). Call this
  /// under the tree lock.
  ///
  /// - Parameters:
  ///   - keeper: The keeper of the new instance; nil if others wait for something else.
  ///   - owner: The context that the instance is made for; nil if it is the one that asks.
  final func begin(_ keeper: InstanceKeeper?, for owner: UDIContext? = nil) {
    thread?.read { thread in
      outer = unsafe thread.creation
      unsafe thread.creation = Unretained(self)
    }
    provider = keeper.map { Unretained($0.provider) }
    // A creation that is used again has neither of these.
    if let cache = keeper?.cache { self.cache = cache }
    if let owner { self.owner = owner }
  }

  override final var key: KeyIdentity? { provider?.read { $0.key } }

  /// Notes that the factory of an instance that a context will own begins. If the order of closing might depend on it,
  /// lookups from the context take the path on which `Provider.noteHelp` notes what they find, until the factory has
  /// ended. The maker holds the context meanwhile. Call this under the tree lock.
  @inline(never)
  final func noteFactory(in node: Node) {
    isInFactory = true
    guard node.closesInOrder else { return }
    recordedNode = node
    node.treeLocked.makings += 1
    node.recordLookups()
  }

  /// Notes that the factory has ended, or will not run. Do not call this under a lock.
  final func noteEndOfFactory() {
    guard isInFactory else { return }
    Tree.change { _ in
      isInFactory = false
      guard let node = recordedNode.take() else { return }
      node.treeLocked.makings -= 1
      if !isRecording { node.stopRecordingLookups() }
    }
  }

  /// The innermost creation of an instance that this thread or task is part of. Call this under the tree lock.
  static var present: Creation? {
    Resolution.present?.read { unsafe $0.creation?.object } ?? AsyncCall.present?.creation
  }

  /// Ends the creation, and wakes those that wait for it. The caller must hold it, so that it is not released under the
  /// lock. Call this under the tree lock.
  final func end(_ outcome: @autoclosure () -> Outcome) {
    leaveContext()
    thread?.read { thread in
      // Creations end in reverse order.
      unsafe thread.creation = outer.take()
      // Keeping this one for the next instance saves one allocation for each kept instance, and a tenth of the row
      // "scope" of `Benchmarks/instructions`. A creation that holds a context or a cache is not reused: `begin` would
      // release them under the lock.
      if !hasBeenAwaited, owner == nil, cache == nil { unsafe thread.spareCreation = self }
    }
    // A creation that nothing has waited for is not marked as ended, because it may be used again.
    guard hasBeenAwaited else { return }
    self.outcome = outcome()
    wake()
  }

  /// Blocks this thread until there is an outcome. Do not call this under a lock.
  ///
  /// - Parameter number: The number of the waiter.
  final func blockForOutcome(_ number: UInt64) -> Outcome {
    block(number)
    let outcome = Tree.change { _ in outcomeForWaiters }
    // A look does not take over a failure. It calls the factory itself, because it has to know what the factory needs.
    if case .failure = outcome, Provider.Looker.present != nil { return .success(nil) }
    return outcome
  }

  /// Waits for the outcome, without blocking a thread. Do not call this under a lock.
  ///
  /// - Parameter number: The number of the waiter.
  /// - Throws: `CancellationError` if the current task is cancelled.
  final func waitForOutcome(_ number: UInt64) async throws -> Outcome {
    raisePriority()
    guard await waitUnlessCancelled(number) else { throw CancellationError() }
    return Tree.change { _ in outcomeForWaiters }
  }

  /// The outcome, as those that wait get it. Read this under the tree lock, after the end.
  var outcomeForWaiters: Outcome { outcome ?? .success(nil) }
}
