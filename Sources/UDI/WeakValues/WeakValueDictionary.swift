/// A dictionary that holds its values weakly: a value is there as long as somebody else keeps its object alive.
///
/// ```swift
/// var players = WeakValueDictionary<String, any Player>()
/// players["ann"] = ann
/// players["ann"]?.play()      // plays
/// ann = nil                   // the last strong reference
/// players["ann"]              // nil
/// ```
///
/// `Value` is a class or a protocol type; the values stored must be class instances. It is a value type like
/// `Dictionary`: copies share storage until one of them changes.
///
/// Reading never gives a dead value. An entry whose object died is dropped in the course of later changes: each
/// change of a dictionary of more than 32 entries looks at eight of them in turn, and for as long as it finds dead ones at the
/// next ones too. So no dead entry outlives as many changes as there are entries, and where more than half are dead
/// the very next change drops most of them, but in one case out of 256. ``removeDeadValues()`` drops all at once.
///
/// It is `Sendable` where its keys and values are. Reading one dictionary from several threads is safe.
public struct WeakValueDictionary<Key: Hashable, Value> {
  private var storage: Storage?
  /// The bucket that the next change looks at for something dead.
  private var cursor = 0

  /// Makes an empty dictionary.
  public init() {}

  /// The entries, shared by copies of the dictionary until one of them changes.
  @safe
  private final class Storage {
    // A table, as the pointer that it is: a `deinit`, which the compiler does not specialise, would have to find out how to let go
    // of one, also where it is empty, at the cost of half a lookup. Unchecked: only reached through a dictionary, and exclusive
    // access to that is checked or known already.
    @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer?

    init(_ table: consuming CompactTable<Pair>) {
      assert(unsafe MemoryLayout<CompactTable<Pair>>.size == MemoryLayout<UnsafeMutableRawPointer?>.size)
      unsafe memory = table.takeMemory()
    }

    deinit { if unsafe memory != nil { freeTable() } }

    @inline(never)
    private func freeTable() { _ = unsafe CompactTable<Pair>(memory) }

    @inline(__always)
    var table: CompactTable<Pair> {
      // Not by way of `tablePointer`: taking an address to change something counts as a change, and threads read at the same time.
      _read {
        var table = unsafe CompactTable<Pair>(memory)
        defer { _ = unsafe table.takeMemory() }
        yield table
      }
      unsafeMutableAddress { unsafe tablePointer }
    }

    /// A table has one property, of the type of `memory`, and so is laid out as that; and a stored property of an object, which no
    /// subclass or observer can stand in front of, stays where it is as long as the object does, which who uses the table holds.
    @inline(__always)
    private var tablePointer: UnsafeMutablePointer<CompactTable<Pair>> {
      unsafe withUnsafeMutablePointer(to: &memory) {
        unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: CompactTable<Pair>.self)
      }
    }
  }

  fileprivate struct Pair: CompactTableElement {
    var key: Key
    var entry: WeakEntry

    @inline(__always)
    static func hash(_ key: Key) -> UInt {
      // The keys of a context's own dictionary are numbered, and nobody chooses the numbers in order to collide. The compiler
      // decides this where it specialises the dictionary.
      if Key.self == BoundKey.self {
        return unsafe withUnsafeBytes(of: key) { bytes in scrambledID(unsafe bytes.load(as: BoundKey.self).id) }
      }
      return scrambled(UInt(bitPattern: key.hashValue))
    }

    @inline(__always)
    static func destroy(_ pair: UnsafeMutablePointer<Pair>) {
      // All its parts, one by one: the whole, which is generic, would be taken apart by way of its metadata, at twice the cost.
      unsafe pair.pointer(to: \.key).unsafelyUnwrapped.deinitialize(count: 1)
      unsafe pair.pointer(to: \.entry).unsafelyUnwrapped.deinitialize(count: 1)
    }
  }

  /// The storage, which no copy of the dictionary shares.
  private var uniqueStorage: Storage {
    @inline(__always)
    mutating get {
      if !isKnownUniquelyReferenced(&storage) {
        storage = Storage(storage?.table.copy() ?? CompactTable())
      }
      return unsafe storage.unsafelyUnwrapped
    }
  }
}

// MARK: - Reading

extension WeakValueDictionary {
  /// The live value for `key`, or nil.
  ///
  /// Setting a value replaces the one that was there; setting nil removes it.
  ///
  /// - Parameter key: The key to look up.
  /// - Precondition: A value that is set is a class instance.
  /// - Complexity: O(1) on average.
  public subscript(key: Key) -> Value? {
    get { entry(forKey: key)?.load(as: Value.self) }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// How many values are alive.
  ///
  /// - Complexity: O(n) in the entries held: each is looked at.
  public var count: Int {
    var count = 0
    storage?.table.forEach { if $0.entry.object != nil { count += 1 } }
    return count
  }

  /// Whether no value is alive.
  ///
  /// - Complexity: O(1) when the first entry is alive, O(n) when all are dead.
  public var isEmpty: Bool { !contains { _ in true } }

  /// How many entries are held, the dead ones that have not been dropped yet included.
  var heldCount: Int { storage?.table.count ?? 0 }

  func entry(forKey key: Key) -> WeakEntry? {
    guard let storage else { return nil }
    return storage.table.find(key)?.element.entry
  }

  /// Releases all entries, in code that is compiled for the types at hand: left to the storage's `deinit`, which the compiler
  /// does not specialise, it would take three times as long.
  mutating func releaseEntries() {
    if isKnownUniquelyReferenced(&storage) { storage?.table = CompactTable() }
    storage = nil
  }

  /// Calls `body` for every entry, dead ones included. It must not change the dictionary.
  func forEachEntry(_ body: (WeakEntry) -> Void) {
    storage?.table.forEach { body($0.entry) }
  }
}

// MARK: - Changing

extension WeakValueDictionary {
  /// Stores a value under a key.
  ///
  /// - Parameters:
  ///   - value: A class instance; it is not kept alive.
  ///   - key: The key; what is there already is replaced.
  /// - Returns: The live value that was replaced, or nil.
  /// - Precondition: `value` is a class instance.
  /// - Complexity: O(1), amortised and on average.
  @discardableResult
  public mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
    guard let form = StoredForm.of(value, as: Value.self) else {
      // Not a precondition: release builds would stop without the message, and `-Ounchecked` would not stop.
      fatalError(
        "A WeakValueDictionary holds class instances; a \(type(of: value as Any)) is a value and would be gone at once."
      )
    }
    let replaced = update(WeakEntry(form), forKey: key)
    withExtendedLifetime(value) {}
    dropDeadEntriesInTurn()
    return replaced?.load(as: Value.self)
  }

  /// Removes the value for a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The live value that was removed, or nil.
  /// - Complexity: O(1), amortised and on average.
  @discardableResult
  public mutating func removeValue(forKey key: Key) -> Value? {
    let removed = removeEntry(forKey: key)
    if removed != nil { dropDeadEntriesInTurn() }
    return removed?.load(as: Value.self)
  }

  /// Removes all entries.
  public mutating func removeAll() { storage = nil }

  /// Drops every entry whose object is dead.
  ///
  /// - Complexity: O(n) in the entries held.
  public mutating func removeDeadValues() {
    guard storage != nil else { return }
    let storage = uniqueStorage
    var dead: [Key] = []
    storage.table.forEach { if $0.entry.object == nil { dead.append($0.key) } }
    for key in dead { storage.table.remove(key) }
  }

  /// Stores an entry and returns the one it replaces. Drops nothing else: see `deadEntriesInTurn()`.
  ///
  /// - Parameter initialCapacity: For how many entries to make room in an empty dictionary.
  mutating func update(_ entry: consuming WeakEntry, forKey key: Key, initialCapacity: Int = 1) -> WeakEntry? {
    let storage = uniqueStorage
    guard let found = storage.table.find(key) else {
      storage.table.insert(Pair(key: key, entry: entry), initialCapacity: initialCapacity)
      return nil
    }
    let replaced = found.element.entry
    found.element.entry = entry
    return replaced
  }

  /// Removes an entry and returns it. Drops nothing else.
  mutating func removeEntry(forKey key: Key) -> WeakEntry? {
    // A shared storage is not copied for nothing.
    guard storage != nil, isKnownUniquelyReferenced(&storage) || entry(forKey: key) != nil else { return nil }
    return uniqueStorage.table.remove(key)?.entry
  }

  /// Dictionaries up to this size are left alone: the constant in what dead entries may cost.
  private static var smallCount: Int { 32 }
  /// How many live entries in a row end a search for dead ones, once one was found.
  private static var patience: Int { 8 }

  /// Whether `deadEntriesInTurn()` is to be called after a change.
  var looksForDeadEntries: Bool { heldCount > Self.smallCount }

  /// Looks at the next entry in turn, and while dead ones are found at more of them; to be called after each change.
  ///
  /// - Parameters:
  ///   - looks: How many live ones in a row end the search while nothing dead was found.
  ///   - keep: Gets the objects that were found alive, and their entries. One of these references may be the last by now: it must not
  ///     be let go of under a lock.
  /// - Returns: The dead entries, which are still in the dictionary.
  mutating func deadEntriesInTurn(looks: Int, keep: (AnyObject, WeakEntry) -> Void) -> [WeakEntry] {
    deadPairsInTurn(looks: looks, keep: keep).map(\.entry)
  }

  private mutating func dropDeadEntriesInTurn() {
    guard heldCount > Self.smallCount else { return }
    var alive: [AnyObject] = []
    for pair in deadPairsInTurn(looks: Self.patience, keep: { object, _ in alive.append(object) }) {
      _ = removeEntry(forKey: pair.key)
    }
  }

  private mutating func deadPairsInTurn(looks: Int, keep: (AnyObject, WeakEntry) -> Void) -> [Pair] {
    let storage = uniqueStorage
    let capacity = storage.table.capacity
    var dead: [Pair] = []
    var remaining = looks
    var looked = 0
    while remaining > 0, looked < capacity {
      cursor = (cursor + 1) & (capacity - 1)
      looked += 1
      guard let element = storage.table.element(inBucket: cursor) else { continue }
      if let object = element.entry.object {
        keep(object, element.entry)
        remaining -= 1
      } else {
        dead.append(element)
        remaining = Self.patience
      }
    }
    return dead
  }
}

// MARK: - Iterating and making

extension WeakValueDictionary: Sequence {
  /// Walks over the live pairs, in no particular order. A value that is handed out is held by whoever receives it.
  public struct Iterator: IteratorProtocol {
    fileprivate let dictionary: WeakValueDictionary
    fileprivate var bucket = 0

    /// The next live pair, or nil at the end.
    public mutating func next() -> (key: Key, value: Value)? {
      guard let storage = dictionary.storage else { return nil }
      while bucket < storage.table.capacity {
        defer { bucket += 1 }
        if let element = storage.table.element(inBucket: bucket), let value = element.entry.load(as: Value.self) {
          return (element.key, value)
        }
      }
      return nil
    }
  }

  /// An iterator over the pairs that are alive when it comes to them.
  public func makeIterator() -> Iterator { Iterator(dictionary: self) }

  /// The keys of the live values.
  ///
  /// - Complexity: O(n) in the entries held.
  public var keys: [Key] { map(\.key) }

  /// The live values, held strongly by the array.
  ///
  /// - Complexity: O(n) in the entries held.
  public var values: [Value] { map(\.value) }
}

extension WeakValueDictionary: ExpressibleByDictionaryLiteral {
  /// Makes a dictionary of a literal. Where a key stands twice the last one counts.
  ///
  /// - Parameter elements: Keys and values; the values are not kept alive.
  public init(dictionaryLiteral elements: (Key, Value)...) {
    for (key, value) in elements { updateValue(value, forKey: key) }
  }
}

extension WeakValueDictionary: CustomStringConvertible, CustomDebugStringConvertible {
  /// The live pairs, in the form of a dictionary's: `["ann": Game.Player]`, in no particular order; `[:]` where there are none.
  ///
  /// - Complexity: O(n) in the entries held.
  public var description: String {
    let pairs = map { "\(String(reflecting: $0.key)): \(String(reflecting: $0.value))" }
    return pairs.isEmpty ? "[:]" : "[\(pairs.joined(separator: ", "))]"
  }

  /// The same as ``description``, as a dictionary has it.
  public var debugDescription: String { description }
}

// Unchecked: the storage is changed only while one dictionary alone refers to it, and read-only while it is shared.
extension WeakValueDictionary: @unchecked Sendable where Key: Sendable, Value: Sendable {}
