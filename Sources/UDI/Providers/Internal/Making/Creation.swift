/// The creation of an instance that several threads and tasks may want: one of them runs the factory, and the others
/// wait for the result.
///
/// A thread makes the instance if the factory is synchronous, and a task of its own (`AsyncCreation`) if not. The same
/// type also stands for a module that a thread installs, and for a user's storage that a thread resets or fills. Others
/// wait for these in the same way, although no instance is being made.
class Creation: Activity, @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock.

  enum Outcome {
    case made(Instance)
    case failed(any Error)
    /// There is no result; those that waited repeat their lookups.
    case undecided
  }

  /// The provider that makes or stores an instance; nil if others wait for something else. The reference is unowned: it
  /// is used only before the creation ends, and until then the call that makes the instance holds the provider.
  final let provider: Unretained<Provider>?
  /// The cache that will keep the instance; nil if the provider itself does.
  final let cache: InstanceCache?
  /// The context that the instance is made for; nil if it is the one that asks.
  final let owner: UDIContext?
  /// The thread that makes the instance; nil if a task does. The reference is unowned: it is used only before the
  /// creation ends, which happens on that thread.
  private let thread: Unretained<Resolution>?
  /// Whether the provider makes this instance only once. If so, it does not matter whether a look caused the creation
  /// (see `ChangeKind`). False if the factory has ever failed, because in that case, each look might run it again.
  final let happensOnce: Bool
  /// Where the instance may be used.
  private let reach: UDIReach
  /// The outcome. Set when the creation ends, but only if something waits for it.
  private var outcome: Outcome?
  /// The number of the new instance in the order in which instances are closed.
  private(set) final var closingNumber: UInt64?
  /// The extras of the context whose provider has dropped the creation.
  private var droppedBy: NodeExtras?
  /// The circumstances of the thread before it began to make the instance. Used only by this thread.
  @exclusivity(unchecked) private var uncheckedCircumstances: Resolution.Circumstances = (false, 0)
  final var circumstances: Resolution.Circumstances {
    get { unsafe uncheckedCircumstances }
    set { unsafe uncheckedCircumstances = newValue }
  }

  /// Begins a creation. Call this under the tree lock.
  ///
  /// - Parameters:
  ///   - keeper: What will keep the instance; nil if others wait for something else.
  ///   - owner: The context that the instance is made for; nil if it is the one that asks.
  ///   - thread: The calling thread, if it makes the instance.
  init(_ keeper: InstanceKeeper?, for owner: UDIContext?, on thread: Unretained<Resolution>?) {
    provider = keeper.map { Unretained($0.provider) }
    cache = keeper?.cache
    self.owner = owner
    self.thread = thread
    (reach, happensOnce) =
      provider?.read { ($0.reach, $0.sharing == .strong && !$0.comesFromLook && !$0.hasEverFailed) }
      ?? (.anywhere, false)
    super.init()
    thread?.read { $0.creations.append(self) }
  }

  deinit {
    guard reach == .mainActor, outcome != nil else { return }
    releaseOnMainActor(outcome.take() as Any)
  }

  override final var key: KeyIdentity? { provider?.read { $0.key } }

  /// Gives the new instance its number in the order in which instances are closed: before any other code gets it, so
  /// that whatever is made with its help gets a later number, and is closed earlier. Do not call this under a lock.
  final func number() { Tree.change { _ in closingNumber = Tree.nextUnclosed() } }

  /// Adds the creation to those that go on although their provider no longer wants the instance, because it was reset
  /// or replaced. Closing the context waits for them. Call this under the tree lock.
  final func isDropped(by node: Node) {
    let extras = node.treeLocked.ensureExtras()
    droppedBy = extras
    extras.droppedCreations.append(self)
  }

  /// Ends the creation, and wakes those that wait for it. The caller must hold it, so that it is not released under the
  /// lock. Call this under the tree lock.
  final func end(_ outcome: @autoclosure () -> Outcome) {
    thread?.read { $0.remove(self) }
    if isAwaited { self.outcome = outcome() }
    droppedBy.take()?.droppedCreations.removeAll { $0 === self }
    wake()
  }

  /// Waits, on this thread, for the outcome. Do not call this under a lock.
  ///
  /// - Parameter number: What `enter` returned.
  final func outcome(blocking number: UInt) -> Outcome {
    block(number)
    return Tree.change { _ in outcome ?? .undecided }
  }

  /// Waits for the outcome.
  ///
  /// - Parameter number: What `enter` returned.
  /// - Throws: `CancellationError` if the current task is cancelled.
  final func outcome(_ number: UInt) async throws -> Outcome {
    raisePriority()
    let isThere = await withTaskCancellationHandler {
      await wait(number)
    } onCancel: {
      abandon(number)
    }
    guard isThere else { throw CancellationError() }
    return Tree.change { _ in outcome ?? .undecided }
  }

  /// Removes a waiter whose task has been cancelled.
  func abandon(_ number: UInt) { leave(number) {} }

  /// Raises the priority of the task that makes the instance, if there is one, to that of the current task.
  func raisePriority() {}

  /// Cancels the task that makes the instance, if there is one, because the context is being closed.
  ///
  /// - Parameter path: The path of the context.
  func cancel(closing path: [String]) {}
}
