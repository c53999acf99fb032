/// The words in which a value of a protocol or class type stores a reference to an object.
///
/// An existential is the reference and, behind it, what the compiler knows of the object's type: witness tables, and for a protocol
/// that is not bound to classes the metadata, at the end of a three-word buffer of which only the first word is in use.
/// (Type Layout, "Existential Containers", in the Swift repository: docs/ABI/TypeLayout.rst.) To hand out a value again
/// it is enough to write those words around a new strong reference; a cast would look up the conformance each time, at
/// twice to four times the cost of the whole lookup.
///
/// Why that is sound: the words are those of a value of the same type with the same object, recorded while it was
/// alive, and all but the reference itself are constants of the object's dynamic type. A value whose dynamic type is a
/// class is of a class type, or an existential that holds the reference in its first word; the one exception is
/// `any Error`, which boxes. The first word is compared with the object's address, and where that or the size is not
/// as expected the form is incomplete and a cast is used.
@usableFromInline
@safe
struct StoredForm {
  /// The object's address: the first word.
  @usableFromInline let address: UInt
  /// The words behind it that matter: the second and third, or, with a buffer of three words, the fourth and fifth.
  @usableFromInline let words: (UInt, UInt)
  @usableFromInline let shape: Shape

  /// How many words a value has, and so which of them are recorded.
  @usableFromInline
  enum Shape: UInt8 {
    /// What is recorded does not suffice to rebuild a value.
    case incomplete
    /// A class, or a protocol bound to classes, by the number of words.
    case one, two, three
    /// A protocol that is not bound to classes: `Any`, or with one witness table.
    case open, openWithWitness
  }

  @usableFromInline
  init(address: UInt, words: (UInt, UInt), shape: Shape) {
    self.address = address
    self.words = words
    self.shape = shape
  }

  /// Of nothing.
  @usableFromInline static var none: StoredForm { StoredForm(address: 0, words: (0, 0), shape: .incomplete) }

  @usableFromInline var isComplete: Bool { shape != .incomplete }

  /// The object, retained. Only while the dependency that the form was taken of is known to be alive.
  @usableFromInline var object: AnyObject { borrowed.object }

  /// The object. Only while the dependency that the form was taken of is known to be alive.
  var borrowed: Unretained<AnyObject> { Unretained(address: address) }

  /// Makes a value of the captured type at `memory`, which then owns `object`.
  ///
  /// - Parameter memory: Uninitialised memory for a value of the type that the form was captured from.
  @inline(__always)
  func write(_ object: consuming AnyObject, to memory: UnsafeMutableRawPointer) {
    // As an initialisation, which hands over the reference instead of counting it once more.
    unsafe memory.initializeMemory(as: AnyObject.self, to: object)
    // The rest in pairs, because that is how the caller will read them: a load that spans two recent stores waits until both
    // have reached the cache, and that costs as much as a lock.
    let word = MemoryLayout<UInt>.size
    switch shape {
    case .incomplete, .one: break
    case .two:
      let reference = unsafe memory.load(as: UInt.self)
      unsafe memory.storeBytes(of: SIMD2(reference, words.0), as: SIMD2<UInt>.self)
    case .three:
      unsafe memory.storeBytes(of: words.0, toByteOffset: word, as: UInt.self)
      unsafe memory.storeBytes(of: words.1, toByteOffset: 2 * word, as: UInt.self)
    case .open, .openWithWitness:
      // The buffer's second and third word are not in use.
      let reference = unsafe memory.load(as: UInt.self)
      unsafe memory.storeBytes(of: SIMD2(reference, 0), as: SIMD2<UInt>.self)
      unsafe memory.storeBytes(of: SIMD2(0, words.0), toByteOffset: 2 * word, as: SIMD2<UInt>.self)
      if shape == .openWithWitness { unsafe memory.storeBytes(of: words.1, toByteOffset: 4 * word, as: UInt.self) }
    }
  }
}

// MARK: - Taking a dependency apart

extension StoredForm {
  /// The form of a value of a type that `holdsReferences`, of one to three words.
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
      shape: size == word ? .one : size == 2 * word ? .two : .three)
  }

  /// The form of a dependency, which must be kept alive as long as the form's `borrowed` is used.
  ///
  /// - Returns: Nil if it is no class instance: a value of a struct or an enum, an Optional among them, cannot be held weakly.
  @inlinable
  @inline(__always)
  static func of<Dependency>(_ dependency: Dependency, as type: Dependency.Type) -> StoredForm? {
    let size = MemoryLayout<Dependency>.size
    let word = MemoryLayout<UInt>.size
    // Three words at the most: then the type is a class or bound to classes if only one value of it was a class instance.
    if size.isMultiple(of: word), 1...3 ~= size / word, holdsReferences(type) {
      return unsafe withUnsafePointer(to: dependency) {
        unsafe StoredForm(references: UnsafeRawPointer($0), size: size)
      }
    }
    return examine(dependency, as: type)
  }

  @usableFromInline
  static func holdsReferences(_ type: Any.Type) -> Bool { TypeToken.of(type).facts.contains(.holdsReferences) }

  /// Finds out whether a dependency is a class instance, and remembers that of its type where it then holds for every value.
  @usableFromInline
  static func examine<Dependency>(_ dependency: Dependency, as type: Dependency.Type) -> StoredForm? {
    // Not `as AnyObject`, which succeeds for every value by boxing it.
    guard let metatype = Swift.type(of: dependency as Any) as? AnyClass else { return nil }
    guard let object = object(in: dependency, of: metatype) else { return nil }
    let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    let word = MemoryLayout<UInt>.size
    let count = MemoryLayout<Dependency>.size / word
    let incomplete = StoredForm(address: address, words: (0, 0), shape: .incomplete)
    guard MemoryLayout<Dependency>.size == count * word, 1...5 ~= count else { return incomplete }
    // Sometimes the reference, on Apple's systems, sometimes one to a box.
    if type == (any Error).self { return incomplete }
    return unsafe withUnsafeBytes(of: dependency) { bytes in
      func load(_ index: Int) -> UInt {
        unsafe index < count ? bytes.load(fromByteOffset: index * word, as: UInt.self) : 0
      }
      guard load(0) == address else { return incomplete }
      if count <= 3 {
        TypeToken.note(.holdsReferences, of: type)
        return StoredForm(address: address, words: (load(1), load(2)), shape: [.one, .two, .three][count - 1])
      }
      // The metadata stands behind the buffer. Were the type bound to classes, with many protocols, there would be a witness table.
      let metadata = unsafe unsafeBitCast(metatype, to: UInt.self)
      guard load(3) == metadata else { return incomplete }
      return StoredForm(address: address, words: (load(3), load(4)), shape: count == 4 ? .open : .openWithWitness)
    }
  }

  /// The object itself: for an instance stored as `any Error`, `as AnyObject` would give the box that it sits in.
  private static func object(in value: Any, of metatype: AnyClass) -> AnyObject? {
    func cast<Class: AnyObject>(to _: Class.Type) -> AnyObject? { value as? Class }
    return cast(to: metatype)
  }
}
