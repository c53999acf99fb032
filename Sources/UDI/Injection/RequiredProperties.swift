/// The properties of a class that have the wrapper `Required`.
///
/// They are found in the runtime's description of the class (Type Metadata, in the Swift repository:
/// docs/ABI/TypeMetadata.rst). There is no other way: a wrapper is told which object it belongs to only when its
/// property is read or set.
final class RequiredProperties {
  /// A property, and where an object stores its wrapper, in bytes.
  typealias Property = (name: String, offset: Int)

  let all: [Property]
  /// The properties that the code that attaches an object may use: none if the class is an actor.
  let usableFromOutside: [Property]

  private static let lock = Lock()
  /// The properties of each class that has been asked for them, by the class's address. Guarded by `lock`.
  private nonisolated(unsafe) static var known = ObjectTable<RequiredProperties>()

  /// Finds the properties of a class and of its superclasses, normally once for each class. There are none if the
  /// compiler was told to leave the names and types of properties out of the program.
  static func of(_ type: AnyClass) -> RequiredProperties {
    let address = UInt64(UInt(bitPattern: ObjectIdentifier(type)))
    if let known = lock.withLock({ unsafe known[address] }) { return known }
    let found = RequiredProperties(of: type)
    lock.withLock { unsafe known[address] = found }
    return found
  }

  private init(of type: AnyClass) {
    all = sequence(first: type, next: _getSuperclass).flatMap(RequiredProperties.own)
    // The description's flags say whether the class is an actor.
    let flags = unsafe RequiredProperties.places(of: type)?.description.load(as: UInt32.self) ?? 0
    usableFromOutside = flags >> 23 & 1 == 1 ? [] : all
  }

  // MARK: - The runtime's description of a class

  private static var word: Int { MemoryLayout<UInt>.size }

  /// The metadata of a class, of which a generic class has one for each set of arguments, and the runtime's description
  /// of the class. The description is a constant of the program, so the addresses in it stay valid. Nil if the class is
  /// not written in Swift.
  private static func places(of type: AnyClass) -> (metadata: UnsafeRawPointer, description: UnsafeRawPointer)? {
    let metadata = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
    #if canImport(Darwin)
      let offset = 5 * word + 24
      let isSwift = unsafe metadata.load(fromByteOffset: 4 * word, as: UInt.self) & 2 != 0
    #else
      let offset = 2 * word + 24
      let isSwift = true
    #endif
    guard isSwift, let description = unsafe metadata.load(fromByteOffset: offset, as: UnsafeRawPointer?.self) else {
      return nil
    }
    return unsafe (metadata, description)
  }

  /// The properties that the class itself declares.
  private static func own(of type: AnyClass) -> [Property] {
    guard let (metadata, address) = unsafe places(of: type), let list = unsafe target(address + 16) else { return [] }
    var offsets = unsafe metadata + word * Int(address.load(fromByteOffset: 40, as: UInt32.self))
    // If the superclass may change without this class being compiled again, the place is counted from the beginning of
    // this class's own part of the metadata. The runtime stored that position when it made the metadata.
    let hasResilientSuperclass = unsafe address.load(as: UInt32.self) >> 29 & 1 == 1
    if hasResilientSuperclass {
      guard let bounds = unsafe target(address + 24) else { return [] }
      unsafe offsets += bounds.load(as: Int.self)
    }
    let wanted = unsafe unsafeBitCast(Required<Never>.self as Any.Type, to: UnsafeRawPointer.self)
      .load(fromByteOffset: word, as: UnsafeRawPointer.self)
    return unsafe (0..<Int(list.load(fromByteOffset: 12, as: UInt32.self))).compactMap { index in
      let record = unsafe list + 16 + 12 * index
      guard let type = unsafe target(record + 4), let name = unsafe target(record + 8) else { return nil }
      // The spelling of a type begins with a reference to the type's description, or to a pointer to it. That of an
      // optional, a tuple or a function may begin with the wrapper, too, but only that of a generic type ends with a G.
      let kind = unsafe type.load(as: UInt8.self)
      guard kind == 1 || kind == 2, unsafe lastCharacter(of: type) == UInt8(ascii: "G"),
        let found = unsafe target(type + 1),
        unsafe (kind == 1 ? found : found.load(as: UnsafeRawPointer.self)) == wanted
      else { return nil }
      // The name of the property that stores a wrapper begins with an underscore.
      return unsafe (
        name: String(cString: name.assumingMemoryBound(to: CChar.self) + 1),
        offset: offsets.load(fromByteOffset: word * index, as: Int.self)
      )
    }
  }

  /// The last character of a type's spelling, in which some characters are followed by a binary reference.
  private static func lastCharacter(of spelling: UnsafeRawPointer) -> UInt8 {
    var (place, last) = unsafe (spelling, UInt8(0))
    while true {
      let character = unsafe place.load(as: UInt8.self)
      switch character {
      case 0: return last
      case 1...0x17: unsafe place += 1 + 4
      case 0x18...0x1F: unsafe place += 1 + word
      default: unsafe place += 1
      }
      last = character
    }
  }

  /// Follows a relative address; nil if there is none.
  private static func target(_ place: UnsafeRawPointer) -> UnsafeRawPointer? {
    let distance = unsafe Int(place.loadUnaligned(as: Int32.self))
    return unsafe distance == 0 ? nil : place + distance
  }
}
