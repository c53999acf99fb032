// Facts about types, from the runtime. The standard library's `Mirror` calls the same functions, but it also reads each
// property, which would stop the program at an `unowned` property whose object is gone.

/// The metadata of a type, as far as leak traces need it.
///
/// All layouts that are read here are part of Swift's stable ABI.
@safe
struct TypeLayout {
  let type: Any.Type
  /// Never dangles, because the metadata of types is never freed.
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

  var isOptional: Bool { unsafe metadata.load(as: UInt.self) == 0x202 }

  /// The value witness table, which describes the layout. On Linux, block types have none: they are one word.
  private var witnesses: UnsafeRawPointer? { unsafe metadata.load(fromByteOffset: -8, as: UnsafeRawPointer?.self) }
  private var witnessFlags: UInt32 { unsafe witnesses?.load(fromByteOffset: 80, as: UInt32.self) ?? 7 }
  /// Whether values of the type contain no references that a scan can find.
  var isTrivial: Bool { witnessFlags & 0x1_0000 == 0 }
  var isCopyable: Bool { witnessFlags & 0x80_0000 == 0 }
  /// Whether an existential contains a value of this type in its own memory rather than in a box.
  var isInlineInExistential: Bool { witnessFlags & 0x2_0000 == 0 }

  var size: Int { unsafe witnesses?.load(fromByteOffset: 64, as: Int.self) ?? 8 }
  var alignment: Int { Int(witnessFlags & 0xFF) + 1 }

  // MARK: - Functions and existentials

  /// Whether a function of this type has a context. C functions and blocks have none.
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

  /// The descriptor of the type. All types made from the same generic type have the same descriptor.
  var descriptor: UnsafeRawPointer? {
    switch kind {
    case .structure, .enumeration: return unsafe metadata.load(fromByteOffset: 8, as: UnsafeRawPointer?.self)
    case .classReference: return unsafe metadata.load(fromByteOffset: Self.classDescriptor, as: UnsafeRawPointer?.self)
    default: return nil
    }
  }

  /// Whether this type and the other one are made from the same generic type.
  func isOfSameGenericType(as other: Any.Type) -> Bool {
    unsafe descriptor != nil && descriptor == TypeLayout(other).descriptor
  }

  /// The metadata of the generic arguments; nil if its place is not known. Do not read beyond the type's last argument.
  var genericArguments: UnsafePointer<Any.Type>? {
    guard let descriptor = unsafe descriptor else { return nil }
    if kind != .classReference { return unsafe (metadata + 16).assumingMemoryBound(to: Any.Type.self) }
    // The arguments of a class are elsewhere if the layout of its superclass may change, because the superclass is in a
    // different module.
    let flags = unsafe descriptor.load(as: UInt32.self)
    let (hasResilientSuperclass, areNegative) = (flags >> 29 & 1 == 1, flags >> 28 & 1 == 1)
    if hasResilientSuperclass || areNegative { return nil }
    let words = unsafe Int(descriptor.load(fromByteOffset: 28, as: UInt32.self))
    let own = unsafe Int(descriptor.load(fromByteOffset: 32, as: UInt32.self))
    return unsafe (metadata + 8 * (words - own)).assumingMemoryBound(to: Any.Type.self)
  }

  // The offsets, in a class's metadata, of the descriptor and of the size of the class's objects.
  #if canImport(Darwin)
    static var classDescriptor: Int { 64 }
    private static var objectSize: Int { 48 }
  #else
    static var classDescriptor: Int { 40 }
    private static var objectSize: Int { 24 }
  #endif
  /// The lowest five bits of a descriptor's first word, for a class.
  static var classFlag: UInt { 16 }

  // MARK: - Properties

  struct Field {
    let name: String
    let offset: Int
    /// The type; nil if the runtime does not tell it.
    let type: Any.Type?
    /// The number of bytes to the next property, or to the end.
    let room: Int
  }

  /// The stored properties that can hold a strong reference, including those of superclasses; for a tuple, its
  /// elements.
  var strongFields: [Field] {
    // The compiler may say that an empty property is at the beginning, wherever it stands.
    let indices = (0..<fieldCount(type)).filter { !isEmptyField($0) }
    return indices.enumerated().compactMap { place, index in
      // On Linux, the runtime would stop the program while it looks for the type.
      if declaration(ofField: index)?.name.hasBlock ?? false { return nil }
      var metadata = unsafe FieldMetadata()
      let fieldType = unsafe fieldType(type, index: index, metadata: &metadata)
      defer { unsafe metadata.freeName?(metadata.name) }
      guard unsafe metadata.isStrong else { return nil }
      // For a type that cannot be copied, the runtime returns the empty tuple.
      let isKnown = fieldType != Void.self || kind == .tuple
      if isKnown, TypeLayout(fieldType).isTrivial { return nil }
      let offset = fieldOffset(type, index: index)
      let end = place + 1 < indices.count ? fieldOffset(type, index: indices[place + 1]) : wholeSize
      let name = unsafe metadata.name.map { unsafe String(cString: $0) } ?? "\(index)"
      // The storage of a lazy property has a longer name. That of an element of a tuple begins with a dot.
      let written = String(name.trimmingPrefix("$__lazy_storage_$_").trimmingPrefix("."))
      return Field(name: written, offset: offset, type: isKnown ? fieldType : nil, room: max(0, end - offset))
    }
  }

  /// Whether a stored property is known to take up no memory, because its type is `Void`, for example.
  private func isEmptyField(_ index: Int) -> Bool {
    // An object begins with a header of two words.
    if kind == .classReference, fieldOffset(type, index: index) < 16 { return true }
    // For a type that cannot be copied, the compiler writes a function, which returns the empty tuple.
    guard let (name, owner) = declaration(ofField: index), !name.isFunction else { return false }
    let arguments = unsafe owner.genericArguments.map { unsafe UnsafeRawPointer($0) }
    // Without its arguments, a generic type's parameters have no meaning.
    if unsafe arguments == nil, owner.isGeneric { return false }
    return unsafe name.resolved(in: owner.descriptor, arguments).map { TypeLayout($0).size == 0 } ?? false
  }

  /// The type of a stored property as the compiler has written it, and the type that declares the property.
  private func declaration(ofField index: Int) -> (name: MangledName, owner: TypeLayout)? {
    let superclass = (type as? AnyClass).flatMap { _getSuperclass($0) }.map { TypeLayout($0) }
    let inherited = superclass.map { fieldCount($0.type) } ?? 0
    if let superclass, index < inherited { return superclass.declaration(ofField: index) }
    let names = declaredTypes
    return index - inherited < names.count ? names[index - inherited].map { ($0, self) } : nil
  }

  /// The types of the properties that the type itself declares or, for an enum, of its payloads; nil for a case without
  /// a payload.
  private var declaredTypes: [MangledName?] {
    guard let descriptor = unsafe descriptor, let list = unsafe follow(descriptor + 16) else { return [] }
    return unsafe (0..<Int(list.load(fromByteOffset: 12, as: UInt32.self))).map { index in
      unsafe follow(list + 16 + 12 * index + 4).map { unsafe MangledName(at: $0) }
    }
  }

  /// Whether this is an enum with a payload whose type contains a block type.
  var hasBlockPayload: Bool { declaredTypes.contains { $0?.hasBlock ?? false } }

  private var isGeneric: Bool { unsafe descriptor.map { unsafe $0.load(as: UInt32.self) & 0x80 != 0 } ?? false }

  /// The size of a value of the type or, for a class, of an object.
  private var wholeSize: Int {
    kind == .classReference ? unsafe Int(metadata.load(fromByteOffset: Self.objectSize, as: UInt32.self)) : size
  }
}

/// The name of a type in the form that the compiler writes into the program.
@safe
struct MangledName {
  private let start: UnsafePointer<UInt8>
  private let count: Int
  /// The name, with `?` in place of each reference to another address in the program.
  let text: String

  /// - Parameter address: The address of a name in the program's constants.
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

  /// Whether the name mentions a block type, on which the runtime's functions for types stop the program on Linux.
  var hasBlock: Bool { text.contains("XB") }
  /// Whether the name may mention a parameter pack.
  var hasPack: Bool { text.contains("Qp") || text.contains("QP") || text.contains("Qe") }

  /// Returns the type with this name; nil if the runtime does not know it.
  ///
  /// - Parameters:
  ///   - dropped: How many characters at the end do not belong to the type's name.
  ///   - context: The descriptor of the generic type whose parameters the name mentions.
  ///   - arguments: The arguments for these parameters.
  func resolved(
    dropping dropped: Int = 0, in context: UnsafeRawPointer? = nil, _ arguments: UnsafeRawPointer? = nil
  ) -> Any.Type? {
    // If the name mentioned a parameter pack or a block type, the runtime would stop the program.
    if hasPack || hasBlock { return nil }
    return unsafe _getTypeByMangledNameInContext(
      start, UInt(count - dropped), genericContext: context, genericArguments: arguments)
  }

  /// Whether the program contains, in place of the name, a reference to a function that returns the type.
  var isFunction: Bool { unsafe start[0] == 0x09 }

  /// Whether the name begins with a reference to the descriptor of a class.
  var beginsWithClass: Bool {
    let address: UnsafeRawPointer?
    switch unsafe start[0] {
    case 0x01: unsafe address = follow(start + 1)
    case 0x02: unsafe address = follow(start + 1)?.load(as: UnsafeRawPointer.self)
    default: return false
    }
    return unsafe address.map { unsafe $0.load(as: UInt32.self) & 0x1F == UInt32(TypeLayout.classFlag) } ?? false
  }
}

/// The address that a relative reference in the program's constants leads to; nil if it leads nowhere.
private func follow(_ place: UnsafeRawPointer) -> UnsafeRawPointer? {
  let distance = unsafe Int(place.loadUnaligned(as: Int32.self))
  return distance == 0 ? nil : unsafe place + distance
}

/// The runtime's facts about a stored property.
@unsafe
struct FieldMetadata {
  var name: UnsafePointer<CChar>?
  var freeName: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
  /// False for `weak` and `unowned` properties.
  var isStrong = false
  var isVariable = false
}

// The runtime's functions on which the standard library's reflection is based.

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func fieldCount(_ type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func fieldType(_ type: Any.Type, index: Int, metadata: UnsafeMutablePointer<FieldMetadata>) -> Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func fieldOffset(_ type: Any.Type, index: Int) -> Int

@_silgen_name("swift_reflectionMirror_count")
func childCount<T>(_ value: T, type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_subscript")
func child<T>(
  of value: T, type: Any.Type, index: Int, name: UnsafeMutablePointer<UnsafePointer<CChar>?>,
  freeName: UnsafeMutablePointer<(@convention(c) (UnsafePointer<CChar>?) -> Void)?>
) -> Any
