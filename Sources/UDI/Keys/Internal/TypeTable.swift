import Synchronization

/// A hash table with linear probing that maps metatypes to tokens. It is read without a lock. Entries are added but
/// never removed.
///
/// A writer holds `lock`. It first stores the token in a bucket, and then publishes the bucket by storing the metatype
/// with releasing order. A reader loads the metatype with acquiring order, so it sees the token as well. When a table
/// has become too small, a copy of twice the size replaces it. The old table is never freed, because a reader might
/// still use it; all old tables together are smaller than the current one. A table's memory is therefore always valid,
/// which is why the type is marked safe.
@safe
struct TypeTable {
  /// A bucket is empty while its `metatype` is 0.
  private struct Bucket: ~Copyable {
    let metatype = Atomic<UInt>(0)
    let token = Atomic<UInt>(0)
  }

  private let buckets: UnsafeMutablePointer<Bucket>
  /// A hash, shifted right by this many bits, is the index of the bucket where the search for it begins. The number is
  /// the number of bits in a word, minus log2 of the number of buckets.
  private let shift: UInt

  /// Allocates an empty table of 2^`bits` buckets.
  private init(bits: UInt) {
    let count = 1 << Int(bits)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<Bucket>.stride, alignment: 64)
    unsafe buckets = memory.bindMemory(to: Bucket.self, capacity: count)
    for index in 0..<count { unsafe (buckets + index).initialize(to: Bucket()) }
    shift = UInt(UInt.bitWidth) - bits
  }

  /// The address of the buckets and the shift in one word, so that a reader gets both at once. The address is aligned
  /// to 64 bytes, so its lowest six bits are free for the shift.
  private var packed: UInt { unsafe UInt(bitPattern: buckets) | shift }

  /// - Parameter packed: A table's `packed`.
  @inline(__always)
  @unsafe private init(packed: UInt) {
    unsafe buckets = UnsafeMutablePointer(bitPattern: packed & ~63).unsafelyUnwrapped
    shift = packed & 63
  }

  @inline(__always) private var mask: Int { (1 &<< Int(truncatingIfNeeded: UInt(UInt.bitWidth) &- shift)) &- 1 }

  /// The bucket that contains the given metatype or, if there is none, the empty bucket where it would be stored.
  @inline(__always)
  private func bucket(_ metatype: UInt) -> (UnsafeMutablePointer<Bucket>, isTaken: Bool) {
    var index = Int(truncatingIfNeeded: scrambled(metatype) &>> shift)
    while true {
      let bucket = unsafe buckets + index
      let found = unsafe bucket.pointee.metatype.load(ordering: .acquiring)
      if found == metatype { return unsafe (bucket, true) }
      if found == 0 { return unsafe (bucket, false) }
      index = (index &+ 1) & mask
    }
  }

  private func insert(_ metatype: UInt, _ token: UInt) {
    let (bucket, _) = unsafe bucket(metatype)
    unsafe bucket.pointee.token.store(token, ordering: .relaxed)
    unsafe bucket.pointee.metatype.store(metatype, ordering: .releasing)
  }

  /// Makes a table of twice the size with the same entries.
  private func doubled() -> TypeTable {
    let new = TypeTable(bits: UInt(UInt.bitWidth) + 1 - shift)
    for index in 0...mask {
      let bucket = unsafe buckets + index
      let metatype = unsafe bucket.pointee.metatype.load(ordering: .relaxed)
      if metatype != 0 { unsafe new.insert(metatype, bucket.pointee.token.load(ordering: .relaxed)) }
    }
    return new
  }
}

// MARK: - The process's table

extension TypeTable {
  /// The table's `packed`; 0 until the first type is interned.
  private static let current = Atomic<UInt>(0)

  private static let lock = Lock()
  /// The identities of types that might have the same text as others, by the hash of the text. If several texts have
  /// the same hash, the second text's identity is stored under the next integer, and so on. Guarded by `lock`.
  private nonisolated(unsafe) static var byHash: [Int: TypeIdentity] = [:]
  /// How many buckets are taken. Guarded by `lock`.
  private nonisolated(unsafe) static var count = 0
  /// The tables that have been replaced. They are kept here, so that a leak checker does not report them. Guarded by
  /// `lock`.
  private nonisolated(unsafe) static var replaced: [TypeTable] = []

  /// The token of the given type, if the type has been interned.
  @inline(__always)
  static func find(_ type: Any.Type) -> TypeToken? {
    let packed = current.load(ordering: .acquiring)
    guard packed != 0 else { return nil }
    let (bucket, isTaken) = unsafe TypeTable(packed: packed).bucket(UInt(bitPattern: ObjectIdentifier(type)))
    return unsafe isTaken ? TypeToken(word: bucket.pointee.token.load(ordering: .relaxed)) : nil
  }

  @inline(never)
  static func intern(_ type: Any.Type) -> TypeToken {
    let metatype = ObjectIdentifier(type)
    // Computing the text takes longer than everything else, so it is done only if necessary, and before the lock is
    // taken.
    let text = TypeMetadata(type).hasTextOfItsOwn ? nil : _typeName(type, qualified: true)
    return lock.withLock {
      if let found = find(type) { return found }
      let identity = text.map { sharedIdentity($0, metatype) } ?? TypeIdentity(metatype)
      // The identity is never released.
      Unretained(identity).retain()
      let token = TypeToken(identity, type)
      withRoom().insert(UInt(bitPattern: metatype), token.word)
      unsafe count += 1
      return token
    }
  }

  /// Finds or makes the identity of the given type, which might have the same text as others. Call this under `lock`.
  private static func sharedIdentity(_ text: String, _ metatype: ObjectIdentifier) -> TypeIdentity {
    var hash = text.hashValue
    while let found = unsafe byHash[hash] {
      if found.text == text { return found }
      hash &+= 1
    }
    let new = TypeIdentity(metatype)
    unsafe byHash[hash] = new
    return new
  }

  /// Returns a table with room for one more entry. If more than three quarters of the buckets would then be taken,
  /// replaces the table first. Call this under `lock`.
  private static func withRoom() -> TypeTable {
    let packed = current.load(ordering: .relaxed)
    var table = packed == 0 ? TypeTable(bits: 6) : unsafe TypeTable(packed: packed)
    if unsafe (count + 1) * 4 > (table.mask + 1) * 3 {
      unsafe replaced.append(table)
      table = table.doubled()
    }
    if table.packed != packed { current.store(table.packed, ordering: .releasing) }
    return table
  }
}
