import Synchronization

/// The properties with the wrapper `@Required` that the objects of a class have.
///
/// They are found in the runtime's description of the class (Type Metadata, in the Swift repository:
/// docs/ABI/TypeMetadata.rst), once for each class. A property wrapper is not told which object it belongs to until the
/// property is read.
final class Needs: Sendable {
  struct Property {
    let name: String
    /// Where the property is stored in an object, in bytes.
    let offset: Int
  }

  let properties: [Property]
  /// Whether the properties belong to an actor, so that they may be used only there.
  private let areIsolated: Bool

  private init(_ properties: [Property], areIsolated: Bool) {
    (self.properties, self.areIsolated) = (properties, areIsolated)
  }

  private static let none = Needs([], areIsolated: false)

  /// Finds the properties of a class. There are none if the compiler was told to leave out the descriptions of
  /// properties; these are then looked up when they are first read.
  static func of(_ type: AnyClass) -> Needs {
    TypeToken.of(type).identity.read { identity in
      if let known = identity.needs.load() { return known }
      var properties: [Property] = []
      var next: AnyClass? = type
      while let type = next {
        unsafe properties += requiredProperties(declaredIn: type)
        next = _getSuperclass(type)
      }
      let needs = properties.isEmpty ? none : Needs(properties, areIsolated: unsafe isActor(type))
      return identity.needs.storeIfNil(needs)
    }
  }

  /// The properties that are filled when an object is attached. Those of an actor are not: the code that attaches it
  /// runs elsewhere.
  var filled: [Property] { areIsolated ? [] : properties }

  /// The wrapper's part of an object's property.
  func link(_ property: Property, of object: AnyObject) -> PropertyLink {
    // The object has a property of the type `Required` at this offset, which consists of a reference to a link.
    unsafe (Unmanaged.passUnretained(object).toOpaque() + property.offset).load(as: PropertyLink.self)
  }

  /// The name of the property that contains the given part of a wrapper.
  static func name(of link: PropertyLink, in object: AnyObject) -> String? {
    let needs = of(type(of: object))
    return needs.properties.first { needs.link($0, of: object) === link }?.name
  }

  // All addresses below lead to constants of the program, which are never freed. The offset of a property is read only
  // if the runtime has stored it where the description says: this is not the case if the layout of the superclass may
  // change without the class being compiled again.

  private static var word: Int { MemoryLayout<UInt>.size }

  /// The description of a class; nil if the class is not written in Swift.
  @unsafe
  private static func description(of metadata: UnsafeRawPointer) -> UnsafeRawPointer? {
    #if canImport(Darwin)
      guard unsafe metadata.load(fromByteOffset: 4 * word, as: UInt.self) & 2 != 0 else { return nil }
      return unsafe metadata.load(fromByteOffset: 5 * word + 24, as: UnsafeRawPointer?.self)
    #else
      return unsafe metadata.load(fromByteOffset: 2 * word + 24, as: UnsafeRawPointer?.self)
    #endif
  }

  @unsafe
  private static func isActor(_ type: AnyClass) -> Bool {
    let description = unsafe description(of: unsafeBitCast(type, to: UnsafeRawPointer.self))
    return unsafe description.map { unsafe $0.load(as: UInt32.self) >> 23 & 1 == 1 } ?? false
  }

  @unsafe
  private static func requiredProperties(declaredIn type: AnyClass) -> [Property] {
    let metadata = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
    guard let description = unsafe description(of: metadata), let list = unsafe target(description + 16) else {
      return []
    }
    let hasResilientSuperclass = unsafe description.load(as: UInt32.self) >> 29 & 1 == 1
    if hasResilientSuperclass { return [] }
    let offsets = unsafe metadata + word * Int(description.load(fromByteOffset: 40, as: UInt32.self))
    let wrapper = unsafe unsafeBitCast(Required<Never>.self, to: UnsafeRawPointer.self)
      .load(fromByteOffset: word, as: UnsafeRawPointer.self)
    return unsafe (0..<Int(list.load(fromByteOffset: 12, as: UInt32.self))).compactMap { index in
      let record = unsafe list + 16 + 12 * index
      guard let type = unsafe target(record + 4), let name = unsafe target(record + 8) else { return nil }
      // The name of a type begins with a reference to the description of the type, or to a pointer to it.
      let beginning = unsafe type.load(as: UInt8.self)
      guard beginning == 1 || beginning == 2, let named = unsafe target(type + 1),
        unsafe (beginning == 1 ? named : named.load(as: UnsafeRawPointer.self)) == wrapper
      else { return nil }
      return unsafe Property(
        name: String(cString: name.assumingMemoryBound(to: CChar.self) + 1),
        offset: offsets.load(fromByteOffset: word * index, as: Int.self))
    }
  }

  /// Follows a relative address; nil if there is none.
  @unsafe
  private static func target(_ place: UnsafeRawPointer) -> UnsafeRawPointer? {
    let distance = unsafe Int(place.loadUnaligned(as: Int32.self))
    return unsafe distance == 0 ? nil : place + distance
  }
}

extension UDIAttachment {
  /// Looks up what the object requires, after it has been attached. What is missing is reported: the program stops only
  /// when the property is read.
  ///
  /// - Parameter site: The call, or the registration, that attached the object; nil if that is not known.
  func meetNeeds(of object: AnyObject, at site: UDICallSite?) {
    guard PropertyLink.someAreRequired.load(ordering: .relaxed) else { return }
    let needs = Needs.of(type(of: object))
    for property in needs.filled { needs.link(property, of: object).fill(self, of: object, at: site) }
  }

  /// Whether the object requires something.
  func hasNeeds(of object: AnyObject) -> Bool {
    PropertyLink.someAreRequired.load(ordering: .relaxed) && !Needs.of(type(of: object)).filled.isEmpty
  }
}
