/// The instances that one outermost link shares under the lifetime `.graph`. There is one graph for the link itself,
/// and another one for each instance that the link makes and a provider keeps. Used by one thread at a time: the
/// link's.
struct Graphs: ~Copyable {
  /// The number of the graph in which the link is making something now; 0 for the link's own graph.
  var number: UInt = 0
  /// The number of the graph that began last.
  var lastNumber: UInt = 0
  private var shared = CompactTable<Element>()
  /// The instances that were made with arguments, by hashes of the providers and the arguments.
  private var sharedWithArguments = ObjectTable<Bucket>()

  // The next two types are not private, because otherwise the compiler (Swift 6.3) crashes.
  struct Key: Equatable {
    /// The provider's `id`.
    let provider: UInt
    let number: UInt
  }

  struct Element: CompactTableElement {
    let key: Key
    let instance: Instance
    static func hash(_ key: Key) -> UInt { scrambled(key.provider) }
  }

  /// The instances of providers and arguments with the same hash.
  private final class Bucket {
    var shared: [(key: Key, arguments: ArgumentKey, instance: Instance)] = []
  }

  init() {}

  private static func hash(_ provider: UInt, _ digest: Int) -> UInt64 {
    scrambled(UInt64(provider)) ^ UInt64(truncatingIfNeeded: digest)
  }

  @inline(__always)
  private func key(_ provider: UInt) -> Key { Key(provider: provider, number: number) }

  /// The instance that the given provider made for the current graph without arguments; nil if there is none.
  @inline(__always)
  func find(_ provider: UInt) -> Instance? { shared.find(key(provider))?.element.instance }

  /// Writes the instance that `find` returns to `memory`, if there is one and it is an object that needs no cast.
  /// `memory` must be memory for an optional of the provider's type.
  ///
  /// - Returns: Whether the instance was written.
  @inline(__always)
  func write(_ provider: UInt, to memory: UnsafeMutableRawPointer) -> Bool {
    guard let found = shared.find(key(provider)), found.element.instance.form.isComplete else { return false }
    unsafe found.element.instance.form.write(found.element.instance.object, to: memory)
    return true
  }

  /// The instances that the given provider made for the current graph with arguments that have this hash.
  func candidates(_ provider: UInt, _ digest: Int) -> [(key: Key, arguments: ArgumentKey, instance: Instance)] {
    let bucket = sharedWithArguments[Self.hash(provider, digest)]
    return bucket?.shared.filter { $0.key == key(provider) && $0.arguments.digest == digest } ?? []
  }

  @inline(__always)
  mutating func insert(_ instance: Instance, of provider: UInt) {
    shared.insert(Element(key: key(provider), instance: instance), initialCapacity: 16)
  }

  mutating func insert(_ instance: Instance, of provider: UInt, with arguments: ArgumentKey) {
    let hash = Self.hash(provider, arguments.digest)
    let bucket = sharedWithArguments[hash] ?? Bucket()
    bucket.shared.append((key(provider), arguments, instance))
    sharedWithArguments[hash] = bucket
  }

  /// Whether no graph shares anything.
  var isEmpty: Bool { shared.isEmpty && sharedWithArguments.isEmpty }

  /// Releases all instances, but keeps the memory of `shared` for the next link.
  mutating func removeAll() {
    sharedWithArguments = ObjectTable()
    shared.removeAll()
  }

  /// Whether the memory of `shared` is small enough to be kept for the next link.
  var isWorthKeeping: Bool { shared.capacity <= 64 }
  /// Whether `shared` has no memory.
  var isUnused: Bool { shared.capacity == 0 }
}

/// Graphs that last for several outermost links, on any threads: for the attempts of one `obtain`, or for all attempts
/// that obtain the parameters of one initialiser.
final class LastingGraphs: @unchecked Sendable {
  // Unchecked: one attempt at a time uses the properties.
  @exclusivity(unchecked) private var graphs = Graphs()
  /// Whether there might be instances that are not `Sendable`, because an attempt ran on the main actor.
  private var belongsToMainActor = false

  /// Exchanges the graphs for those of a thread.
  func exchange(with other: inout Graphs) { unsafe swap(&graphs, &other) }

  /// Notes that an attempt has ended here.
  func noteAttempt() {
    if unsafe !belongsToMainActor && !graphs.isEmpty { belongsToMainActor = MainActorCheck.isOnMainActor }
  }

  deinit {
    guard belongsToMainActor, !MainActorCheck.isOnMainActor else { return }
    let carrier = LastingGraphs()
    unsafe swap(&carrier.graphs, &graphs)
    releaseOnMainActor(carrier)
  }
}

// MARK: - The graphs of a thread

extension Resolution {
  /// Does the same as `Graphs.write`, for this thread's graphs.
  @inline(__always)
  func writeShared(_ provider: UInt, to memory: UnsafeMutableRawPointer) -> Bool {
    unsafe graphs.write(provider, to: memory)
  }

  /// Whether the graph shares an instance that the given provider made without arguments.
  func shares(_ provider: UInt) -> Bool { unsafe graphs.find(provider) != nil }

  /// The graph's instance of the given provider for the given arguments; nil if there is none.
  func shared(_ provider: Provider, _ arguments: ArgumentKey?) -> Instance? {
    guard let arguments else { return unsafe graphs.find(provider.id) }
    // The comparison calls the user's `==`, which might link, so it must not run during an access to `graphs`.
    let candidates = unsafe graphs.candidates(provider.id, arguments.digest)
    return candidates.first { $0.arguments == arguments }?.instance
  }

  /// Adds a new instance to the graph. If the graph has one already, that one stays the answer.
  func share(_ instance: Instance, of provider: Provider, with arguments: ArgumentKey?) {
    unsafe hasRemains = true
    if let arguments {
      unsafe graphs.insert(instance, of: provider.id, with: arguments)
    } else if !shares(provider.id) {
      unsafe graphs.insert(instance, of: provider.id)
    }
  }
}
