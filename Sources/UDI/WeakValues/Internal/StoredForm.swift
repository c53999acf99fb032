/// The words with which a value of a protocol or class type stores a reference to an object.
///
/// An existential consists of the reference and, behind it, what the compiler knows about the object's type. For a
/// class-bound protocol, these are the witness tables. For any other protocol, the reference is in the first word of a
/// three-word buffer, whose other words are not used; behind the buffer are the metadata and the witness tables. (Type
/// Layout, "Existential Containers", in the Swift repository: docs/ABI/TypeLayout.rst.) To hand out a value again, it
/// is enough to write these words around a new strong reference. A cast would look up the conformance each time, which
/// takes two to four times as long as the whole lookup.
///
/// This is sound because the words were recorded from a live value of the same type with the same object, and all of
/// them except the reference are constants of the object's dynamic type. If a value's dynamic type is a class, the
/// value is of a class type, or is an existential that holds the reference in its first word. The exception is
/// `any Error`, which uses a box. The library compares the first word with the object's address. If they differ, or if
/// the size is not as expected, the form is incomplete and a cast is used.
@usableFromInline
@safe
struct StoredForm {
  /// The object's address: the first word.
  @usableFromInline let address: UInt
  /// The other words that matter: the second and third or, if there is a three-word buffer, the fourth and fifth.
  @usableFromInline let words: (UInt, UInt)
  /// The number of words of a value. For a class or a class-bound protocol, it is one to three. For a protocol that is
  /// not class-bound, it is four if there is no witness table, as for `Any`, and five if there is one. It is 0 if the
  /// form is incomplete, which means that the recorded words do not suffice to rebuild a value.
  @usableFromInline let wordCount: UInt8

  @usableFromInline
  init(address: UInt, words: (UInt, UInt), wordCount: UInt8) {
    self.address = address
    self.words = words
    self.wordCount = wordCount
  }

  /// The form of nothing.
  @usableFromInline static var none: StoredForm { StoredForm(address: 0, words: (0, 0), wordCount: 0) }

  @usableFromInline var isComplete: Bool { wordCount != 0 }

  /// The object, retained. Use this only while the dependency that the form was taken from is known to be alive.
  @usableFromInline var object: AnyObject { borrowed.object }

  /// The object. Use this only while the dependency that the form was taken from is known to be alive.
  var borrowed: Unretained<AnyObject> { unsafe Unretained(address: address) }

  /// Writes a value of the type that the form was taken from to `memory`, which then owns `object`.
  ///
  /// - Parameter memory: Uninitialised memory for a value of that type.
  @inline(__always)
  func write(_ object: consuming AnyObject, to memory: UnsafeMutableRawPointer) {
    // Initialising the memory hands the reference over, instead of retaining it once more.
    unsafe memory.initializeMemory(as: AnyObject.self, to: object)
    let word = MemoryLayout<UInt>.size
    if wordCount == 2 {
      unsafe memory.storeBytes(of: words.0, toByteOffset: word, as: UInt.self)
    } else if wordCount == 3 {
      unsafe memory.storeBytes(of: words.0, toByteOffset: word, as: UInt.self)
      unsafe memory.storeBytes(of: words.1, toByteOffset: 2 * word, as: UInt.self)
    } else if wordCount > 3 {
      // The second and third word of the buffer are not used.
      unsafe memory.storeBytes(of: words.0, toByteOffset: 3 * word, as: UInt.self)
      if wordCount == 5 { unsafe memory.storeBytes(of: words.1, toByteOffset: 4 * word, as: UInt.self) }
    }
  }
}

// MARK: - Taking a dependency apart

extension StoredForm {
  /// Makes the form of a value that has one to three words and whose type holds references (`holdsReferences`).
  @inlinable
  @inline(__always)
  init(references memory: UnsafeRawPointer, size: Int) {
    let word = MemoryLayout<UInt>.size
    unsafe self.init(
      address: memory.load(as: UInt.self),
      words: (
        size > word ? memory.load(fromByteOffset: word, as: UInt.self) : 0,
        size > 2 * word ? memory.load(fromByteOffset: 2 * word, as: UInt.self) : 0
      ),
      wordCount: UInt8(truncatingIfNeeded: size / word))
  }

  /// Returns the form of a dependency, which must be kept alive as long as the form's `borrowed` is used.
  ///
  /// - Returns: Nil if the dependency is not a class instance: a struct, an enum or an Optional cannot be held weakly.
  @inlinable
  @inline(__always)
  static func of<Dependency>(_ dependency: Dependency, as type: Dependency.Type) -> StoredForm? {
    let size = MemoryLayout<Dependency>.size
    let word = MemoryLayout<UInt>.size
    // The first two conditions are checked without calling the library, and exclude most values.
    if size.isMultiple(of: word), 1...3 ~= size / word, holdsReferences(type) {
      return unsafe withUnsafePointer(to: dependency) {
        unsafe StoredForm(references: UnsafeRawPointer($0), size: size)
      }
    }
    return examine(dependency, as: type)
  }

  /// Does the same as `of(_:as:)` if the type's token is known. With another search for the token, the benchmark "make a
  /// scope, bind 3, link 5, end it" would take 1 % longer.
  @inline(__always)
  static func of<Dependency>(_ dependency: Dependency, as type: Dependency.Type, _ token: TypeToken) -> StoredForm? {
    guard token.holdsReferences else { return examine(dependency, as: type) }
    return unsafe withUnsafePointer(to: dependency) {
      unsafe StoredForm(references: UnsafeRawPointer($0), size: MemoryLayout<Dependency>.size)
    }
  }

  @usableFromInline
  static func holdsReferences(_ type: Any.Type) -> Bool { TypeToken.of(type).holdsReferences }

  /// Checks whether a dependency is a class instance.
  @usableFromInline
  static func examine<Dependency>(_ dependency: Dependency, as type: Dependency.Type) -> StoredForm? {
    // This does not use `as AnyObject`, which succeeds for every value by boxing it.
    guard let metatype = Swift.type(of: dependency as Any) as? AnyClass else { return nil }
    guard let object = object(in: dependency, of: metatype) else { return nil }
    let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    let word = MemoryLayout<UInt>.size
    let incomplete = StoredForm(address: address, words: (0, 0), wordCount: 0)
    let size = MemoryLayout<Dependency>.size
    // On Apple's systems, an `any Error` is sometimes the reference to the object itself; otherwise it refers to a box.
    guard size == 4 * word || size == 5 * word, type != (any Error).self else { return incomplete }
    return unsafe withUnsafeBytes(of: dependency) { bytes in
      func load(_ index: Int) -> UInt { unsafe bytes.load(fromByteOffset: index * word, as: UInt.self) }
      // Here the metadata is behind the buffer. In a value of a class-bound type with many protocols, which can have
      // the same size, there would be a witness table instead.
      guard load(0) == address, unsafe load(3) == unsafeBitCast(metatype, to: UInt.self) else { return incomplete }
      let wordCount = UInt8(size / word)
      return StoredForm(
        address: address, words: (load(3), wordCount == 5 ? load(4) : 0), wordCount: wordCount)
    }
  }

  /// The object itself. For an instance stored as `any Error`, `as AnyObject` would return its box.
  private static func object(in value: Any, of metatype: AnyClass) -> AnyObject? {
    func cast<Class: AnyObject>(to _: Class.Type) -> AnyObject? { value as? Class }
    return cast(to: metatype)
  }
}
