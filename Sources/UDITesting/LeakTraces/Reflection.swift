// What the runtime says about types. The standard library's `Mirror` asks the same functions, but reads each property
// before it shows it. For an `unowned` property whose object is gone, that would stop the program.

/// The metadata of a type, as far as leak traces need it.
///
/// The layouts that are read here are part of Swift's stable ABI.
@safe
struct TypeLayout {
  let type: Any.Type
  /// Metadata of types is never freed.
  private let metadata: UnsafeRawPointer

  init(_ type: Any.Type) {
    self.type = type
    unsafe metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
  }

  enum Kind {
    case classReference, structure, enumeration, tuple, function, existential, extendedExistential, opaque, other
  }

  var kind: Kind {
    switch unsafe metadata.load(as: UInt.self) {
    case 0, 0x800...: .classReference
    case 0x200: .structure
    case 0x201, 0x202: .enumeration
    case 0x300: .opaque
    case 0x301: .tuple
    case 0x302: .function
    case 0x303: .existential
    case 0x307: .extendedExistential
    default: .other
    }
  }

  private var witnessFlags: UInt32 {
    unsafe metadata.load(fromByteOffset: -8, as: UnsafeRawPointer.self).load(fromByteOffset: 80, as: UInt32.self)
  }
  /// Whether values of the type hold no references.
  var isTrivial: Bool { witnessFlags & 0x1_0000 == 0 }
  var isCopyable: Bool { witnessFlags & 0x80_0000 == 0 }
  /// Whether an existential has a value of this type in its own memory, and not in a box.
  var isInlineInExistential: Bool { witnessFlags & 0x2_0000 == 0 }

  var size: Int {
    func size<T>(_: T.Type) -> Int { MemoryLayout<T>.size }
    return _openExistential(type, do: size)
  }
  var alignment: Int {
    func alignment<T>(_: T.Type) -> Int { MemoryLayout<T>.alignment }
    return _openExistential(type, do: alignment)
  }

  // MARK: - Functions and existentials

  /// Whether a function of this type has a context: it is not a C function and not a block.
  var hasFunctionContext: Bool { unsafe metadata.load(fromByteOffset: 8, as: UInt.self) & 0xFF_0000 == 0 }

  enum Representation { case opaque, object, error, other }

  /// How an existential of this type is stored.
  var representation: Representation {
    if kind == .extendedExistential {
      let shape = unsafe metadata.load(fromByteOffset: 8, as: UnsafeRawPointer.self)
      switch unsafe shape.load(as: UInt32.self) & 0xFF {
      case 0: return .opaque
      case 1: return .object
      default: return .other
      }
    }
    let flags = unsafe metadata.load(fromByteOffset: 8, as: UInt32.self)
    if flags >> 24 & 0x3F == 1 { return .error }
    return flags >> 31 == 1 ? .opaque : .object
  }

  // MARK: - Generic types

  /// What all types that are made of one generic type share; for other types, what describes the type.
  var descriptor: UnsafeRawPointer? {
    switch kind {
    case .structure, .enumeration: return unsafe metadata.load(fromByteOffset: 8, as: UnsafeRawPointer?.self)
    case .classReference: return unsafe metadata.load(fromByteOffset: Self.classDescriptor, as: UnsafeRawPointer?.self)
    default: return nil
    }
  }

  /// The generic arguments, as metadata. Read only as many as the type has.
  var genericArguments: UnsafePointer<Any.Type>? {
    guard let descriptor = unsafe descriptor else { return nil }
    if kind != .classReference { return unsafe (metadata + 16).assumingMemoryBound(to: Any.Type.self) }
    // A class with a superclass from another module that may change has its arguments elsewhere.
    let flags = unsafe descriptor.load(as: UInt32.self)
    let (hasResilientSuperclass, areNegative) = (flags >> 29 & 1 == 1, flags >> 28 & 1 == 1)
    if hasResilientSuperclass || areNegative { return nil }
    let words = unsafe Int(descriptor.load(fromByteOffset: 28, as: UInt32.self))
    let own = unsafe Int(descriptor.load(fromByteOffset: 32, as: UInt32.self))
    return unsafe (metadata + 8 * (words - own)).assumingMemoryBound(to: Any.Type.self)
  }

  // Where the metadata of a class has its descriptor, and the size of its objects.
  #if canImport(Darwin)
    static var classDescriptor: Int { 64 }
    private static var objectSize: Int { 48 }
  #else
    static var classDescriptor: Int { 40 }
    private static var objectSize: Int { 24 }
  #endif
  /// What the descriptor of a class says in the five lowest bits of its first word.
  static var classFlag: UInt { 16 }

  // MARK: - Properties

  struct Field {
    let name: String
    let offset: Int
    /// The type; nil if the runtime does not tell it.
    let type: Any.Type?
    /// The number of bytes to the next property.
    let room: Int
  }

  /// The stored properties, or the elements of a tuple, that can hold a reference strongly; for a class, with those of
  /// its superclasses.
  var strongFields: [Field] {
    let count = fieldCount(type)
    return (0..<count).compactMap { index in
      var metadata = unsafe FieldMetadata()
      let fieldType = unsafe fieldType(type, index: index, metadata: &metadata)
      defer { unsafe metadata.freeName?(metadata.name) }
      guard unsafe metadata.isStrong else { return nil }
      // The runtime gives an empty tuple for what cannot be copied.
      let isKnown = fieldType != Void.self
      if isKnown, TypeLayout(fieldType).isTrivial { return nil }
      let offset = fieldOffset(type, index: index)
      let end = index + 1 < count ? fieldOffset(type, index: index + 1) : wholeSize
      let name = unsafe metadata.name.map { unsafe String(cString: $0) } ?? "\(index)"
      return Field(
        name: Self.written(name), offset: offset, type: isKnown ? fieldType : nil, room: max(0, end - offset))
    }
  }

  /// The size of a value, or of an object of the class.
  private var wholeSize: Int {
    kind == .classReference ? unsafe Int(metadata.load(fromByteOffset: Self.objectSize, as: UInt32.self)) : size
  }

  /// The name as it is written in the source: for a lazy property, the runtime knows only that of its storage.
  private static func written(_ name: String) -> String {
    let lazyPrefix = "$__lazy_storage_$_"
    if name.hasPrefix(lazyPrefix) { return String(name.dropFirst(lazyPrefix.count)) }
    return name.hasPrefix(".") ? String(name.dropFirst()) : name
  }
}

/// The name of a type, as the compiler writes it into the program.
@safe
struct MangledName {
  private let start: UnsafePointer<UInt8>
  private let count: Int
  /// The name with each reference to another place in the program replaced by `?`.
  let text: String

  /// - Parameter address: The address of a name in a program's constants.
  init(at address: UnsafeRawPointer) {
    unsafe start = address.assumingMemoryBound(to: UInt8.self)
    var (count, text) = (0, "")
    while let byte = unsafe Optional(start[count]), byte != 0 {
      switch byte {
      case 0x01...0x17: (count, text) = (count + 5, text + "?")
      case 0x18...0x1F: (count, text) = (count + 9, text + "?")
      default: (count, text) = (count + 1, text + String(UnicodeScalar(byte)))
      }
    }
    (self.count, self.text) = (count, text)
  }

  /// Whether the name may mention a parameter pack.
  var hasPack: Bool { text.contains("Qp") || text.contains("QP") || text.contains("Qe") }

  /// The type; nil if the runtime does not know it.
  ///
  /// - Parameters:
  ///   - dropped: How many characters at the end are no part of the type's name.
  ///   - context: The descriptor of the generic type whose parameters the name mentions.
  ///   - arguments: The arguments for these parameters.
  func resolved(
    dropping dropped: Int = 0, in context: UnsafeRawPointer? = nil, _ arguments: UnsafeRawPointer? = nil
  ) -> Any.Type? {
    // The runtime stops the program if it does not know what to put in the place of a parameter pack.
    if hasPack { return nil }
    return unsafe _getTypeByMangledNameInContext(
      start, UInt(count - dropped), genericContext: context, genericArguments: arguments)
  }

  /// Whether the name begins with a direct reference to the descriptor of a class.
  var beginsWithClass: Bool {
    let address: UnsafeRawPointer
    switch unsafe start[0] {
    case 0x01: unsafe address = Self.follow(start + 1)
    case 0x02: unsafe address = Self.follow(start + 1).load(as: UnsafeRawPointer.self)
    default: return false
    }
    return unsafe address.load(as: UInt32.self) & 0x1F == UInt32(TypeLayout.classFlag)
  }

  private static func follow(_ place: UnsafePointer<UInt8>) -> UnsafeRawPointer {
    unsafe UnsafeRawPointer(place) + Int(UnsafeRawPointer(place).loadUnaligned(as: Int32.self))
  }
}

/// What the runtime says about a stored property.
@unsafe
struct FieldMetadata {
  var name: UnsafePointer<CChar>?
  var freeName: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
  /// False for `weak` and `unowned`.
  var isStrong = false
  var isVariable = false
}

// The functions of the runtime that the standard library's reflection is made of.

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func fieldCount(_ type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func fieldType(
  _ type: Any.Type, index: Int, metadata: UnsafeMutablePointer<FieldMetadata>
) -> Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func fieldOffset(_ type: Any.Type, index: Int) -> Int

@_silgen_name("swift_reflectionMirror_count")
func childCount<T>(_ value: T, type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_subscript")
func child<T>(
  of value: T, type: Any.Type, index: Int, name: UnsafeMutablePointer<UnsafePointer<CChar>?>,
  freeName: UnsafeMutablePointer<(@convention(c) (UnsafePointer<CChar>?) -> Void)?>
) -> Any
