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
  /// The call that waits for this one in the same creation.
  private let outer: AsyncCall?
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
  ///   - creation: The creation that begins with this call; nil if the call belongs to what `beginner` makes.
  ///   - beginner: The call that asked for the instance, if a call did.
  /// - Throws: `ProviderFailure.cycle` if too many calls wait for one another, or if the call is part of another one for
  ///   the same context and arguments.
  init(
    _ provider: AsyncFactory, _ context: UDIContext, _ arguments: ArgumentKey?, beginning creation: AsyncCreation?,
    for beginner: AsyncCall?
  ) throws {
    // The first of two calls that wait for each other may have ended already: then it waits for nothing any more.
    let isInner = creation == nil && beginner?.isUnderWay == true
    outer = isInner ? beginner : nil
    depth = (beginner?.depth ?? 0) + 1
    nodeAddress = context.withNode { unsafe UInt(bitPattern: $0.address) }
    content = Content(
      provider: provider, creation: isInner ? beginner?.readContent()?.creation : creation, arguments: arguments)
    Self.exist.store(true, ordering: .relaxed)
    var path = [provider.key]
    var next = outer
    while let call = next, let content = call.readContent() {
      path.insert(content.provider.key, at: 0)
      let isSame =
        content.provider === provider && call.nodeAddress == nodeAddress && content.arguments == arguments
        && (arguments != nil || provider.wanted == nil)
      if isSame { throw ProviderFailure.cycle(path) }
      next = call.outer
    }
    if depth > Self.depthLimit { throw ProviderFailure.cycle(Array(path.suffix(10))) }
  }

  var isUnderWay: Bool { !hasEnded.load(ordering: .relaxed) }

  /// Ends the call.
  func end() {
    hasEnded.store(true, ordering: .relaxed)
    let content = Tree.change { _ in self.content.take() }
    _ = consume content
  }

  private func readContent() -> Content? { Tree.change { _ in content } }

  /// The keys of the calls inside the creation, from the one that the creation began with to this one. Under the tree
  /// lock.
  var path: [KeyIdentity] {
    var path: [KeyIdentity] = []
    var next: AsyncCall? = self
    while let call = next {
      if let provider = call.content?.provider { path.insert(provider.key, at: 0) }
      next = call.outer
    }
    return path
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
      next = call.outer
    }
    return false
  }
}
