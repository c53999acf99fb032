import Synchronization

/// One call of an asynchronous factory, of an initialiser whose parameters are obtained, of a closer, or of an
/// operation. It is a task-local value in the task that runs the call, and in the tasks that this one starts, except
/// detached ones.
///
/// A factory may start a task without waiting for it. That task keeps this object alive even after the call has ended.
/// Therefore, when the call ends, this object releases everything that it holds, except other calls and the graph,
/// which releases its instances itself.
final class AsyncCall: @unchecked Sendable {
  // Unchecked: all mutable properties are guarded by the tree lock or are atomic.

  @TaskLocal static var current: AsyncCall?

  /// The provider whose factory or closer is called; nil for an operation of `whileAvailable`. Nil after the call has
  /// ended, like the next two properties.
  private(set) var provider: Provider?
  /// The creation, the operation or, for a closer, the end of the context that the call is part of; nil if it is part
  /// of none.
  private(set) var activity: Activity?
  /// Whether the call is part of the activity of its asker.
  private let isPartOfAsker: Bool
  private var arguments: ArgumentKey?
  /// Whether this is the call of a closer that the closing no longer waits for.
  var isLeft = false
  /// The graph of the asynchronous factories that this call runs; nil for a closer or an operation.
  let graph: Graph?
  /// The call whose factory or closer asked for the instance that this call makes; nil if neither did.
  private let asker: AsyncCall?
  /// The length of the chain of askers, including this call.
  let depth: Int
  /// The address of the node of the context that the factory was given; 0 for a closer, which is given none. Only
  /// compared, never dereferenced.
  private let nodeAddress: UInt
  private let hasEnded = Atomic<Bool>(false)
  /// Whether the factory itself is running now.
  private let isInFactory = Atomic<Bool>(false)
  /// Whether the call obtains an optional parameter now.
  let waitsForOptional = Atomic<Bool>(false)
  /// The error of the first `link` or `linkAll` with which the factory has missed something that `obtain` would make.
  private var missed: UDILinkError?

  /// How long a chain of calls that ask for one another may be. A longer chain probably means that a factory asks for
  /// itself, with other arguments each time.
  private static var depthLimit: Int { 1000 }

  /// - Parameters:
  ///   - provider: The provider whose factory or closer is called; nil for an operation of `whileAvailable`.
  ///   - context: The context that the factory is given; nil for a closer or an operation, which is given none.
  ///   - arguments: The factory's arguments; nil if it takes none, or if they cannot be compared.
  ///   - graph: The graph that the instance is made in; nil for a closer.
  ///   - activity: The creation or the operation that begins with this call or, for a closer, the end of its context;
  ///     nil if the call is part of the asker's activity.
  ///   - asker: The call whose factory or closer asked for the instance, if there is one.
  /// - Throws: `ProviderFailure.cycle` if the instance is not shared and one of the askers calls the same factory with
  ///   the same arguments for the same context; the cause `tooDeep` if the chain of askers is too long.
  @inline(never)
  init(
    _ provider: Provider?, for context: UDIContext? = nil, with arguments: ArgumentKey? = nil, in graph: Graph? = nil,
    beginning activity: Activity?, askedBy asker: AsyncCall? = nil
  ) throws {
    // A task can outlive the factory or closer that started it. In that case, it no longer asks on behalf of that call.
    let asker = asker?.isUnderWay == true ? asker : nil
    (self.asker, self.graph, isPartOfAsker) = (asker, graph, activity == nil)
    depth = (asker?.depth ?? 0) + 1
    nodeAddress = context?.withNode { unsafe UInt(bitPattern: $0.address) } ?? 0
    Self.exist.store(true, ordering: .relaxed)
    self.activity = activity ?? asker.flatMap { asker in Tree.change { _ in asker.activity } }
    (self.provider, self.arguments) = (provider, arguments)
    // Arguments that cannot be compared count as different.
    if activity == nil, let provider, arguments != nil || provider.wanted == nil { try rejectCycle(provider) }
    if depth > Self.depthLimit { throw ProviderFailure.explained(.tooDeep(depth: Self.depthLimit, stackSize: nil)) }
  }

  /// Throws `CancellationError` if the current task is cancelled, or is part of an operation whose context is being
  /// closed, so that the operation ends quietly when the sequences that it follows there end.
  @inline(never)
  static func checkCancellation() throws {
    try Task.checkCancellation()
    guard let current else { return }
    if Tree.change({ _ in current.chain.contains { $0.activity?.isEndedByClosing == true } }) {
      throw CancellationError()
    }
  }

  /// This call and those that have asked for it, the innermost first.
  private var chain: some Sequence<AsyncCall> { sequence(first: self) { $0.asker } }

  private func rejectCycle(_ provider: Provider) throws {
    for call in chain.dropFirst() {
      let (isOfProvider, others) = Tree.change { _ in
        (call.nodeAddress == nodeAddress && call.provider === provider, call.arguments)
      }
      // Comparing arguments calls the user's `==`, so it must not happen under the lock.
      if isOfProvider, others == arguments { throw ProviderFailure.cycle(Tree.change { _ in keys(from: call) }) }
    }
  }

  /// The keys along the chain of askers, from the given call (or from the outermost one, if nil) to this one. Call this
  /// under the tree lock.
  private func keys(from first: AsyncCall?) -> [KeyIdentity] {
    sequence(first: self) { $0 === first ? nil : $0.asker }.compactMap { $0.provider?.key }.reversed()
  }

  /// The call that the current task is part of, if any. Cheaper than `current` as long as there has been no call.
  static var present: AsyncCall? { exist.load(ordering: .relaxed) ? current : nil }

  /// The innermost creation that the call is part of, apart from those whose instances only a graph keeps. Call this
  /// under the tree lock.
  var creation: Creation? { chain.lazy.compactMap { $0.activity as? Creation }.first { $0.cache?.isOfGraph != true } }

  /// The activity that cannot go on while the call waits; nil if there is none, because the call, or the one that it is
  /// part of, has ended or has been left behind. Call this under the tree lock.
  var blockedActivity: Activity? {
    for call in chain where call.activity == nil || call.isLeft || !call.isPartOfAsker {
      return call.isLeft ? nil : call.activity
    }
    return nil
  }

  /// Whether the call has not ended.
  var isUnderWay: Bool { !hasEnded.load(ordering: .relaxed) }

  /// The keys of the providers whose factories or closers asked for the instance that this call makes, the outermost
  /// first.
  var keysOfAskers: [KeyIdentity] { Tree.change { _ in keys(from: nil).dropLast() } }

  /// The provider whose asynchronous factory is running in the current task, or has started the current task and is
  /// still running; nil if there is none.
  static var currentProvider: Provider? {
    guard exist.load(ordering: .relaxed), let call = current, call.isUnderWay, call.nodeAddress != 0 else { return nil }
    return Tree.change { _ in call.provider }
  }

  // MARK: - What the factory misses

  /// Notes that the factory begins.
  func noteFactoryBegin() { isInFactory.store(true, ordering: .relaxed) }

  /// Notes that the factory has ended.
  ///
  /// - Parameter error: The error that the factory has thrown, if it has.
  /// - Returns: The error of the call. If the factory has missed something that `obtain` would make, this is the error
  ///   that says so, because the instance must not be kept without it.
  func noteFactoryEnd(throwing error: (any Error)?) -> (any Error)? {
    isInFactory.store(false, ordering: .relaxed)
    let missed = Tree.change { _ in self.missed.take() }
    return error is CancellationError ? error : missed ?? error
  }

  /// The call whose factory is running in the current task, or has started the current task and is still running.
  static var inFactory: AsyncCall? { present.flatMap { $0.isInFactory.load(ordering: .relaxed) ? $0 : nil } }

  /// Notes the error of a `link` or `linkAll` by the asynchronous factory that the current task runs, while no
  /// synchronous factory runs inside it.
  ///
  /// - Returns: False if the task runs none.
  static func noteMiss(_ error: UDILinkError) -> Bool {
    guard let call = inFactory else { return false }
    Tree.change { _ in call.missed = call.missed ?? error }
    return true
  }

  /// Runs the code that is called, so that it is known what the activity waits for.
  ///
  /// - Returns: The error that the code throws.
  nonisolated(nonsending) func run(_ body: nonisolated(nonsending) () async throws -> Void) async -> (any Error)? {
    defer { end() }
    do { try await Self.$current.withValue(self) { try await body() } } catch { return error }
    return nil
  }

  /// Ends the call.
  func end() {
    hasEnded.store(true, ordering: .relaxed)
    _ = Tree.change { _ in (provider.take(), activity.take(), arguments.take()) }
  }

  /// The keys along the chain of askers, from the outermost call that is part of this call's activity to this call.
  /// Call this under the tree lock.
  var keys: [KeyIdentity] { keys(from: chain.first { $0.asker?.activity !== activity }) }

  // MARK: - Whether lookups have to go up

  /// Whether there has ever been an asynchronous call. On frequent paths, this is checked before `current` is read,
  /// because reading a task-local value takes longer.
  private static let exist = Atomic<Bool>(false)

  /// Whether an asynchronous factory that was given the node's context is still running, and the current task runs on
  /// its behalf: in the factory, in a task that it started, or in a factory of something that it asked for.
  @inline(__always)
  static func hasHanded(_ node: Node) -> Bool { exist.load(ordering: .relaxed) && isHanded(node) }

  private static func isHanded(_ node: Node) -> Bool {
    let address = unsafe UInt(bitPattern: node.address)
    return current?.chain.contains { $0.nodeAddress == address && $0.isUnderWay } == true
  }
}
