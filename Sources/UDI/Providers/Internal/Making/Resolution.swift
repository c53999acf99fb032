/// What one thread is making: the providers whose factories run on it, one inside the other, and what belongs to the
/// outermost link.
///
/// Factories are synchronous. So a factory ends on the thread where it began, and everything that it links in between
/// is linked on that thread. That is why a resolution belongs to a thread. A task-local value would cost more than the
/// rest of a link (two atomic operations, a lookup and an allocation), and tasks that outlive the link would inherit
/// it. It also could not say which thread waits for which, and two threads could then wait for one another for ever.
final class Resolution {
  /// A factory that is running.
  struct Frame {
    // Not held here. What a factory's frame refers to is held by the link that runs the factory; what a completion's
    // frame refers to is held by `completions`.
    let provider: Unretained<Provider>
    let context: Unretained<UDIContext>
    /// Used only by this thread: other threads read only a frame's provider.
    let arguments: Arguments?
  }

  /// The running factories, the outermost first. Only this thread writes them. Other threads read them under the tree
  /// lock, and only while this thread waits; it records under the same lock that it waits.
  @exclusivity(unchecked) private var frames = FrameStack()

  /// The addresses of the thread's stack, once they have been asked for.
  @exclusivity(unchecked) private var stack: Range<UInt>?

  /// The actor to which `obtain` has moved, while it makes something on this thread. Used only by this thread.
  @exclusivity(unchecked) private var uncheckedActor: (any Actor)?
  var actor: (any Actor)? {
    get { unsafe uncheckedActor }
    set { unsafe uncheckedActor = newValue }
  }

  /// Whether `obtain` looks something up on this thread and, if so, what it needed during that lookup that only an
  /// asynchronous factory can make. Used only by this thread.
  @exclusivity(unchecked) private var obtaining: Unmade??
  /// How often a lookup on this thread has asked for something that only an asynchronous factory can make.
  @exclusivity(unchecked) private(set) var asyncMisses = 0

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
  /// Whether there might be something to do at the end of the outermost link.
  @exclusivity(unchecked) private var hasRemains = false

  #if DEBUG
    /// Used by tests: the number of steps that lookups on this thread have taken on their way to set-up blocks.
    @exclusivity(unchecked) var setUpSteps = 0
  #endif

  /// Whether the thread is performing a look for a watcher, so that changes that it makes to the tree are marked: see
  /// `ChangeKind`. Used only by this thread.
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

  /// A creation that has ended and that nobody has waited for, to be used again. Saves one allocation for each instance
  /// in the benchmark "the same by a scope: register 3, make 3, link 2, end it".
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
    /// The circumstances in which the instance was made.
    fileprivate var circumstances: (isLooking: Bool, graph: UInt) = (false, 0)

    init(_ provider: Provider, _ instance: Instance, _ context: UDIContext, _ arguments: Arguments?) {
      self.provider = provider
      self.instance = instance
      self.context = context
      self.arguments = arguments.map { KeptArguments($0) }
    }
  }
}

// MARK: - The factories that run

extension Resolution {
  /// How often a factory may be nested in itself, with other arguments or contexts each time, before this counts as a
  /// cycle.
  private static var deepestNesting: Int { 200 }
  /// How many factories may be nested, however much stack is left. If there are more, there probably is a factory that
  /// registers itself anew each time.
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
      // If the instance is kept, this is not a cycle: `SharedCreation.prepareToWait` has already refused a thread that
      // would wait for itself. A frame that stands for a completion is not a cycle either if the graph is to share the
      // instance: the graph has no instance yet, so the completion is that of a fresh instance.
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

  /// Whether two sets of arguments for a provider are the same. Arguments that are not `Hashable` cannot be compared,
  /// and count as different.
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
    // Some code runs on a stack of its own, and nothing says how much of that stack is left.
    guard let stack = unsafe stack, stack.contains(here) else { return false }
    // This is enough for the error, and for what factories do between two checks.
    return here - stack.lowerBound < min(UInt(stack.count) / 4, 128 << 10)
  }

  /// Records that the innermost factory has ended. If it was also the outermost one, ends the link: calls the
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
    // Mostly nothing is shared. Without this check, the benchmark "the same by a scope: register 3, make 3, link 2, end
    // it" would take 2 % longer.
    if unsafe graphs.isEmpty { return unsafe graphs.restart() }
    var ended = Graphs()
    unsafe swap(&ended, &graphs)
    _ = consume called
    ended.removeAll()
    if ended.isWorthKeeping, unsafe graphs.isUnused { unsafe swap(&ended, &graphs) }
  }

  /// Calls the completions. A completion may link more, which may append further completions; these are also called.
  ///
  /// While a completion runs, it has a frame, inside the frames of the completions that led to it. So an endless chain
  /// of completions is detected in the same way as an endless chain of factories.
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

  /// The providers whose factories run, the outermost first.
  var runningProviders: [Provider] { unsafe (0..<frames.count).map { unsafe frames[$0].provider.object } }

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

// MARK: - For `obtain`

extension Resolution {
  /// Begins a lookup for `obtain`.
  ///
  /// - Returns: What the caller passes to `endObtaining`.
  func beginObtaining() -> Unmade?? {
    let outer = unsafe obtaining
    unsafe obtaining = .some(nil)
    return outer
  }

  /// Ends a lookup for `obtain`.
  ///
  /// - Returns: What a factory needed that only an asynchronous factory can make.
  func endObtaining(_ outer: Unmade??) -> Unmade? {
    let unmade = unsafe obtaining ?? nil
    unsafe obtaining = outer
    return unmade
  }

  /// Whether `obtain` looks something up on this thread.
  var isObtaining: Bool { unsafe obtaining != nil }

  /// Notes that only an asynchronous factory can make what was asked for. If `obtain` is looking something up, and a
  /// lookup would find the instance afterwards, `obtain` gets it.
  func noteUnmade(_ unmade: Unmade) {
    unsafe asyncMisses += 1
    if isObtaining, unmade.isKept { unsafe obtaining = .some(unmade) }
  }
}

// MARK: - What the graph shares

extension Resolution {
  /// Begins to make an instance that is kept, in a graph of its own: what is made for that instance is shared only
  /// among its own parts. The instance must not get what the link has made before, because that might depend on the
  /// context that asks, and this context might end before the instance does.
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

  /// Writes a provider's instance from the graph to memory for an optional of the provider's type, if the instance is
  /// an object that can be written without a cast.
  @inline(__always)
  func writeShared(_ provider: UInt, to memory: UnsafeMutableRawPointer) -> Bool {
    unsafe graphs.write(provider, to: memory)
  }

  /// Whether the graph shares something that a provider made without arguments.
  func shares(_ provider: UInt) -> Bool { unsafe graphs.find(provider) != nil }

  func shared(_ provider: Provider, _ arguments: ArgumentKey?) -> Instance? {
    guard let arguments else { return unsafe graphs.find(provider.id) }
    // The comparison calls the user's `==`, so nothing accesses the graphs while it runs.
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
