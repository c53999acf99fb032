/// Facts about a type, read from the runtime's description of the type (Type Metadata, in the Swift repository:
/// docs/ABI/TypeMetadata.rst).
///
/// Without these facts, the library would have to compute the text of each type, and would not know whether a type is
/// class-bound before it sees the first value.
struct TypeMetadata {
  private let kind: UInt
  /// For a protocol or a composition of protocols, its flags; nil for any other type.
  private let protocolFlags: UInt32?

  init(_ type: Any.Type) {
    // A metatype is the address of the type's description, which begins with the kind of the type. In a protocol's
    // description, the flags follow the kind.
    let description = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
    kind = unsafe description.load(as: UInt.self)
    protocolFlags =
      unsafe kind == 0x303 ? description.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self) : nil
  }

  /// Whether every value of the type consists of one to three words, of which the first is a reference to a class
  /// instance. This is the case for classes, and for class-bound protocols and compositions of at most two protocols.
  var holdsReferences: Bool {
    // The reference is followed by one word for each protocol, so three words are enough for at most two protocols.
    if let protocolFlags { return protocolFlags & 1 << 31 == 0 && protocolFlags & 0xff_ffff <= 2 }
    // These kinds are, from left to right: Swift's own classes (on Apple's systems, a class has an address in place of
    // the kind), classes of other languages, and Objective-C classes.
    return kind == 0 || kind > 0x7ff || kind == 0x203 || kind == 0x305
  }

  /// Whether the type is an optional.
  var isOptional: Bool { kind == 0x202 }

  /// Whether the type's text need not be compared with others, because no other type has the same text.
  ///
  /// The runtime makes one description for each set of protocols, and the text names all of them. A composition that
  /// consists only of protocols therefore has a unique text, as long as no protocol is linked into two images of the
  /// process. For a composition with a class, this is not certain: the class can be generic, and the text of a generic
  /// type does not always distinguish all arguments (`TypeIdentity.firstType`).
  var hasTextOfItsOwn: Bool { protocolFlags.map { $0 & 1 << 30 == 0 } ?? false }
}
