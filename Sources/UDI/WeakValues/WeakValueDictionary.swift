/// A dictionary that holds its values weakly.
///
/// It contains a value for as long as something else keeps the value's object alive.
///
/// ```swift
/// var players = WeakValueDictionary<String, any Player>()
/// players["ann"] = ann
/// players["ann"]?.play()      // plays
/// ann = nil                   // the last strong reference
/// players["ann"]              // nil
/// ```
///
/// `Value` is a class or a protocol type, and the stored values must be class instances. Like `Dictionary`, this is a
/// value type: copies share their storage until one of them changes.
///
/// Reading never returns a value whose object has been released. The entry of such a value is dead. A dictionary with
/// at most 32 entries may keep dead entries for ever. In a larger one, each change checks the next eight entries, drops
/// the dead ones, and goes on as long as it finds any. A dead entry is therefore dropped after at most as many changes
/// as there are entries. If more than half of the entries are dead, the next change very probably drops many. It drops
/// none only if the first eight entries that it checks are all alive, which happens in at most one case out of 256.
/// ``removeDeadValues()`` drops all dead entries at once. An entry whose key does not equal itself, such as
/// `Double.nan`, cannot be found again, and stays.
///
/// To find dead entries, a change loads a few other values for a moment. If the last other reference to one of them is
/// dropped on another thread at that moment, the change releases the value. Therefore, while you change a dictionary,
/// do not hold a lock that the `deinit` of a value takes.
///
/// The dictionary is `Sendable` if its keys and values are. Several threads can safely read one dictionary at the same
/// time.
public struct WeakValueDictionary<Key: Hashable, Value> {
  private var storage: Storage?
  /// The last bucket that was checked for a dead entry. The next change goes on after it.
  private var cursor = 0

  /// Makes an empty dictionary.
  public init() {}

  /// The entries. Copies of the dictionary share them until one of the copies changes.
  private final class Storage {
    // Accesses are not checked for overlaps: the table is reached only through a dictionary, and exclusive access to
    // the dictionary is ensured already. With the check, binding ("bind …" in `Benchmarks/compare`) takes 11 % longer.
    @safe @exclusivity(unchecked) var table: CompactTable<Pair>

    init(_ table: consuming CompactTable<Pair>) { self.table = table }
  }

  struct Pair: CompactTableElement {
    let key: Key
    var entry: WeakEntry

    /// The table itself spreads the hashes, so a key's `hashValue` may be simple and fast to compute, unless an
    /// attacker could choose keys that collide.
    @inline(__always)
    static func hash(_ key: Key) -> UInt { scrambled(UInt(bitPattern: key.hashValue)) }
  }

  /// The storage, for a change. If copies of the dictionary share it, this dictionary first gets its own copy.
  private var uniqueStorage: Storage {
    @inline(__always)
    mutating get {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage?.table.copy() ?? CompactTable()) }
      return storage!
    }
  }

  // MARK: - Reading

  /// Accesses the live value for `key`; nil if there is none.
  ///
  /// Setting a value replaces the previous one; setting nil removes it.
  ///
  /// - Parameter key: The key to look up.
  /// - Precondition: A new value is a class instance.
  /// - Complexity: O(1) on average.
  public subscript(key: Key) -> Value? {
    get { entry(forKey: key)?.load(as: Value.self) }
    set { if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) } }
  }

  /// The number of live values.
  ///
  /// - Complexity: O(entries), because each entry is checked.
  public var count: Int { reduce(0) { count, _ in count + 1 } }

  /// Whether the dictionary has no live value.
  ///
  /// - Complexity: O(1) if the first entry is alive, O(entries) if all are dead.
  public var isEmpty: Bool { !contains { _ in true } }

  /// The number of entries, including dead ones that have not been dropped yet.
  var entryCount: Int { storage?.table.count ?? 0 }

  func entry(forKey key: Key) -> WeakEntry? { storage?.table.find(key)?.element.entry }

  /// Calls `body` with every entry, including dead ones. `body` must not change the dictionary.
  func forEachEntry(_ body: (WeakEntry) -> Void) { storage?.table.forEach { body($0.entry) } }

  // MARK: - Changing

  /// Stores a value under a key.
  ///
  /// - Parameters:
  ///   - value: A class instance. The dictionary does not keep it alive.
  ///   - key: The key. If there is a value for the key already, it is replaced.
  /// - Returns: The live value that was replaced, or nil if there was none.
  /// - Precondition: `value` is a class instance.
  /// - Complexity: Amortised O(1) on average.
  @discardableResult
  public mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
    guard let form = StoredForm.of(value, as: Value.self) else {
      // The message of a precondition would be missing in release builds, and `-Ounchecked` builds would not stop.
      fatalError("A WeakValueDictionary holds class instances; \(type(of: value as Any)) is a value type.")
    }
    let replaced = update(WeakEntry(form), forKey: key)
    withExtendedLifetime(value) {}
    if looksForDeadEntries { dropDeadEntries(looks: Self.patience) }
    return replaced?.load(as: Value.self)
  }

  /// Removes the value for a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The live value that was removed, or nil if there was none.
  /// - Complexity: Amortised O(1) on average.
  @discardableResult
  public mutating func removeValue(forKey key: Key) -> Value? {
    let removed = removeEntry(forKey: key)
    if removed != nil, looksForDeadEntries { dropDeadEntries(looks: Self.patience) }
    return removed?.load(as: Value.self)
  }

  /// Removes all entries.
  public mutating func removeAll() { storage = nil }

  /// Drops all dead entries.
  ///
  /// - Complexity: O(entries).
  public mutating func removeDeadValues() { dropDeadEntries(looks: entryCount) }

  /// Stores an entry, and returns the one that it replaces. Does not look for dead entries: see
  /// `deadEntriesInTurn(looks:keep:)`.
  mutating func update(_ entry: consuming WeakEntry, forKey key: Key) -> WeakEntry? {
    let storage = uniqueStorage
    guard let found = storage.table.find(key) else {
      storage.table.insert(Pair(key: key, entry: entry))
      return nil
    }
    return exchange(&found.element.entry, with: entry)
  }

  /// Removes an entry and returns it. Does not look for dead entries.
  mutating func removeEntry(forKey key: Key) -> WeakEntry? {
    // If there is no such entry, a shared storage need not be copied.
    guard storage != nil, isKnownUniquelyReferenced(&storage) || entry(forKey: key) != nil else { return nil }
    return uniqueStorage.table.remove(key)?.entry
  }

  /// Changes to a dictionary of up to this size do not look for dead entries, so it may keep dead entries for ever.
  private static var smallCount: Int { 32 }
  /// Once a dead entry has been found, the search does not end before this many live entries in a row.
  private static var patience: Int { 8 }

  /// Whether `deadEntriesInTurn(looks:keep:)` should be called after a change.
  var looksForDeadEntries: Bool { entryCount > Self.smallCount }

  /// Checks the next entries for dead ones. The more it finds, the longer it continues. Call this after each change.
  ///
  /// - Parameters:
  ///   - looks: How many live entries to check before giving up. Once a dead entry is found, at least `patience` more
  ///     are checked.
  ///   - keep: Called with each live object and its entry. The reference passed may have become the last one to the
  ///     object, so do not release it under a lock.
  /// - Returns: The dead entries with their keys. They are still in the dictionary.
  mutating func deadEntriesInTurn(looks: Int, keep: (AnyObject, WeakEntry) -> Void) -> [Pair] {
    let storage = uniqueStorage
    let capacity = storage.table.capacity
    var dead: [Pair] = []
    var remaining = looks
    for _ in 0..<capacity {
      if remaining <= 0 { break }
      cursor = (cursor + 1) & (capacity - 1)
      guard let pair = storage.table.element(inBucket: cursor) else { continue }
      if let object = pair.entry.object {
        keep(object, pair.entry)
        remaining -= 1
      } else {
        dead.append(pair)
        remaining = Swift.max(remaining, Self.patience)
      }
    }
    return dead
  }

  private mutating func dropDeadEntries(looks: Int) {
    for pair in deadEntriesInTurn(looks: looks, keep: { _, _ in }) { _ = removeEntry(forKey: pair.key) }
  }
}

// MARK: - Iterating and making

extension WeakValueDictionary: Sequence, ExpressibleByDictionaryLiteral, CustomStringConvertible {
  /// An iterator over the live pairs, in no particular order. The caller holds each returned value strongly.
  public struct Iterator: IteratorProtocol {
    fileprivate let dictionary: WeakValueDictionary
    fileprivate var bucket = 0

    /// Returns the next live pair, or nil at the end.
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

  /// Returns an iterator over the pairs that are alive when the iterator reaches them.
  public func makeIterator() -> Iterator { Iterator(dictionary: self) }

  /// The keys of the live values.
  ///
  /// - Complexity: O(entries).
  public var keys: [Key] { map(\.key) }

  /// The live values. The array holds them strongly.
  ///
  /// - Complexity: O(entries).
  public var values: [Value] { map(\.value) }

  /// Makes a dictionary from a literal. If a key occurs more than once, the last value wins.
  ///
  /// - Parameter elements: The keys and values. The dictionary does not keep the values alive.
  public init(dictionaryLiteral elements: (Key, Value)...) {
    for (key, value) in elements { updateValue(value, forKey: key) }
  }

  /// The live pairs in the format of a dictionary, in no particular order: `["ann": Game.Player]`, or `[:]` if there
  /// are none.
  ///
  /// - Complexity: O(entries).
  public var description: String {
    let pairs = map { "\(String(reflecting: $0.key)): \(String(reflecting: $0.value))" }
    return pairs.isEmpty ? "[:]" : "[\(pairs.joined(separator: ", "))]"
  }
}

// Unchecked: a storage is changed only while a single dictionary refers to it; while several share it, it is only read.
extension WeakValueDictionary: @unchecked Sendable where Key: Sendable, Value: Sendable {}
