/// What one thread is making: the providers whose factories run on it, one inside the other, and what belongs to the
/// outermost link.
///
/// Factories are synchronous. So a factory ends on the thread where it began, and everything that it links in between
/// is linked on that thread. That is why this belongs to the thread. A task-local value would cost more than the rest
/// of a link (two atomic operations, a lookup and an allocation), and tasks that outlive the link would inherit it. Nor
/// could it say which thread waits for which; without that, two threads could wait for one another for ever.
final class Resolution {
  /// A factory that is running.
  struct Frame {
    // Not held here. The link that runs the factory holds all of these; `completions` holds those of a completion.
    let provider: Unretained<Provider>
    let context: Unretained<UDIContext>
    /// Only for the thread itself: other threads read only a frame's provider.
    let arguments: Arguments?
  }

  /// The running factories, the outermost first. Written by this thread alone. Other threads read it, under the tree
  /// lock, only while this thread waits; it notes under the same lock that it waits.
  @exclusivity(unchecked) private var frames = FrameStack()

  /// The thread's stack, once that has been asked for.
  @exclusivity(unchecked) private var stack: Range<UInt>?

  /// The actor to which `obtain` has moved, while it makes something on this thread. Used only by this thread.
  @exclusivity(unchecked) private var uncheckedActor: (any Actor)?
  var actor: (any Actor)? {
    get { unsafe uncheckedActor }
    set { unsafe uncheckedActor = newValue }
  }

  /// What this thread waits for. Under the tree lock.
  var waitingFor: SharedCreation?

  /// What was made under the lifetime `.graph` since the outermost link began.
  @exclusivity(unchecked) private var graphs = Graphs()

  /// The completions to call at the end of the outermost link.
  @exclusivity(unchecked) private var completions: [Completion] = []
  /// The index of the completion that is running.
  @exclusivity(unchecked) private var runningCompletion: Int?
  /// How many of the frames, counted from the outermost, stand for completions and not for factories: see `complete`.
  @exclusivity(unchecked) private var completionFrames = 0
  /// Whether there may be something to do at the end of the outermost link.
  @exclusivity(unchecked) private var hasRemains = false

  #if DEBUG
    /// The number of steps that lookups on this thread have taken on their way to set-up blocks, for tests.
    @exclusivity(unchecked) var setUpSteps = 0
  #endif

  /// Whether the thread looks for a watcher, so that what it does to the tree comes from that look: see `ChangeKind`.
  /// Used only by this thread.
  @exclusivity(unchecked) private var uncheckedIsLooking = false
  var isLooking: Bool {
    get { unsafe uncheckedIsLooking }
    set { unsafe uncheckedIsLooking = newValue }
  }

  /// Runs a body as part of a look for a watcher, or as something that happens independently of looks.
  func looking<Result>(_ isLooking: Bool, _ body: () throws -> Result) rethrows -> Result {
    let outer = self.isLooking
    self.isLooking = isLooking
    defer { self.isLooking = outer }
    return try body()
  }

  init() {}

  /// A creation that has ended and that nobody has waited for, to be used again. This serves the row
  /// "the same by a scope: register 3, make 3, link 2, end it", by one allocation for each instance.
  @exclusivity(unchecked) private var spareCreation: SharedCreation?

  /// Begins the creation of an instance on this thread. Under the tree lock.
  func beginCreation(_ provider: Provider) -> SharedCreation {
    let creation = unsafe spareCreation.take() ?? SharedCreation(maker: Unretained(self))
    creation.begin(provider)
    return creation
  }

  /// Takes back a creation that has ended and that nobody has waited for. Under the tree lock.
  func reuse(_ creation: SharedCreation) {
    if unsafe spareCreation == nil { unsafe spareCreation = creation }
  }

  /// What changes while the thread makes an instance that is kept, and is restored afterwards.
  var circumstances: (isLooking: Bool, graph: UInt) {
    get { unsafe (isLooking, graphs.number) }
    set {
      isLooking = newValue.isLooking
      unsafe graphs.number = newValue.graph
    }
  }

  /// Something to call at the end of the outermost link: the completion for what a factory has made.
  struct Completion {
    let provider: Provider
    let instance: Instance
    let context: UDIContext
    let arguments: KeptArguments?
    /// The completion during which the instance was made: its index in `completions`.
    fileprivate var cause: Int?
    /// Whether the instance was made in a look for a watcher, and in which graph.
    fileprivate var circumstances: (isLooking: Bool, graph: UInt) = (false, 0)

    init(_ provider: Provider, _ instance: Instance, _ call: borrowing Provider.FactoryCall) {
      self.provider = provider
      self.instance = instance
      context = call.context
      arguments = call.arguments.map { KeptArguments($0) }
    }
  }
}

// MARK: - The factories that run

extension Resolution {
  /// How often a factory may be nested in itself, with other arguments or contexts each time, before this counts as a
  /// cycle.
  private static var deepestNesting: Int { 200 }
  /// How many factories may be nested, however much stack is left. If there are more, one probably registers itself
  /// anew each time.
  private static var frameLimit: Int { 1000 }

  /// Records that a factory begins.
  ///
  /// - Parameters:
  ///   - isShared: Whether what it makes is kept, so that another thread could be making it.
  ///   - isFresh: Whether it makes a new instance in any case, which nobody shares.
  /// - Throws: `ProviderFailure.cycle` if the factory is running already for the same arguments and the same context
  ///   (for any context if the graph is to share the instance); or if too many factories are running.
  @inline(__always)
  func push(
    _ provider: Provider, _ context: UDIContext, _ arguments: Arguments?, isShared: Bool, isFresh: Bool
  ) throws {
    if unsafe frames.isDeep || frames.contains(provider) {
      try rejectCycle(provider, context, arguments, isShared: isShared, isFresh: isFresh)
    }
    unsafe frames.append(
      Frame(provider: Unretained(provider), context: Unretained(context), arguments: arguments))
  }

  @inline(never)
  private func rejectCycle(
    _ provider: Provider, _ context: UDIContext, _ arguments: Arguments?, isShared: Bool, isFresh: Bool
  ) throws {
    let (reference, contextReference) = (Unretained(provider), Unretained(context))
    let isOfGraph = provider.sharing == .graph && !isFresh
    var nesting = 0
    var latest: Int?
    for index in unsafe (0..<frames.count).reversed() where unsafe frames[index].provider == reference {
      nesting += 1
      latest = latest ?? index
      let frame = unsafe frames[index]
      // If the instance is kept, this is not a cycle: `SharedCreation.prepareToWait` has already found any thread that
      // would wait for what it makes itself. Nor is it a cycle if the frame stands for a completion and the graph is to
      // share the instance: the graph has none, so the completion is that of a fresh instance.
      let isOfCompletion = unsafe index < completionFrames
      let canBeTheSame = !isShared && !(isOfGraph && isOfCompletion)
      // The graph shares one instance, whichever context it was made for.
      let isSame =
        canBeTheSame && (isOfGraph || frame.context == contextReference)
        && areSame(frame.arguments, arguments, for: provider)
      if isSame { throw ProviderFailure.cycle(path(from: index) + [provider.key]) }
      if nesting > Self.deepestNesting { throw ProviderFailure.cycle(path(from: latest ?? index) + [provider.key]) }
    }
    if isTooDeep() { throw unsafe ProviderFailure.cycle(path(from: frames.count - 10) + [provider.key]) }
  }

  /// Whether a provider is given the same arguments twice. Arguments that are not `Hashable` cannot be compared, and
  /// count as different.
  private func areSame(_ one: Arguments?, _ other: Arguments?, for provider: Provider) -> Bool {
    let key = other?.key(for: provider)
    return (key != nil || provider.wanted == nil) && one?.key(for: provider) == key
  }

  /// Whether too many factories are nested, or too little stack is left for one more.
  private func isTooDeep() -> Bool {
    guard unsafe frames.isDeep else { return false }
    if unsafe frames.count >= Self.frameLimit { return true }
    if unsafe stack == nil { unsafe stack = currentStack() }
    var mark: UInt8 = 0
    let here = unsafe withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
    // Some code runs on a stack of its own, and nothing tells how much of that is left.
    guard let stack = unsafe stack, stack.contains(here) else { return false }
    // This is enough for the error, and for what factories do between two checks.
    return here - stack.lowerBound < min(UInt(stack.count) / 4, 128 << 10)
  }

  /// Records that the innermost factory has ended. If it was the outermost one, too, ends the link: calls the
  /// completions, and releases what the graph shared.
  @inline(__always)
  func pop() {
    unsafe frames.count -= 1
    if unsafe frames.count == 0, unsafe hasRemains { endOutermost() }
  }

  /// Adds a completion to call at the end of the outermost link, when everything that was made is visible.
  func atEnd(_ completion: Completion) {
    unsafe hasRemains = true
    var completion = completion
    completion.cause = unsafe runningCompletion
    completion.circumstances = circumstances
    unsafe completions.append(completion)
  }

  @inline(never)
  private func endOutermost() {
    // Everything is taken out before anything is released: a `deinit` may link, and that is a new outermost link.
    var called: [Completion] = []
    if unsafe !completions.isEmpty { called = complete() }
    unsafe hasRemains = false
    var ended = Graphs()
    unsafe swap(&ended, &graphs)
    _ = consume called
    ended.removeAll()
    if ended.isWorthKeeping, unsafe graphs.isUnused { unsafe swap(&ended, &graphs) }
  }

  /// Calls the completions. A completion may link more; the completions of what that makes are appended.
  ///
  /// While a completion runs, there is a frame for what it completes and, around that, one for each completion that led
  /// to it. So completions that make each other for ever are detected like factories that do.
  ///
  /// - Returns: The completions that were called, to be released.
  private func complete() -> [Completion] {
    var next = 0
    while unsafe next < completions.count {
      let completion = unsafe completions[next]
      unsafe runningCompletion = next
      unsafe graphs.number = completion.circumstances.graph
      pushFrames(leadingTo: next)
      looking(completion.circumstances.isLooking) {
        completion.provider.complete(completion.instance, completion.context, completion.arguments?.arguments)
      }
      unsafe completionFrames = 0
      unsafe frames.count = 0
      next += 1
    }
    unsafe runningCompletion = nil
    var called: [Completion] = []
    unsafe swap(&called, &completions)
    return called
  }

  private func pushFrames(leadingTo completion: Int) {
    var chain: [Int] = []
    var next: Int? = completion
    while let index = next {
      chain.append(index)
      next = unsafe completions[index].cause
    }
    for index in chain.reversed() {
      // `completions` holds what the frame refers to.
      let cause = unsafe completions[index]
      unsafe frames.append(
        Frame(
          provider: Unretained(cause.provider), context: Unretained(cause.context),
          arguments: cause.arguments?.arguments))
    }
    unsafe completionFrames = frames.count
  }

  /// Whether a factory is running that was given a node's context.
  @inline(__always)
  func hasHanded(_ node: Node) -> Bool { unsafe frames.count > 0 && isHanded(node) }

  @inline(never)
  private func isHanded(_ node: Node) -> Bool {
    unsafe (0..<frames.count).contains { index in
      unsafe frames[index].context.read { $0.withNode { $0 == node } }
    }
  }

  /// The keys of the running factories, from one of them on.
  private func path(from index: Int) -> [KeyIdentity] {
    unsafe (index..<frames.count).map { unsafe frames[$0].provider.read { $0.key } }
  }

  /// The keys of the running factories, beginning with the one that a creation belongs to.
  func path(from creation: SharedCreation) -> [KeyIdentity] {
    guard let provider = creation.provider else { return path(from: 0) }
    return path(
      from: unsafe (completionFrames..<frames.count).first { unsafe frames[$0].provider == provider } ?? 0)
  }
}

// MARK: - What the graph shares

extension Resolution {
  /// Begins an instance that is kept, with a graph of its own. What is made for that instance is shared only among its
  /// own parts: what the link made before may be made from what belongs to the context that asks, and so end earlier.
  ///
  /// - Parameter happensOnce: Whether this happens only once, so that it is not part of a look for a watcher.
  /// - Returns: What the caller restores afterwards.
  func beginKeptInstance(happensOnce: Bool) -> (isLooking: Bool, graph: UInt) {
    let outer = circumstances
    unsafe hasRemains = true
    unsafe graphs.begin()
    if happensOnce { isLooking = false }
    return outer
  }

  /// Writes what is shared to memory for an optional of its type, if it is an object that can be written as it is.
  @inline(__always)
  func writeShared(_ provider: UInt, to memory: UnsafeMutableRawPointer) -> Bool {
    unsafe graphs.write(provider, to: memory)
  }

  /// Whether the graph shares something that a provider made without arguments.
  func shares(_ provider: UInt) -> Bool { unsafe graphs.find(provider) != nil }

  func shared(_ provider: Provider, _ arguments: ArgumentKey?) -> Instance? {
    guard let arguments else { return unsafe graphs.find(provider.id) }
    // Arguments are compared while nothing accesses the graphs, because their `==` is user code.
    let candidates = unsafe graphs.candidates(provider.id, arguments.digest)
    return candidates.first { $0.arguments == arguments }?.instance
  }

  /// Shares what was just made and was not shared before.
  @inline(__always)
  func share(_ object: AnyObject, _ form: StoredForm, _ provider: Provider) {
    unsafe hasRemains = true
    unsafe graphs.insert(Instance(object: object, form: form, isBox: false), provider.id)
  }

  func share(_ instance: Instance, _ provider: Provider, _ arguments: ArgumentKey?) {
    unsafe hasRemains = true
    if let arguments {
      unsafe graphs.insert(instance, provider.id, arguments)
    } else if !shares(provider.id) {
      unsafe graphs.insert(instance, provider.id)
    }
  }
}
