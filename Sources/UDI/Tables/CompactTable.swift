/// An element of a `CompactTable`. The element contains its own key.
protocol CompactTableElement {
  associatedtype Key: Equatable
  var key: Key { get }
  /// Returns a hash that distributes the keys over all bits of a word, above all over the high ones. Dense tables do
  /// not call this method.
  static func hash(_ key: Key) -> UInt
}

/// A set of objects that are not retained. It is compiled once, whatever the class of the objects.
typealias ObjectSet = CompactTable<Unretained<AnyObject>>

/// A hash table in a single allocation, for programs with many small tables. An empty table is only a pointer. A table
/// with room for up to eight elements is dense: an array that is searched from front to back. A larger one is hashed:
/// it uses open addressing with linear probing.
///
/// Elements stay where they are until the next insertion or removal. A removal leaves no marker behind: in a dense
/// table, the last element fills the gap; in a hashed table, the elements after the gap move up (backward-shift
/// deletion: Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithm R). The table shrinks when it has
/// few elements left, and its memory is freed when the last element is removed.
///
/// The memory begins with the header. In a hashed table, a tag byte for each bucket follows, which is 0 if the bucket
/// is empty. Then come the elements. A search begins with the header and the tags, so they are next to each other: in a
/// large tree, the time of a search depends mainly on how many cache lines it touches.
///
/// Complexity: insertion, removal and search take amortised O(1) on average.
@safe
struct CompactTable<Element: CompactTableElement>: ~Copyable {
  private typealias Header = (count: UInt32, capacity: UInt32)

  /// Nil if the table has no memory. The table owns the memory and cannot be copied, so no other table uses it.
  private var base: UnsafeMutableRawPointer?

  private static var denseLimit: Int { 8 }

  deinit {
    if let base = unsafe base {
      unsafe forEachAddress { unsafe $0.deinitialize(count: 1) }
      unsafe freeMemory(base)
    }
  }

  // MARK: Reading

  var isEmpty: Bool { count == 0 }

  @inline(__always)
  var count: Int { Int(header.count) }

  /// The number of buckets, that is, of elements that the memory has room for.
  var capacity: Int { Int(header.capacity) }

  @inline(__always)
  private var header: Header { unsafe base.map { unsafe Self.header($0).pointee } ?? (count: 0, capacity: 0) }

  /// A reference to an element, through which the element can be read and changed. It is valid until the next insertion
  /// or removal.
  ///
  /// Marked safe, because all code uses the reference before it inserts into the table or removes from it. The compiler
  /// cannot check this rule.
  @safe
  struct ElementReference {
    fileprivate let pointer: UnsafeMutablePointer<Element>

    @inline(__always)
    var element: Element {
      unsafeAddress { unsafe UnsafePointer(pointer) }
      nonmutating unsafeMutableAddress { unsafe pointer }
    }
  }

  /// Returns a reference to the element with this key, if there is one.
  @inline(__always)
  func find(_ key: Element.Key) -> ElementReference? {
    guard let base = unsafe base else { return nil }
    let header = unsafe Self.header(base).pointee
    guard header.capacity > Self.denseLimit else {
      let elements = unsafe Self.elements(base, 0)
      for index in 0..<Int(header.count) where unsafe elements[index].key == key {
        return unsafe ElementReference(pointer: elements + index)
      }
      return nil
    }
    let elements = unsafe Self.elements(base, Int(header.capacity))
    return unsafe findHashed(key, base: base, elements: elements, capacity: Int(header.capacity))
  }

  private func findHashed(
    _ key: Element.Key, base: UnsafeMutableRawPointer, elements: UnsafeMutablePointer<Element>, capacity: Int
  ) -> ElementReference? {
    let tags = unsafe Self.tags(base)
    let hash = Element.hash(key)
    let tag = Self.tag(hash)
    var index = Self.home(hash, capacity)
    while true {
      let found = unsafe tags[index]
      if found == 0 { return nil }
      if unsafe found == tag && elements[index].key == key { return unsafe ElementReference(pointer: elements + index) }
      index = (index + 1) & (capacity - 1)
    }
  }

  /// The element in a bucket, or nil if the bucket is empty. Buckets are numbered from 0 up to, but not including,
  /// `capacity`.
  func element(inBucket index: Int) -> Element? {
    guard let base = unsafe base else { return nil }
    let capacity = capacity
    let isTaken = unsafe capacity > Self.denseLimit ? Self.tags(base)[index] != 0 : index < count
    return unsafe isTaken ? Self.elements(base, capacity)[index] : nil
  }

  /// Calls `body` for each element, in no particular order. The table must not change during the call.
  func forEach(_ body: (borrowing Element) -> Void) { unsafe forEachAddress { unsafe body($0.pointee) } }

  /// Calls `body` for each element, in no particular order. `body` may change the element, but not its key.
  mutating func changeEach(_ body: (inout Element) -> Void) { unsafe forEachAddress { unsafe body(&$0.pointee) } }

  /// What `transform` returns for each element, in no particular order.
  func map<Result>(_ transform: (borrowing Element) -> Result) -> [Result] {
    var results: [Result] = []
    if isEmpty { return results }
    results.reserveCapacity(count)
    forEach { results.append(transform($0)) }
    return results
  }

  private func forEachAddress(_ body: (UnsafeMutablePointer<Element>) -> Void) {
    guard let base = unsafe base else { return }
    let (count, capacity) = (count, capacity)
    let elements = unsafe Self.elements(base, capacity)
    // There is one loop for both forms, because `body` is compiled into each loop.
    let tags = unsafe capacity > Self.denseLimit ? Self.tags(base) : nil
    for index in 0..<(unsafe tags == nil ? count : capacity) where unsafe tags?[index] != 0 {
      unsafe body(elements + index)
    }
  }

  /// Makes a table with the same elements.
  func copy() -> CompactTable {
    var copy = CompactTable()
    copy.resize(to: capacity)
    unsafe forEachAddress { unsafe copy.place($0.pointee) }
    return copy
  }

  // MARK: Changing

  /// Adds an element whose key is not in the table.
  ///
  /// - Parameter initialCapacity: The number of elements for which an empty table allocates memory: 1, or a power of
  ///   two that is at least 4.
  mutating func insert(_ element: consuming Element, initialCapacity: Int = 1) {
    let (count, capacity) = (count, capacity)
    let isFull = capacity <= Self.denseLimit ? count == capacity : count * 4 >= capacity * 3
    if isFull { resize(to: capacity == 0 ? initialCapacity : max(4, capacity * 2)) }
    place(element)
  }

  /// Removes the element with this key and returns it.
  @discardableResult
  mutating func remove(_ key: Element.Key) -> Element? {
    guard let base = unsafe base, let pointer = unsafe find(key)?.pointer else { return nil }
    let (count, capacity) = (count - 1, capacity)
    let elements = unsafe Self.elements(base, capacity)
    let removed = unsafe pointer.move()
    unsafe Self.header(base).pointee.count = UInt32(count)
    if capacity <= Self.denseLimit {
      if unsafe pointer != elements + count { unsafe pointer.moveInitialize(from: elements + count, count: 1) }
      if count == 0 { resize(to: 0) } else if capacity > 4, count * 4 <= capacity { resize(to: 4) }
    } else {
      unsafe closeGap(at: pointer - elements, base: base, elements: elements, capacity: capacity)
      if count * 8 <= capacity { resize(to: capacity / 4) }
    }
    return removed
  }

  private func closeGap(
    at gap: Int, base: UnsafeMutableRawPointer, elements: UnsafeMutablePointer<Element>, capacity: Int
  ) {
    let tags = unsafe Self.tags(base)
    let mask = capacity - 1
    var gap = gap
    var index = (gap + 1) & mask
    while unsafe tags[index] != 0 {
      let home = unsafe Self.home(Element.hash(elements[index].key), capacity)
      // The element moves into the gap, unless the element's home bucket is after the gap.
      if (index - home) & mask >= (index - gap) & mask {
        unsafe (elements + gap).moveInitialize(from: elements + index, count: 1)
        unsafe tags[gap] = tags[index]
        gap = index
      }
      index = (index + 1) & mask
    }
    unsafe tags[gap] = 0
  }

  /// Puts an element into its bucket. There must be room for it.
  private mutating func place(_ element: consuming Element) {
    let base = unsafe base.unsafelyUnwrapped
    let capacity = capacity
    var index = count
    if capacity > Self.denseLimit {
      let tags = unsafe Self.tags(base)
      let hash = Element.hash(element.key)
      index = Self.home(hash, capacity)
      while unsafe tags[index] != 0 { index = (index + 1) & (capacity - 1) }
      unsafe tags[index] = Self.tag(hash)
    }
    unsafe Self.header(base).pointee.count += 1
    unsafe (Self.elements(base, capacity) + index).initialize(to: element)
  }

  /// Moves all elements to new memory with room for `capacity` elements. If this is 0, the table must be empty, and its
  /// memory is only freed.
  private mutating func resize(to capacity: Int) {
    var old = CompactTable()
    unsafe swap(&old.base, &base)
    defer { if let memory = unsafe old.base.take() { unsafe freeMemory(memory) } }
    guard capacity > 0 else { return }
    let bytes = Self.elementsOffset(capacity) + capacity * MemoryLayout<Element>.stride
    let memory = unsafe allocateMemory(byteCount: bytes)
    unsafe memory.bindMemory(to: Header.self, capacity: 1).initialize(to: (count: 0, capacity: UInt32(capacity)))
    unsafe (memory + Self.elementsOffset(capacity)).bindMemory(to: Element.self, capacity: capacity)
    if capacity > Self.denseLimit { unsafe Self.tags(memory).initialize(repeating: 0, count: capacity) }
    unsafe base = memory
    unsafe old.forEachAddress { unsafe place($0.move()) }
  }

  // MARK: Layout

  @inline(__always)
  private static func elementsOffset(_ capacity: Int) -> Int {
    let tags = capacity > denseLimit ? capacity : 0
    let mask = MemoryLayout<Element>.alignment - 1
    return (MemoryLayout<Header>.size + tags + mask) & ~mask
  }

  @inline(__always)
  private static func header(_ base: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Header> {
    unsafe base.assumingMemoryBound(to: Header.self)
  }

  @inline(__always)
  private static func elements(_ base: UnsafeMutableRawPointer, _ capacity: Int) -> UnsafeMutablePointer<Element> {
    unsafe (base + elementsOffset(capacity)).assumingMemoryBound(to: Element.self)
  }

  @inline(__always)
  private static func tags(_ base: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt8> {
    unsafe (base + MemoryLayout<Header>.size).assumingMemoryBound(to: UInt8.self)
  }

  /// The bucket at which the search for an element begins: the high bits of its hash.
  @inline(__always)
  static func home<Word: FixedWidthInteger & UnsignedInteger>(_ hash: Word, _ capacity: Int) -> Int {
    Int(truncatingIfNeeded: hash >> Word(truncatingIfNeeded: Word.bitWidth - capacity.trailingZeroBitCount))
  }

  /// The tag byte of a hash. Never 0, because 0 marks an empty bucket.
  @inline(__always)
  private static func tag(_ hash: UInt) -> UInt8 { UInt8(truncatingIfNeeded: hash) | 0x80 }
}

// MARK: - Hashing

/// Spreads an integer over the high bits of a word by multiplicative hashing with the golden ratio (Knuth, The Art of
/// Computer Programming, volume 3, section 6.4). Use this only for integers that nobody can choose in order to make
/// them collide, such as addresses, counters and the standard library's hashes.
@inline(__always)
func scrambled<Word: FixedWidthInteger & UnsignedInteger>(_ value: Word) -> Word {
  value &* Word(truncatingIfNeeded: (0x9E37_79B9_7F4A_7C15 as UInt64) >> UInt64(64 - Word.bitWidth))
}

/// Does the same as `scrambled` for an id, and returns a word. An id has 64 bits on every platform; a word may have
/// fewer.
@inline(__always)
func scrambledID<Word: FixedWidthInteger & UnsignedInteger>(_ id: UInt64) -> Word {
  Word(truncatingIfNeeded: scrambled(id) >> UInt64(64 - Word.bitWidth))
}
