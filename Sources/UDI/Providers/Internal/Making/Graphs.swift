/// What one outermost link shares under the lifetime `.graph`. The link has a graph of its own, and each instance that
/// it makes and that is kept has another one. Only the link's thread uses this.
struct Graphs: ~Copyable {
  /// The number of the graph in which the link is making something now; 0 for the link's own graph.
  var number: UInt = 0
  /// The number of the last graph that has begun.
  private var lastNumber: UInt = 0
  private var shared = CompactTable<Element>()
  /// What was made with arguments, by the hashes of the arguments.
  private var sharedWithArguments: [Key: [Int: [(arguments: ArgumentKey, instance: Instance)]]] = [:]

  // Not private, because the compiler (Swift 6.3) crashes if they are.
  struct Key: Hashable {
    /// The provider's `id`.
    let provider: UInt
    let number: UInt
  }

  struct Element: CompactTableElement {
    let key: Key
    let instance: Instance
    static func hash(_ key: Key) -> UInt { scrambled(key.provider) }
  }

  init() {}

  /// Begins the graph of an instance that is kept.
  mutating func begin() {
    lastNumber += 1
    number = lastNumber
  }

  @inline(__always)
  private func key(_ provider: UInt) -> Key { Key(provider: provider, number: number) }

  /// What a provider made without arguments.
  @inline(__always)
  func find(_ provider: UInt) -> Instance? { shared.find(key(provider))?.element.instance }

  /// Writes a provider's instance to memory for an optional of the provider's type, if the instance is an object that
  /// can be written without a cast.
  @inline(__always)
  func write(_ provider: UInt, to memory: UnsafeMutableRawPointer) -> Bool {
    guard let found = shared.find(key(provider)), found.element.instance.form.isComplete else { return false }
    unsafe found.element.instance.form.write(found.element.instance.object, to: memory)
    return true
  }

  /// What a provider made with arguments that have this hash.
  func candidates(_ provider: UInt, _ digest: Int) -> [(arguments: ArgumentKey, instance: Instance)] {
    sharedWithArguments[key(provider)]?[digest] ?? []
  }

  @inline(__always)
  mutating func insert(_ instance: Instance, _ provider: UInt) {
    shared.insert(Element(key: key(provider), instance: instance), initialCapacity: 16)
  }

  mutating func insert(_ instance: Instance, _ provider: UInt, _ arguments: ArgumentKey) {
    sharedWithArguments[key(provider), default: [:]][arguments.digest, default: []].append((arguments, instance))
  }

  /// Whether nothing is shared.
  var isEmpty: Bool { shared.isEmpty && sharedWithArguments.isEmpty }

  /// Begins to count graphs anew, for the next outermost link.
  mutating func restart() { (number, lastNumber) = (0, 0) }

  /// Releases what is shared. Keeps the memory, which the next link may use again.
  mutating func removeAll() {
    restart()
    sharedWithArguments = [:]
    shared.removeAll()
  }

  /// Whether it has so little memory that the memory is kept for the next link.
  var isWorthKeeping: Bool { shared.capacity <= 64 }
  /// Whether it has no memory.
  var isUnused: Bool { shared.capacity == 0 }
}
