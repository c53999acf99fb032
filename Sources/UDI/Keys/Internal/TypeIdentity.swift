import Synchronization

/// The result of `String(reflecting:)` for a type, interned: there is one instance for each distinct string, for ever.
///
/// The types of a program are limited in number, so nothing here is freed.
///
/// The identity is also the key of the type without a name. Its id is unique among types, never reused, above
/// `lastReservedID` and below `KeyIdentity.namedBit`.
final class TypeIdentity: KeyIdentity, @unchecked Sendable {
  // Unchecked because its superclass is; it adds only constants and atomics.

  /// The first type that was seen with this string. A few types share their string with another, for example
  /// `((() -> Void) -> Void).self` and `((@escaping () -> Void) -> Void).self`. They are one dependency, but stored
  /// values of the one type must not be read as the other without a cast.
  let metatype: ObjectIdentifier
  /// How many live `KeyIdentity` objects give this type a name. While there are none, `linkAll` need not look for them.
  let namedKeys = Atomic<UInt32>(0)
  /// Whether the instances of the class take part in the tree.
  var membership: Membership {
    get { knownMembership.load(ordering: .relaxed) }
    set { knownMembership.store(newValue, ordering: .relaxed) }
  }
  private let knownMembership = Atomic<Membership>(.unknown)
  /// `String(reflecting:)` of the type. It is not stored, because the runtime keeps the text, too.
  // The identifier of a metatype is the metatype. The runtime's name is the same text as `String(reflecting:)`, which
  // would first search all conformances of the program for another way in which the type describes itself. A type cannot
  // have one.
  var text: String { _typeName(unsafe unsafeBitCast(metatype, to: Any.Type.self), qualified: true) }

  /// Whether a class conforms to `UDIObject`, once that has been found out.
  enum Membership: UInt8, AtomicRepresentable {
    case unknown, object, plain
  }

  /// - Parameter id: A reserved id; nil for that of a type.
  init(_ metatype: ObjectIdentifier, id: UInt64? = nil) {
    self.metatype = metatype
    super.init(type: id)
  }

  /// The identity of a type.
  static func of(_ type: Any.Type) -> TypeIdentity { TypeToken.of(type).identity.object }
}

/// A type's identity, and known facts about the type. It takes two nanoseconds to find, except when a type is first
/// seen.
@safe
struct TypeToken {
  // Marked safe because tokens are made from identities alone, and an identity is never freed.

  /// Facts about a type.
  struct Facts: OptionSet {
    let rawValue: UInt

    /// The type is exactly the one as which bindings under its key are normally stored (`TypeIdentity.metatype`), so
    /// that their form fits it.
    static let isExact = Facts(rawValue: LookupForm.exactFacts)
    /// All values of the type are references to class instances, in the first of at most three words: the type is a
    /// class, or a protocol that is bound to classes.
    static let holdsReferences = Facts(rawValue: 8)
  }

  /// The address of the `TypeIdentity`, and in its lowest four bits, which are 0 in an object's address, the facts and
  /// `LookupForm.constantFacts`.
  let word: UInt

  static var factBits: UInt { 15 }

  /// The id of the type's key without a name.
  @inline(__always) var id: UInt64 { UInt64(word >> 4) }
  @inline(__always) var isExact: Bool { facts.contains(.isExact) }
  @inline(__always) var facts: Facts { Facts(rawValue: word & Self.factBits) }
  @inline(__always) var identity: Unretained<TypeIdentity> { Unretained(address: word & ~Self.factBits) }

  @inline(__always)
  static func of(_ type: Any.Type) -> TypeToken { TypeTable.find(ObjectIdentifier(type)) ?? TypeTable.intern(type) }

  fileprivate init(word: UInt) { self.word = word }

  fileprivate init(_ identity: TypeIdentity, _ type: Any.Type) {
    var facts: Facts = identity.metatype == ObjectIdentifier(type) ? .isExact : []
    if TypeMetadata(type).holdsReferences { facts.insert(.holdsReferences) }
    let address = Unretained(identity).address
    precondition(address & Self.factBits == 0, "objects are aligned to 16 bytes")
    word = address | LookupForm.constantFacts | facts.rawValue
  }
}

/// A table from metatypes to identities: a hash table that is read without a lock, and to which entries are only added.
///
/// Writers are serialised by `lock`. They fill in a bucket's token and then publish its key with a releasing store,
/// which a reader's acquiring load of the key matches. A table that has become too small is replaced by a copy of twice
/// the size. The old one is never freed, because a reader may still be using it; all old tables together are as large
/// as the current one.
private enum TypeTable {
  /// A bucket is empty while its `metatype` is 0.
  struct Bucket: ~Copyable {
    let metatype = Atomic<UInt>(0)
    let token = Atomic<UInt>(0)
  }

  /// The address of the buckets, and the shift that turns a hash into an index (the bits of a word minus log2 of the
  /// number of buckets). Both are in one word, so that they are read together: the address is aligned so that its low
  /// six bits are free.
  static let current = Atomic<UInt>(0)

  static let lock = Lock()
  /// Guarded by `lock`: the identities of types that may share their text with others, by the hash of the text. If
  /// several have the same hash, the second one is under the next number, and so on.
  nonisolated(unsafe) static var byHash: [Int: Unretained<TypeIdentity>] = [:]
  /// Guarded by `lock`: how many buckets are taken.
  nonisolated(unsafe) static var count = 0
  /// Guarded by `lock`: the tables that were replaced. They are never freed, because a reader may still be using one;
  /// all together, they are smaller than the current one. Their addresses are stored so that a leak checker sees that
  /// they are not lost.
  private nonisolated(unsafe) static var replaced: [UInt] = []

  @inline(__always)
  static func find(_ metatype: ObjectIdentifier) -> TypeToken? {
    guard let bucket = unsafe bucket(metatype) else { return nil }
    return unsafe TypeToken(word: bucket.pointee.token.load(ordering: .relaxed))
  }

  @inline(__always)
  private static func bucket(_ metatype: ObjectIdentifier) -> UnsafeMutablePointer<Bucket>? {
    let packed = current.load(ordering: .acquiring)
    guard packed != 0 else { return nil }
    let address = UInt(bitPattern: metatype)
    let buckets = unsafe Buckets(packed)
    var index = unsafe buckets.start(address)
    while true {
      let bucket = unsafe buckets.base + index
      let found = unsafe bucket.pointee.metatype.load(ordering: .acquiring)
      if found == address { return unsafe bucket }
      if found == 0 { return nil }
      index = unsafe (index &+ 1) & buckets.mask
    }
  }

  @inline(never)
  static func intern(_ type: Any.Type) -> TypeToken {
    let metatype = ObjectIdentifier(type)
    // Computing the text takes longer than all the rest.
    let text = TypeMetadata(type).hasTextOfItsOwn ? nil : _typeName(type, qualified: true)
    return lock.withLock {
      if let found = find(metatype) { return found }
      let identity = text.map { sharedIdentity($0, metatype) } ?? TypeIdentity(metatype)
      // For ever.
      Unretained(identity).retain()
      let token = TypeToken(identity, type)
      grow()
      unsafe Buckets(current.load(ordering: .relaxed)).insert(metatype: UInt(bitPattern: metatype), token: token.word)
      unsafe count += 1
      return token
    }
  }

  /// The identity of a type that may share its text with others. Called under `lock`.
  private static func sharedIdentity(_ text: String, _ metatype: ObjectIdentifier) -> TypeIdentity {
    var hash = text.hashValue
    while let found = unsafe byHash[hash]?.object {
      if found.text == text { return found }
      hash &+= 1
    }
    let new = TypeIdentity(metatype)
    unsafe byHash[hash] = Unretained(new)
    return new
  }

  /// Makes room for one more: at most three quarters of the buckets are in use.
  static func grow() {
    let packed = current.load(ordering: .relaxed)
    if packed == 0 {
      unsafe current.store(Buckets(bits: 6).packed, ordering: .releasing)
      return
    }
    let old = unsafe Buckets(packed)
    guard unsafe (count + 1) * 4 > (old.mask + 1) * 3 else { return }
    let new = unsafe Buckets(bits: Buckets.wordBits + 1 - old.shift)
    for index in unsafe 0...old.mask {
      let metatype = unsafe old.base[index].metatype.load(ordering: .relaxed)
      if metatype != 0 {
        unsafe new.insert(metatype: metatype, token: old.base[index].token.load(ordering: .relaxed))
      }
    }
    unsafe replaced.append(UInt(bitPattern: old.base))
    unsafe current.store(new.packed, ordering: .releasing)
  }

  /// One table: `current`, unpacked.
  @unsafe
  struct Buckets {
    let base: UnsafeMutablePointer<Bucket>
    let shift: UInt

    @inline(__always) static var wordBits: UInt { UInt(UInt.bitWidth) }

    @inline(__always)
    init(_ packed: UInt) {
      unsafe base = UnsafeMutablePointer(bitPattern: packed & ~63).unsafelyUnwrapped
      unsafe shift = packed & 63
    }

    /// Allocates an empty table of 2^`bits` buckets.
    init(bits: UInt) {
      let count = 1 << Int(bits)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<Bucket>.stride, alignment: 64)
      unsafe base = memory.bindMemory(to: Bucket.self, capacity: count)
      for index in 0..<count { unsafe (base + index).initialize(to: Bucket()) }
      unsafe shift = Self.wordBits - bits
    }

    var packed: UInt { unsafe UInt(bitPattern: base) | shift }
    @inline(__always) var mask: Int { unsafe (1 &<< Int(truncatingIfNeeded: Self.wordBits &- shift)) &- 1 }
    @inline(__always) func start(_ address: UInt) -> Int {
      unsafe Int(truncatingIfNeeded: scrambled(address) &>> shift)
    }

    func insert(metatype: UInt, token: UInt) {
      var index = unsafe start(metatype)
      while unsafe base[index].metatype.load(ordering: .relaxed) != 0 { index = unsafe (index + 1) & mask }
      unsafe base[index].token.store(token, ordering: .relaxed)
      unsafe base[index].metatype.store(metatype, ordering: .releasing)
    }
  }
}

/// Spreads an integer over the high bits of a word (multiplicative hashing with the golden ratio: Knuth, The Art of
/// Computer Programming, volume 3, section 6.4). It is for addresses and counters, which nobody chooses in order to
/// cause collisions.
@inline(__always)
func scrambled<Word: FixedWidthInteger & UnsignedInteger>(_ value: Word) -> Word {
  value &* highBits(0x9E37_79B9_7F4A_7C15)
}

/// Does the same to an id, which has 64 bits on every platform, for a table whose hashes are words.
@inline(__always)
func scrambledID<Word: FixedWidthInteger & UnsignedInteger>(_ id: UInt64) -> Word { highBits(scrambled(id)) }

/// The high bits of an integer, as many as a word has.
@inline(__always)
private func highBits<Word: FixedWidthInteger & UnsignedInteger>(_ value: UInt64) -> Word {
  Word(truncatingIfNeeded: value >> UInt64(64 - Word.bitWidth))
}
