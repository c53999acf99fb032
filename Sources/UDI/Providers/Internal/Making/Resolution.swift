/// The state of a thread that makes instances: above all, the synchronous factories that run on it, one inside the
/// other; the graph that they share; and what is left for the end of the outermost link.
///
/// A resolution belongs to a thread because a synchronous factory ends on the thread where it began, and everything
/// that it links in between is linked on that thread. A task-local value would be worse in three ways. It would cost
/// more than the rest of a link: two atomic operations, a lookup and an allocation. Tasks that outlive the link would
/// inherit it. And it could not say which thread waits for which, so two threads could wait for one another for ever.
final class Resolution: ThreadState {
  /// A factory or a completion that is running.
  ///
  /// Both references are unowned. Objects that a factory's frame refers to are held by the link that runs the factory;
  /// objects that a completion's frame refers to are held by `completions`. The arguments are used only by this thread:
  /// other threads read only a frame's provider.
  typealias Frame = (provider: Unretained<Provider>, context: Unretained<UDIContext>, arguments: Arguments?)

  /// The frames of the running factories and completions, the outermost first. The frames of completions come first
  /// (see `complete`). Only this thread writes the frames. Other threads read them only under the tree lock and while
  /// this thread waits. They see that this thread waits, because it enters the activity that it waits for
  /// (`Activity.enter`) under the same lock.
  @exclusivity(unchecked) var frames: ContiguousArray<Frame> = []

  /// The actor to which `obtain` has moved to call a factory on this thread; nil if it has not moved. Used only by this
  /// thread.
  var actor: (any Actor)?

  /// The call of a factory for `obtain` that runs on this thread; nil if there is none. Used only by this thread.
  @exclusivity(unchecked) var obtaining: ObtainedCall?
  /// Whether there is such a call. (Looking at the call itself would count references in each making.)
  @exclusivity(unchecked) var isForObtain = false
  /// The frame in which a new instance is being attached, as the number of frames; 0 if there is none.
  @exclusivity(unchecked) var attachingFrame = 0
  /// For each running closure, the error of the first `link` or `linkAll` with which it has missed something that
  /// `obtain` would make, and the number of the closure's frame, counted from 1. Used only by this thread.
  @exclusivity(unchecked) var missed: [(frame: Int, error: UDILinkError)] = []
  /// How many lookups on this thread have failed, although they might succeed elsewhere: the factory that they found is
  /// asynchronous, or belongs to an actor on which they did not run.
  @exclusivity(unchecked) var missesOnlyHere = 0

  /// How many lookups of optional parameters this thread performs, one inside the other. Other threads read this only
  /// while this thread waits, as for `frames`.
  @exclusivity(unchecked) var optionalLookups = 0

  /// While the parameters of an initialiser are listed instead of looked up: the types that have been listed. Used only
  /// by this thread.
  var listed: [Any.Type]?

  /// The creation that this thread has begun last and not ended; see `Creation.outer`. Guarded by the tree lock.
  @exclusivity(unchecked) var creation: Unretained<Creation>?
  /// A creation that has ended without anything waiting for it, to be used again. Guarded by the tree lock.
  @exclusivity(unchecked) var spareCreation: Creation?

  /// The graph in which this thread makes something now; nil if it shares nothing yet. See `presentGraph`.
  @exclusivity(unchecked) var graph: Graph?

  /// The completions that will be called at the end of the outermost link.
  @exclusivity(unchecked) private var completions: [PendingCompletion] = []
  /// How many of the frames belong to completions rather than to factories. These are the outermost ones.
  @exclusivity(unchecked) private(set) var completionFrames = 0
  /// Whether `endOutermost` might have something to do.
  @exclusivity(unchecked) var hasRemains = false

  /// The watcher whose look this thread performs, even while the look makes something that is made only once; nil if
  /// there is none. Used only by this thread.
  @exclusivity(unchecked) private(set) var watcher: Unretained<Provider.Looker>?
  /// How many frames there were when the look began; -1 if it is a lookup on behalf of a factory.
  @exclusivity(unchecked) private var framesBeforeLook = 0

  /// The watcher whose needs are the lookups on this thread, because a factory makes them in a look; nil if none does.
  var watcherOfNeeds: Unretained<Provider.Looker>? {
    unsafe frames.count > framesBeforeLook && !isTelling ? watcher : nil
  }

  /// Runs a body as part of a watcher's look or, if that is nil, as something that is not part of one.
  ///
  /// - Parameter isForFactory: Whether the body looks something up on behalf of a factory.
  @inline(__always)
  func looking<Made>(for watcher: Provider.Looker?, isForFactory: Bool, _ body: () throws -> Made) rethrows -> Made {
    let outer = unsafe (self.watcher, framesBeforeLook, isLooking)
    unsafe (self.watcher, framesBeforeLook) = (watcher.map { Unretained($0) }, isForFactory ? -1 : frames.count)
    unsafe isLooking = watcher != nil
    defer { unsafe (self.watcher, framesBeforeLook, isLooking) = outer }
    return try body()
  }

  /// What is left to do for one new instance at the end of the outermost link.
  ///
  /// - `keeper` keeps the instance, and begins its operation; it is the provider itself if nothing keeps the instance,
  ///   and nil for an instance that was made before.
  /// - `completes`: whether the provider's completion is called.
  /// - `needs`: the attachment of an instance that was attached, and that requires something.
  /// - `isOfLook`: whether the instance was made as part of a look.
  /// - `graph`: the graph in which the instance was made.
  typealias PendingCompletion = (
    provider: Provider, keeper: Provider?, completes: Bool, instance: Instance, context: UDIContext,
    arguments: KeptArguments?, needs: UDIAttachment?, isOfLook: Bool, graph: Graph
  )

  // MARK: - The factories that run

  /// How often a factory may run inside itself, each time with other arguments or contexts.
  private static var deepestNesting: Int { 200 }
  /// How many factories may run inside one another, however much stack is left. A greater number probably means that a
  /// factory registers itself anew each time.
  private static var frameLimit: Int { 1000 }

  /// Runs a creation of an instance that will be kept.
  ///
  /// The instance begins a graph of its own: the parts that are made for it are shared only among themselves. It must
  /// not get parts that the link has made before: these might depend on the context that asks, which might end before
  /// the instance does.
  @inline(__always)
  func running(_ creation: Creation, _ make: () throws -> Instance) rethrows -> Instance {
    let wasLooking = unsafe isLooking
    var other = unsafe graph.take()
    // The graph of the parts is released last: that may run user code.
    defer {
      unsafe isLooking = wasLooking
      unsafe swap(&graph, &other)
    }
    let needs = unsafe watcher?.object.notedNeeds
    let provider = needs == nil ? nil : creation.provider
    let isOwned = provider?.read(\.owns) == true
    // If the provider makes the instance only once, the making does not count as part of the look (`ChangeKind`). But
    // if the factory has failed, or a look has registered or reset the provider, each look might do so again.
    let isOnce = provider?.read { $0.sharing == .strong && !$0.makesInLooks && !$0.maker.hasFailed }
    if isOnce == true { unsafe isLooking = false }
    let made = try make()
    // If a context owns the instance, the lookups of its factory are forgotten, because later looks find the kept
    // instance. If the factory throws, its lookups remain needs.
    if let needs, isOwned { unsafe watcher?.object.forgetNeeds(after: needs) }
    return made
  }

  /// Records that a factory begins.
  ///
  /// - Parameters:
  ///   - isKept: Whether the provider keeps the instance. Another thread could then wait for it.
  ///   - isFresh: Whether the instance has to be a new one that is not shared, whatever the lifetime.
  /// - Throws: See `reject`.
  @inline(__always)
  func push(
    _ provider: Provider, for context: UDIContext, with arguments: Arguments?, isKept: Bool, isFresh: Bool
  ) throws {
    let reference = Unretained(provider)
    if unsafe isDeep || frames.contains(where: { $0.provider == reference }) {
      try reject(provider, for: context, with: arguments, isKept: isKept, isFresh: isFresh)
    }
    unsafe frames.append((reference, Unretained(context), arguments))
  }

  /// Throws an error if a factory must not begin: `ProviderFailure.cycle` if it is already running for the same
  /// instance; the cause `tooDeep` if too many factories are running, or too little of the stack is left.
  ///
  /// The instance is the same if the arguments are equal and the context is the same. If the graph shares the instance,
  /// the context makes no difference.
  @inline(never)
  private func reject(
    _ provider: Provider, for context: UDIContext, with arguments: Arguments?, isKept: Bool, isFresh: Bool
  ) throws {
    let (reference, contextReference) = (Unretained(provider), Unretained(context))
    let isOfGraph = provider.sharing == .graph && !isFresh
    var nesting = 0
    for index in unsafe (0..<frames.count).reversed() where unsafe frames[index].provider == reference {
      nesting += 1
      let frame = unsafe frames[index]
      // Two kinds of frames are no cycle: (1) Those of a provider that keeps the instance. `Activity.enter` has already
      // refused a thread that would wait for itself. (2) If the graph shares the instance, those of completions. The
      // graph has no instance yet, so such a completion is for a fresh one, or for one of a different graph.
      let isSame = unsafe isOfGraph ? index >= completionFrames : frame.context == contextReference
      let key = arguments?.key(for: provider)
      // Arguments that are not `Hashable` cannot be compared, and count as different.
      if !isKept, isSame, key != nil || provider.wanted == nil, frame.arguments?.key(for: provider) == key {
        throw ProviderFailure.cycle(keys(from: index) + [provider.key])
      }
    }
    let isLow = isDeep && isStackLow()
    if unsafe isLow || nesting > Self.deepestNesting || frames.count >= Self.frameLimit {
      throw unsafe ProviderFailure.explained(.tooDeep(depth: frames.count, stackSize: isLow ? stack?.count : nil))
    }
  }

  /// Whether so many factories run inside one another that the depth of the stack has to be checked.
  private var isDeep: Bool { unsafe frames.count >= 6 }

  /// Records that the innermost factory has ended. If it was also the outermost one, ends the link.
  @inline(__always)
  func pop() {
    unsafe frames.removeLast()
    if unsafe frames.isEmpty, unsafe hasRemains { endOutermost() }
  }

  /// Notes what has to be done for an instance at the end of the outermost link, which is now if nothing is being made:
  /// the dependencies that the instance requires are looked up, then the completion is called, and then the instance's
  /// operation begins.
  ///
  /// - Parameters:
  ///   - completes: Whether the completion is called.
  ///   - needs: The attachment of the instance, if it was attached and requires something.
  ///   - keeper: The keeper of the instance; the provider itself if nothing keeps the instance; nil if it was made
  ///     before.
  func atEnd(
    completes: Bool, _ instance: Instance, _ needs: UDIAttachment?, of provider: Provider, in keeper: Provider?,
    for context: UDIContext, with arguments: Arguments?
  ) {
    unsafe hasRemains = true
    let kept = arguments.map { KeptArguments($0) }
    unsafe completions.append((provider, keeper, completes, instance, context, kept, needs, isLooking, presentGraph))
    if unsafe frames.isEmpty { endOutermost() }
  }

  /// Ends the outermost link: calls the completions, and ends the graph.
  @inline(never)
  private func endOutermost() {
    // Everything is moved out of the resolution before anything is released, because a `deinit` may link, which begins
    // a new outermost link.
    let ended = unsafe graph
    var called: [PendingCompletion] = []
    if unsafe !completions.isEmpty { complete(&called) }
    unsafe hasRemains = false
    unsafe graph = nil
    withExtendedLifetime((ended, called)) {}
  }

  /// Calls the completions. A completion may link, which may add further completions; these are called before the next
  /// one.
  ///
  /// While a completion runs, and those that it has caused, it has a frame, just like a factory. An endless chain of
  /// completions is therefore detected in the same way as an endless chain of factories.
  ///
  /// - Parameter called: The completions that were called are added to these, for the caller to release.
  private func complete(_ called: inout [PendingCompletion]) {
    let batch = unsafe exchange(&completions, with: [])
    called += batch
    for completion in batch {
      let arguments = completion.arguments?.arguments
      // The frame does not retain the objects that it refers to; `called` keeps them alive.
      unsafe frames.append((Unretained(completion.provider), Unretained(completion.context), arguments))
      unsafe completionFrames = frames.count
      unsafe graph = completion.graph
      unsafe looking(for: completion.isOfLook ? watcher?.object : nil, isForFactory: true) {
        // The object might have been detached meanwhile.
        if let needs = completion.needs, needs.context != nil {
          Node.fillRequired(completion.instance.object, needs, at: completion.provider.site)
        }
        if completion.completes { completion.provider.complete(completion.instance, for: completion.context) }
        let isCancelled = unsafe obtaining?.demand.warmUp != nil && Task.isCancelled
        completion.keeper?.beginOperations(of: completion.instance, isPutOff: isCancelled)
      }
      complete(&called)
      unsafe frames.removeLast()
      unsafe completionFrames = frames.count
    }
  }

  /// Whether this thread is running a factory or a completion that was given the node's context.
  @inline(__always)
  func hasHanded(_ node: Node) -> Bool { unsafe frames.count > 0 && isHanded(node) }

  @inline(never)
  private func isHanded(_ node: Node) -> Bool {
    unsafe frames.contains { $0.context.read { $0.withNode { $0 == node } } }
  }

  /// The creations that this thread has begun and not ended, the innermost first. Read this under the tree lock.
  var creations: [Creation] { unsafe creation.map { Array(sequence(first: $0.object) { $0.outer?.object }) } ?? [] }

  /// The keys of the frames' providers, beginning with the frame at the given index.
  func keys(from index: Int) -> [KeyIdentity] {
    unsafe (index..<frames.count).map { unsafe frames[$0].provider.read { $0.key } }
  }

  /// The keys of the frames' providers, beginning with the factory that a creation runs or, if it runs none, with the
  /// outermost frame.
  func keys(from creation: Creation) -> [KeyIdentity] {
    guard let provider = creation.provider else { return keys(from: 0) }
    let maker = Unretained(provider.object.maker)
    return keys(from: unsafe (completionFrames..<frames.count).first { unsafe frames[$0].provider == maker } ?? 0)
  }

  // MARK: - Each thread's resolution

  // Both casts are safe, because `ThreadState.make` makes only resolutions.

  /// The calling thread's resolution, which lives as long as the thread.
  @inline(__always)
  static var current: Unretained<Resolution> { unsafe Unretained(address: here.address) }

  /// The calling thread's resolution, or nil if the thread has none yet.
  static var present: Unretained<Resolution>? { hereIfAny.map { unsafe Unretained(address: $0.address) } }
}

extension ThreadState { static func make() -> ThreadState { Resolution() } }
