import Synchronization

/// A call of an asynchronous factory that is under way. The task that runs the factory, and tasks that the factory
/// starts, have it as a task-local value.
///
/// A task that a factory starts without waiting for it can outlive the call, and keeps this object alive. Therefore
/// the call lets go of everything else when it ends.
final class AsyncCall: @unchecked Sendable {
  // Unchecked: `content` is guarded by the tree lock.

  @TaskLocal static var current: AsyncCall?

  /// What the call holds until it ends.
  struct Content {
    let provider: AsyncFactory
    /// The creation that the call is part of; nil if nobody shares what is made.
    let creation: AsyncCreation?
    let arguments: ArgumentKey?
  }

  private(set) var content: Content?
  /// The call that asked for what this one makes, if a call did.
  private let asker: AsyncCall?
  /// The keys that lead from the asker to this call: those of synchronous factories.
  private let pathFromAsker: [KeyIdentity]
  /// Whether a creation began with this call, so that the asker is not part of the same creation.
  private let beginsCreation: Bool
  /// The number of calls that wait for this one, one for the other, in whichever tasks.
  private let depth: Int
  /// Identifies the node of the context that the factory was given. Only compared.
  private let nodeAddress: UInt
  private let hasEnded = Atomic<Bool>(false)

  /// How many calls may wait for one another. If there are more, the factory probably asks for itself with other
  /// arguments each time.
  private static var depthLimit: Int { 1000 }

  /// - Parameters:
  ///   - context: The context that the factory is given.
  ///   - arguments: The factory's arguments; nil if it takes none, or if they cannot be compared.
  ///   - creation: The creation that begins with this call; nil if the call belongs to what the asker makes.
  ///   - asker: The call that asked for the instance, if a call did.
  ///   - path: The keys of the synchronous factories that lead from the asker to this call.
  /// - Throws: `ProviderFailure.cycle` if too many calls wait for one another, or if the call is not shared and is part
  ///   of another one for the same context and arguments.
  init(
    _ provider: AsyncFactory, _ context: UDIContext, _ arguments: ArgumentKey?, beginning creation: AsyncCreation?,
    askedBy asker: AsyncCall?, through path: [KeyIdentity]
  ) throws {
    // A task that outlives the factory that started it asks for nobody.
    let asker = asker?.isUnderWay == true ? asker : nil
    self.asker = asker
    pathFromAsker = asker == nil ? [] : path
    beginsCreation = creation != nil
    depth = (asker?.depth ?? 0) + 1
    nodeAddress = context.withNode { unsafe UInt(bitPattern: $0.address) }
    Self.exist.store(true, ordering: .relaxed)
    let creation = creation ?? asker.flatMap { asker in Tree.change { _ in asker.content?.creation } }
    content = Content(provider: provider, creation: creation, arguments: arguments)
    if !beginsCreation { try rejectCycle() }
    if depth > Self.depthLimit { throw ProviderFailure.cycle(Array(Tree.change { _ in keys(from: nil) }.suffix(10))) }
  }

  private func rejectCycle() throws {
    guard let content else { return }
    let others = Tree.change { _ in
      Array(sequence(first: self) { $0.asker }.dropFirst()).filter {
        $0.nodeAddress == nodeAddress && $0.content?.provider === content.provider
      }.map { (call: $0, arguments: $0.content?.arguments) }
    }
    // Arguments are compared by the user's `==`, so not under the lock. If they cannot be compared, they count as
    // different.
    guard content.arguments != nil || content.provider.wanted == nil,
      let same = others.first(where: { $0.arguments == content.arguments })
    else {
      return
    }
    throw ProviderFailure.cycle(Tree.change { _ in keys(from: same.call) })
  }

  /// The keys of the calls that asked for one another, from one of them, or the outermost, to this one. Under the tree
  /// lock.
  private func keys(from first: AsyncCall?) -> [KeyIdentity] {
    var keys: [KeyIdentity] = []
    for call in sequence(first: self, next: { $0.asker }) {
      if let key = call.content?.provider.key { keys.append(key) }
      if call === first { break }
      keys += call.pathFromAsker.reversed()
    }
    return keys.reversed()
  }

  var isUnderWay: Bool { !hasEnded.load(ordering: .relaxed) }

  /// Ends the call.
  func end() {
    hasEnded.store(true, ordering: .relaxed)
    let content = Tree.change { _ in self.content.take() }
    _ = consume content
  }

  /// The keys of the calls inside the creation, from the one that the creation began with to this one. Under the tree
  /// lock.
  var path: [KeyIdentity] {
    keys(from: sequence(first: self) { $0.asker }.first { $0.beginsCreation })
  }

  // MARK: - Whether lookups have to go up

  /// Whether any asynchronous factory has ever been called. Lookups that find something below ask this first, because a
  /// task-local value takes longer to read.
  private static let exist = Atomic<Bool>(false)

  /// Whether the current task runs, or is part of, an asynchronous factory that was given a node's context.
  @inline(__always)
  static func hasHanded(_ node: Node) -> Bool { exist.load(ordering: .relaxed) && isHanded(node) }

  @inline(never)
  private static func isHanded(_ node: Node) -> Bool {
    let address = unsafe UInt(bitPattern: node.address)
    var next = current
    while let call = next {
      if call.nodeAddress == address, call.isUnderWay { return true }
      next = call.asker
    }
    return false
  }
}
