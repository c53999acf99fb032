/// What the runtime's description of a type tells about it (Type Metadata, "Existential Metadata", in the Swift
/// repository: docs/ABI/TypeMetadata.rst). Only what is asked about protocol types is read.
///
/// This serves the figures "start" and "registered, bytes a type" of `Benchmarks/cost`: without it, the library would
/// have to compute the name of each type, and to try out with a value whether the type is bound to classes.
struct TypeMetadata {
  /// The flags of the type of a protocol, or of a composition of protocols; nil for any other type.
  private let protocolFlags: UInt32?

  init(_ type: Any.Type) {
    // A metatype is the address of the description. All descriptions begin with a word that tells the kind; behind it,
    // that of a protocol type has its flags. On Apple's systems, the first word of a class is an address, which is
    // greater than any kind.
    let description = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
    let isProtocol = unsafe description.load(as: UInt.self) == Self.existentialKind
    protocolFlags =
      unsafe isProtocol ? description.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self) : nil
  }

  private static var existentialKind: UInt { 0x303 }
  /// Set if values need not be class instances.
  private static var anyValueFlag: UInt32 { 1 << 31 }
  /// Set for the composition of a class with protocols.
  private static var superclassFlag: UInt32 { 1 << 30 }

  /// Whether only class instances conform to the protocol. False for a composition with a class.
  var isClassBoundProtocol: Bool {
    protocolFlags.map { $0 & (Self.anyValueFlag | Self.superclassFlag) == 0 } ?? false
  }

  /// Whether no other type has the same text as this one. False if that is not known.
  ///
  /// The runtime makes one description for each set of protocols, and the text names all of them. A superclass may be
  /// generic, and the text of a generic type need not tell its arguments apart (`TypeIdentity.metatype`).
  var hasTextOfItsOwn: Bool { protocolFlags.map { $0 & Self.superclassFlag == 0 } ?? false }
}
