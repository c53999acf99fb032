/// The words that, together with a reference to an object, make up a value of a class or protocol type.
///
/// A value of a protocol type (an existential) consists of the reference, followed by the compiler's information about
/// the object's type. For a class-bound protocol, this information consists of witness tables. For any other protocol,
/// the reference is in the first word of a three-word buffer, whose other words are not used, and the metadata and the
/// witness tables follow the buffer. (Type Layout, "Existential Containers", in the Swift repository:
/// docs/ABI/TypeLayout.rst.) To make a value again, it is enough to write these words next to a new strong reference. A
/// cast would look up the conformance each time, which takes two to four times as long as the whole lookup.
///
/// Writing the words is sound for two reasons. The words were recorded from a live value of the same type with the same
/// object, and all of them except the reference are constants of the object's dynamic type.
///
/// If a value's dynamic type is a class, the value's static type is a class or an existential, and the reference is in
/// the value's first word. The exception is `any Error`, which uses a box. The library therefore compares the first
/// word with the object's address. If they differ, or if the size is unexpected, the form is incomplete, and a cast is
/// used.
@safe
struct StoredForm {
  /// The object's address: the first word.
  let address: UInt
  /// The other relevant words: the second and third or, if there is a three-word buffer, the fourth and fifth.
  let words: (UInt, UInt)
  /// The number of words in a value. For a class or a class-bound protocol, this is one to three. For any other
  /// protocol, it is four without a witness table, as for `Any`, and five with one. It is 0 for an incomplete form,
  /// whose words are not enough to make a value.
  let wordCount: UInt8

  /// An incomplete form that refers to no object.
  static var none: StoredForm { StoredForm(address: 0, words: (0, 0), wordCount: 0) }

  var isComplete: Bool { wordCount != 0 }

  /// The object, retained. Use this only while the dependency from which the form was made is known to be alive.
  var object: AnyObject { borrowed.object }

  /// The object, not retained. Use this only while the dependency from which the form was made is known to be alive.
  var borrowed: Unretained<AnyObject> { unsafe Unretained(address: address) }

  /// Writes a value of the form's type to `memory`, with a new reference to the object. Call this only while the
  /// dependency from which the form was made is known to be alive.
  ///
  /// - Parameter memory: Uninitialised memory for a value of the form's type.
  @inline(__always)
  func write(to memory: UnsafeMutableRawPointer) {
    // The retain comes last, so that a caller which ends with this call can jump to it, and saves no registers.
    unsafe writeWords(to: memory)
    unsafe memory.initializeMemory(as: AnyObject.self, to: object)
  }

  /// Does the same with a reference to the form's object, which the memory takes over, instead of a new one.
  @inline(__always)
  func write(_ object: consuming AnyObject, to memory: UnsafeMutableRawPointer) {
    unsafe memory.initializeMemory(as: AnyObject.self, to: object)
    unsafe writeWords(to: memory)
  }

  @inline(__always)
  private func writeWords(to memory: UnsafeMutableRawPointer) {
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
  /// Makes the form of a value of one to three words whose type `holdsReferences`.
  @inline(__always)
  init(references memory: UnsafeRawPointer, size: Int) {
    let word = MemoryLayout<UInt>.size
    unsafe address = memory.load(as: UInt.self)
    unsafe words = (
      size > word ? memory.load(fromByteOffset: word, as: UInt.self) : 0,
      size > 2 * word ? memory.load(fromByteOffset: 2 * word, as: UInt.self) : 0
    )
    wordCount = UInt8(truncatingIfNeeded: size / word)
  }

  /// Returns the form of a dependency. The dependency must be kept alive as long as the form's `object` or `borrowed`
  /// is used.
  ///
  /// - Returns: The form; nil if the dependency is not a class instance. A struct, an enum or an Optional cannot be
  ///   held weakly.
  @inline(__always)
  static func of<Dependency>(_ dependency: Dependency, as type: Dependency.Type) -> StoredForm? {
    let size = MemoryLayout<Dependency>.size
    let word = MemoryLayout<UInt>.size
    // The first two conditions exclude most values before their type is looked up.
    if size.isMultiple(of: word), 1...3 ~= size / word, TypeToken.of(type).holdsReferences {
      return unsafe withUnsafePointer(to: dependency) {
        unsafe StoredForm(references: UnsafeRawPointer($0), size: size)
      }
    }
    return examine(dependency, as: type)
  }

  /// Checks at run time whether a dependency is a class instance, and returns its form if it is.
  static func examine<Dependency>(_ dependency: Dependency, as type: Dependency.Type) -> StoredForm? {
    // The check does not use `as AnyObject`, which boxes values and so succeeds for all of them.
    guard let metatype = Swift.type(of: dependency as Any) as? AnyClass else { return nil }
    // For an `any Error`, `as AnyObject` would return the box.
    func cast<Class: AnyObject>(to _: Class.Type) -> AnyObject? { dependency as? Class }
    guard let object = cast(to: metatype) else { return nil }
    let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    let word = MemoryLayout<UInt>.size
    let incomplete = StoredForm(address: address, words: (0, 0), wordCount: 0)
    let size = MemoryLayout<Dependency>.size
    // On Apple's systems, an `any Error` is sometimes a reference to the object itself, and sometimes one to a box.
    guard size == 4 * word || size == 5 * word, type != (any Error).self else { return incomplete }
    return unsafe withUnsafeBytes(of: dependency) { bytes in
      func load(_ index: Int) -> UInt { unsafe bytes.load(fromByteOffset: index * word, as: UInt.self) }
      // In a value with a three-word buffer, the fourth word is the metadata. A class-bound type with many protocols
      // can have the same size, but it would have a witness table there.
      guard load(0) == address, unsafe load(3) == unsafeBitCast(metatype, to: UInt.self) else { return incomplete }
      let wordCount = UInt8(size / word)
      return StoredForm(address: address, words: (load(3), wordCount == 5 ? load(4) : 0), wordCount: wordCount)
    }
  }
}
