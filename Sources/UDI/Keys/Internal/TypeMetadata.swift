/// What the runtime's description of a type says about the type (Type Metadata, in the Swift repository:
/// docs/ABI/TypeMetadata.rst).
///
/// This improves the figures "start" and "registered, bytes a type" of `Benchmarks/cost`. Without it, the library would
/// have to compute the name of each type, and would have to wait for the first value to find out whether the type is
/// bound to classes.
struct TypeMetadata {
  private let kind: UInt
  /// The flags of a protocol, or of a composition of protocols; nil for any other type.
  private let protocolFlags: UInt32?

  init(_ type: Any.Type) {
    // A metatype is the address of the type's description. Every description begins with the kind. In the description
    // of a protocol, the kind is followed by the flags.
    let description = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
    kind = unsafe description.load(as: UInt.self)
    protocolFlags =
      unsafe kind == 0x303 ? description.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self) : nil
  }

  /// Whether every value of the type consists of at most three words, of which the first is a reference to a class
  /// instance. This is so if the type is a class, or a protocol or a composition that is bound to classes.
  var holdsReferences: Bool {
    // The reference is followed by one word for each protocol, so at most two protocols fit.
    if let protocolFlags { return protocolFlags & 1 << 31 == 0 && protocolFlags & 0xff_ffff <= 2 }
    // The kinds, from left to right: Swift's own classes (whose first word on Apple's systems is an address instead of
    // a kind), classes of other languages, and Objective-C classes.
    return kind == 0 || kind > 0x7ff || kind == 0x203 || kind == 0x305
  }

  /// Whether the type is an optional.
  var isOptional: Bool { kind == 0x202 }

  /// Whether no other type has the same text as this one. False if that is not known.
  ///
  /// The runtime makes one description for each set of protocols, and the text names all of them. So a composition of
  /// protocols alone has a text of its own, as long as no protocol is linked into two images of the process. A
  /// composition with a class might not: the class can be generic, and the text of a generic type does not always
  /// distinguish all its arguments (`TypeIdentity.metatype`).
  var hasTextOfItsOwn: Bool { protocolFlags.map { $0 & 1 << 30 == 0 } ?? false }
}
