/// What the runtime's description of a type tells about it (Type Metadata, in the Swift repository:
/// docs/ABI/TypeMetadata.rst).
///
/// This serves the figures "start" and "registered, bytes a type" of `Benchmarks/cost`. Without it, the library would
/// have to compute the name of each type, and to find out with the first value whether the type is bound to classes.
struct TypeMetadata {
  private let kind: UInt
  /// The flags of a protocol, or of a composition of protocols; nil for any other type.
  private let protocolFlags: UInt32?

  init(_ type: Any.Type) {
    // A metatype is the address of the description. All descriptions begin with the kind. In that of a protocol, the
    // flags follow.
    let description = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
    kind = unsafe description.load(as: UInt.self)
    protocolFlags =
      unsafe kind == 0x303 ? description.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self) : nil
  }

  /// Whether values are references to class instances, in the first of at most three words: the type is a class, or a
  /// protocol or a composition that is bound to classes.
  var holdsReferences: Bool {
    // Behind the reference there is a word for each protocol.
    if let protocolFlags { return protocolFlags & 1 << 31 == 0 && protocolFlags & 0xff_ffff <= 2 }
    // Swift's own classes (on Apple's systems, their first word is an address instead of a kind), those of other
    // languages, and those of Objective-C.
    return kind == 0 || kind > 0x7ff || kind == 0x203 || kind == 0x305
  }

  /// Whether the type is an optional.
  var isOptional: Bool { kind == 0x202 }

  /// Whether no other type has the same text as this one. False if that is not known.
  ///
  /// The runtime makes one description for each set of protocols, and the text names all of them. But a composition may
  /// contain a class, which may be generic, and the text of a generic type need not distinguish all its arguments
  /// (`TypeIdentity.metatype`).
  var hasTextOfItsOwn: Bool { protocolFlags.map { $0 & 1 << 30 == 0 } ?? false }
}
