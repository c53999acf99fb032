import UDI

/// Finds the strong references in values: in stored properties, elements, payloads, and so on.
///
/// A scan calls no code of the types: no `customMirror`, no `description`, no computed property. It does not follow
/// pointers, so it does not see memory that a type has allocated itself. In memory whose type is not known, it finds
/// only what is certainly a reference: see `UnknownMemory`.
struct ReferenceScan {
  /// A reference, with the steps that lead to it, such as `.handlers[2]`.
  struct Reference {
    /// The address of a heap object.
    let target: UInt
    let steps: String
    /// Whether the heap object is certainly an object of a class.
    let isObject: Bool
  }

  private(set) var references: [Reference] = []
  /// Finds the stored properties of a type that can hold strong references.
  private let fields: (TypeLayout) -> [TypeLayout.Field]
  private var steps = ""
  /// How deeply the value is nested in other values. The depth is limited, because a type might contain itself without
  /// end.
  private var depth = 0
  /// Whether the scan is inside an object of the library, whose properties mean nothing to users. The steps do not name
  /// them.
  var isSilent = false
  /// Whether the scan is inside the captures of a closure.
  var isOfClosure = false

  init(_ fields: @escaping (TypeLayout) -> [TypeLayout.Field]) { self.fields = fields }

  /// Scans a value.
  ///
  /// - Parameters:
  ///   - address: The address of an initialised value, which no code changes during the scan.
  ///   - type: The type of the value.
  mutating func scan(_ address: UnsafeRawPointer, as type: Any.Type) {
    let layout = TypeLayout(type)
    if layout.isTrivial || depth == 64 || references.count >= Self.limit { return }
    depth += 1
    defer { depth -= 1 }
    switch layout.kind {
    case .classReference: unsafe addReference(at: address, isObject: true)
    case .structure, .tuple:
      if let collection = type as? any ScannedCollection.Type {
        unsafe collection.scan(address, &self)
      } else if type != String.self {
        unsafe scanFields(address, layout)
      }
    case .enumeration: unsafe scanPayload(address, layout)
    case .function where layout.hasFunctionContext: unsafe addFunction(at: address)
    case .existential, .extendedExistential: unsafe scanExistential(address, layout)
    // Swift code cannot name this type, so the text of its name is compared.
    case .opaque where _typeName(type) == "Builtin.NativeObject": unsafe addReference(at: address)
    case .function, .opaque, .other: break
    }
  }

  /// The largest number of references that one object's scan returns.
  private static var limit: Int { 10_000 }

  /// Scans a part of the value, and adds the step that leads to this part to the steps of all references found there.
  mutating func step(_ step: String, _ scan: (inout ReferenceScan) -> Void) {
    let length = steps.utf8.count
    if !isSilent || step == Self.captures { steps += step }
    scan(&self)
    steps.removeLast(steps.utf8.count - length)
  }

  /// Adds the reference that is stored at the given address.
  mutating func addReference(at address: UnsafeRawPointer, isObject: Bool = false) {
    let word = unsafe address.load(as: UInt.self)
    // On platforms other than Linux, a word can contain a small object itself.
    guard word != 0, word % 8 == 0, word < 1 << 56 else { return }
    // A class-typed property certainly refers to an object. A capture of a closure is checked first, because its
    // position was only computed.
    if !isObject || isOfClosure, UnknownMemory.heapKind(at: word) == nil { return }
    references.append(Reference(target: word, steps: steps, isObject: isObject))
  }

  /// Adds a function's reference to its context.
  mutating func addFunction(at address: UnsafeRawPointer) {
    step(Self.captures) { unsafe $0.addReference(at: address + 8) }
  }

  /// The step from a function to its captures.
  static var captures: String { " {captures}" }

  /// Scans the stored properties of an object or a structure.
  mutating func scanFields(_ address: UnsafeRawPointer, _ layout: TypeLayout) {
    // In objects of the library, properties with this prefix are left out. They are guarded by the tree lock, so they
    // may change during the scan.
    let isWrapper = layout.isWrapper
    for field in fields(layout) where !isSilent || !field.name.hasPrefix("unchecked") {
      let name = field.type.map { TypeLayout($0).isWrapper } == true ? field.name.dropFirst() : field.name[...]
      step(isWrapper ? "" : ".\(name)") { scan in
        if let type = field.type {
          unsafe scan.scan(address + field.offset, as: type)
        } else {
          unsafe scan.scanUnknown(address + field.offset, size: field.room)
        }
      }
    }
  }

  /// Adds those words in memory of unknown layout that are certainly references.
  private mutating func scanUnknown(_ address: UnsafeRawPointer, size: Int) {
    let start = unsafe address.alignedUp(toMultipleOf: 8)
    for offset in stride(from: 0, through: unsafe address + size - 8 - start, by: 8) {
      let place = unsafe start + offset
      let word = unsafe place.load(as: UInt.self)
      switch UnknownMemory.heapKind(at: word) {
      case .captures: step(Self.captures) { unsafe $0.addReference(at: place) }
      case .object where !UnknownMemory.isUnowned(word): unsafe addReference(at: place)
      default: break
      }
    }
  }

  /// Scans a copy of a value.
  mutating func scan<Value>(copy value: Value) {
    unsafe withUnsafePointer(to: value) { unsafe scan($0, as: Value.self) }
  }

  // MARK: - Kinds of values

  private mutating func scanPayload(_ address: UnsafeRawPointer, _ layout: TypeLayout) {
    guard layout.isCopyable, !layout.hasBlockPayload else { return }
    func scan<Value>(_ type: Value.Type) {
      let value = unsafe address.assumingMemoryBound(to: type).pointee
      guard childCount(value, type: type) == 1 else { return }
      var name: UnsafePointer<CChar>?
      var freeName: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
      let payload = unsafe child(of: value, type: type, index: 0, name: &name, freeName: &freeName)
      let label = unsafe name.map { unsafe String(cString: $0) } ?? ""
      unsafe freeName?(name)
      step(layout.isOptional ? "" : ".\(label)") { $0.scan(copy: payload) }
    }
    _openExistential(layout.type, do: scan)
  }

  private mutating func scanExistential(_ address: UnsafeRawPointer, _ layout: TypeLayout) {
    switch layout.representation {
    case .object: unsafe addReference(at: address, isObject: true)
    case .error: scan(copy: unsafe address.assumingMemoryBound(to: (any Error).self).pointee)
    case .opaque:
      // The existential has three words, which contain the value or a reference to a box with the value; then comes the
      // type.
      let content = TypeLayout(unsafe address.load(fromByteOffset: 24, as: Any.Type.self))
      if content.isInlineInExistential {
        unsafe scan(address, as: content.type)
      } else {
        let box = unsafe address.load(as: UnsafeRawPointer.self)
        unsafe scan((box + 16).alignedUp(toMultipleOf: content.alignment), as: content.type)
      }
    case .other: break
    }
  }
}

// MARK: - Collections

/// A collection of the standard library. Its elements are scanned one by one.
private protocol ScannedCollection {
  /// - Parameter address: The address of a collection of this type.
  static func scan(_ address: UnsafeRawPointer, _ scan: inout ReferenceScan)
}

extension Array: ScannedCollection {}
extension ContiguousArray: ScannedCollection {}

extension ScannedCollection where Self: RandomAccessCollection {
  fileprivate static func scan(_ address: UnsafeRawPointer, _ scan: inout ReferenceScan) {
    if TypeLayout(Element.self).isTrivial { return }
    for (index, element) in unsafe address.assumingMemoryBound(to: Self.self).pointee.enumerated() {
      scan.step("[\(index)]") { $0.scan(copy: element) }
    }
  }
}

extension Set: ScannedCollection {
  fileprivate static func scan(_ address: UnsafeRawPointer, _ scan: inout ReferenceScan) {
    if TypeLayout(Element.self).isTrivial || Element.self == String.self { return }
    for element in unsafe address.assumingMemoryBound(to: Self.self).pointee {
      scan.step("[element]") { $0.scan(copy: element) }
    }
  }
}

extension Dictionary: ScannedCollection {
  fileprivate static func scan(_ address: UnsafeRawPointer, _ scan: inout ReferenceScan) {
    for (key, value) in unsafe address.assumingMemoryBound(to: Self.self).pointee {
      scan.step("[key]") { $0.scan(copy: key) }
      // Keys are described only if the standard library does it, because the description of any other key is user code.
      let text =
        switch key {
        case let key as String: "\"\(key)\""
        case let key as Int: "\(key)"
        case let key as AnyHashable where key.base is String: "\"\(key.base)\""
        case is ObjectIdentifier: "id"
        default: "\(Key.self)"
        }
      scan.step("[\(text)]") { $0.scan(copy: value) }
    }
  }
}

extension TypeLayout {
  /// Whether this is a property wrapper of the library. Its property is known by the name that the user has given it.
  fileprivate var isWrapper: Bool { Self.wrappers.contains(where: isOfSameGenericType) }
  private static let wrappers: [Any.Type] = [
    Required<Never>.self, Linked<Never>.self, Followed<Never>.self, AppLinked<Never>.self,
  ]
}
