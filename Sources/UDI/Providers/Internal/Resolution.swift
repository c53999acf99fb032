/// What one thread is making: the providers whose factories run on it, one inside the other, and what belongs to the outermost link.
///
/// Factories are synchronous, so that one that began on a thread ends on it, and everything that it links in between is linked on
/// that thread. That is why this belongs to the thread: a task-local value would cost more than the rest of a link
/// (two atomic operations, a lookup and an allocation), would be inherited by tasks that outlive the link, and could not say
/// which thread waits for which, without which two threads could wait for one another for ever.
@usableFromInline
final class Resolution {
  /// A factory that runs.
  struct Frame {
    // The link that runs it holds all of them.
    let provider: Unretained<Provider>
    let context: Unretained<UDIContext>
    let arguments: Unretained<ArgumentKey>?
  }

  /// The factories that run, the outermost first. Written by the thread alone; other threads read it under the tree lock while this
  /// one waits, which it says under the same lock.
  @exclusivity(unchecked) private var frames = FrameStack()

  /// What this thread waits for. Under the tree lock.
  var waitingFor: Creation?

  /// What was made under the lifetime `.graph` since the outermost link began.
  @exclusivity(unchecked) private var graph = CompactTable<GraphElement>()
  @exclusivity(unchecked) private var graphWithArguments: [GraphKey: [(ArgumentKey, Made)]] = [:]

  /// What is to be called at the end of the outermost link.
  @exclusivity(unchecked) private var completions: [(isLooking: Bool, call: () -> Void)] = []
  @exclusivity(unchecked) private var isCompleting = false
  /// Whether there may be something to do at the end of the outermost link.
  @exclusivity(unchecked) private var hasRemains = false

  /// Whether the thread looks for a watcher, so that what it does to the tree comes from that: see `Tidings`. Used by the thread alone.
  @exclusivity(unchecked) private var uncheckedIsLooking = false
  var isLooking: Bool {
    get { unsafe uncheckedIsLooking }
    set { unsafe uncheckedIsLooking = newValue }
  }

  /// Runs a body as part of a look for a watcher, or as something that happens anyway.
  func looking<Result>(_ isLooking: Bool, _ body: () throws -> Result) rethrows -> Result {
    let outer = self.isLooking
    self.isLooking = isLooking
    defer { self.isLooking = outer }
    return try body()
  }

  init() {}

  private struct GraphElement: CompactTableElement {
    /// The provider's `id`.
    let key: UInt
    let made: Made
    static func hash(_ key: UInt) -> UInt { scrambled(key) }
  }

  /// By provider and the hash of the arguments, which are compared with no access to this under way: their `==` is the user's.
  private struct GraphKey: Hashable {
    let provider: UInt
    let digest: Int
  }
}

// MARK: - The factories that run

extension Resolution {
  /// So often may a factory be inside itself, with other arguments or contexts each time, before that is taken for a cycle.
  private static var deepestNesting: Int { 200 }

  /// Notes that a factory begins.
  ///
  /// - Throws: `ProviderFailure.cycle` if it runs already, for the same context and arguments.
  @inline(__always)
  func push(_ provider: Provider, _ context: UDIContext, _ arguments: ArgumentKey?, isShared: Bool) throws {
    if unsafe frames.isDeep || frames.contains(provider) {
      try rejectCycle(provider, context, arguments, isShared: isShared)
    }
    unsafe frames.append(
      Frame(
        provider: Unretained(provider), context: Unretained(context), arguments: arguments.map { Unretained($0) }))
  }

  @inline(never)
  private func rejectCycle(
    _ provider: Provider, _ context: UDIContext, _ arguments: ArgumentKey?, isShared: Bool
  ) throws {
    let (reference, place) = (Unretained(provider), Unretained(context))
    var nesting = 0
    var latest: Int?
    for index in unsafe (0..<frames.count).reversed() where unsafe frames[index].provider == reference {
      nesting += 1
      latest = latest ?? index
      let frame = unsafe frames[index]
      // Of what is kept another thread may be the maker: that a thread waits for itself is found where it would begin to.
      let isSame =
        !isShared && frame.context == place && frame.arguments?.object == arguments
        && (arguments != nil || !provider.hasArguments)
      if isSame { throw ProviderFailure.cycle(path(from: index) + [provider.key]) }
      if nesting > Self.deepestNesting { throw ProviderFailure.cycle(path(from: latest ?? index) + [provider.key]) }
    }
    if unsafe frames.isDeep { throw unsafe ProviderFailure.cycle(path(from: frames.count - 10) + [provider.key]) }
  }

  /// Notes that the innermost factory has ended, and, if it was the outermost one too, ends the link: calls what was to be called
  /// then, and lets go of what the graph shared.
  @inline(__always)
  func pop() {
    unsafe frames.count -= 1
    if unsafe frames.count == 0, unsafe hasRemains { endOutermost() }
  }

  /// Adds something to call at the end of the outermost link, when everything it made can be seen.
  func atEnd(_ completion: @escaping () -> Void) {
    unsafe hasRemains = true
    unsafe completions.append((isLooking, completion))
  }

  @inline(never)
  private func endOutermost() {
    // Inside a completion that linked something.
    if unsafe isCompleting { return }
    if unsafe !completions.isEmpty { complete() }
    unsafe hasRemains = false
    // Taken out before it is released: a `deinit` may link, and that is another outermost link.
    if unsafe !graphWithArguments.isEmpty {
      var shared: [GraphKey: [(ArgumentKey, Made)]] = [:]
      unsafe swap(&shared, &graphWithArguments)
      _ = consume shared
    }
    var shared = CompactTable<GraphElement>()
    unsafe swap(&shared, &graph)
    shared.removeAll()
    // Its memory serves the next link.
    if shared.capacity <= Self.keptCapacity, unsafe graph.capacity == 0 { unsafe swap(&shared, &graph) }
  }

  /// The memory of graphs up to this size is kept from one link to the next.
  private static var keptCapacity: Int { 64 }

  private func complete() {
    unsafe isCompleting = true
    // A completion may link more, whose completions come behind.
    var next = 0
    while unsafe next < completions.count {
      let completion = unsafe completions[next]
      next += 1
      looking(completion.isLooking, completion.call)
    }
    unsafe isCompleting = false
    var called: [(isLooking: Bool, call: () -> Void)] = []
    unsafe swap(&called, &completions)
    _ = consume called
  }

  /// The keys of the factories that run, from one of them on.
  private func path(from index: Int) -> [KeyIdentity] {
    unsafe (index..<frames.count).map { unsafe frames[$0].provider.read { $0.key } }
  }

  /// The keys of the factories that run, from the one on that makes something.
  func path(from creation: Creation) -> [KeyIdentity] {
    guard let provider = creation.provider else { return path(from: 0) }
    return path(from: unsafe (0..<frames.count).first { unsafe frames[$0].provider.object === provider } ?? 0)
  }
}

// MARK: - What the graph shares

extension Resolution {
  /// Writes what is shared, if it is an object that can be written, to memory for an optional of its type.
  @inline(__always)
  func writeShared(_ provider: UInt, to memory: UnsafeMutableRawPointer) -> Bool {
    guard let place = unsafe graph.find(provider) else { return false }
    guard place.element.made.form.isComplete else { return false }
    unsafe place.element.made.form.write(place.element.made.object, to: memory)
    return true
  }

  func shared(_ provider: Provider, _ arguments: ArgumentKey?) -> Made? {
    guard let arguments else { return unsafe graph.find(provider.id)?.element.made }
    let candidates = unsafe graphWithArguments[GraphKey(provider: provider.id, digest: arguments.digest)]
    return candidates?.first { $0.0 == arguments }?.1
  }

  /// Shares what was just made and was not there before.
  @inline(__always)
  func share(_ object: AnyObject, _ form: StoredForm, _ provider: Provider) {
    unsafe hasRemains = true
    unsafe graph.insert(
      GraphElement(key: provider.id, made: Made(object: object, form: form, isBox: false)), initialCapacity: 16)
  }

  func share(_ made: Made, _ provider: Provider, _ arguments: ArgumentKey?) {
    unsafe hasRemains = true
    if let arguments {
      unsafe graphWithArguments[GraphKey(provider: provider.id, digest: arguments.digest), default: []].append(
        (arguments, made))
    } else if unsafe graph.find(provider.id) == nil {
      unsafe graph.insert(GraphElement(key: provider.id, made: made), initialCapacity: 16)
    }
  }
}

/// The frames of one thread. Memory of its own, because an array asks at each change whether somebody shares it.
@safe
private struct FrameStack: ~Copyable {
  private var frames: UnsafeMutablePointer<Resolution.Frame>
  private var capacity = 16
  /// How many there are; what is above is free.
  var count = 0

  init() { unsafe frames = .allocate(capacity: 16) }

  deinit { unsafe frames.deallocate() }

  /// So many factories inside one another are taken for one that registers itself anew.
  @inline(__always)
  var isDeep: Bool { count >= 1000 }

  /// Whether a provider's factory runs.
  @inline(__always)
  func contains(_ provider: Provider) -> Bool {
    let reference = Unretained(provider)
    for index in 0..<count where unsafe frames[index].provider == reference { return true }
    return false
  }

  subscript(index: Int) -> Resolution.Frame {
    precondition(0..<count ~= index)
    return unsafe frames[index]
  }

  @inline(__always)
  mutating func append(_ frame: Resolution.Frame) {
    if count == capacity { grow() }
    // A frame is plain words, so nothing has to be ended before its place is used again.
    unsafe (frames + count).initialize(to: frame)
    count += 1
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<Resolution.Frame>.allocate(capacity: capacity * 2)
    unsafe larger.moveInitialize(from: frames, count: count)
    unsafe frames.deallocate()
    unsafe frames = larger
    capacity *= 2
  }
}
