/// An instance that a provider made, without its static type.
@safe
struct Instance: @unchecked Sendable {
  // Unchecked: an instance that is not `Sendable` is made and used only on the main actor; the verbs see to that.

  /// The instance, or a `ValueBox` that contains it.
  let object: AnyObject
  /// The words of `form` without the object's address. With the address, an instance would not fit into the registers
  /// in which functions return values.
  private let words: (UInt, UInt)
  /// `max` for a box.
  private let wordCount: UInt8

  init(object: AnyObject, form: StoredForm, isBox: Bool) {
    self.object = object
    words = form.words
    wordCount = isBox ? .max : form.wordCount
  }

  var isBox: Bool { wordCount == .max }

  /// How the instance is stored in an existential; incomplete for a box.
  var form: StoredForm {
    StoredForm(address: Unretained(object).address, words: words, wordCount: isBox ? 0 : wordCount)
  }

  /// Returns the instance as `Dependency`, with a cast if necessary; nil if it is not of this type.
  ///
  /// - Parameter isExact: Whether the instance was made as exactly this type.
  func value<Dependency>(as type: Dependency.Type, isExact: Bool = true) -> Dependency? {
    if isBox { return (object as? ValueBox<Dependency>)?.value ?? anyValue as? Dependency }
    guard isExact, form.isComplete else { return object as? Dependency }
    var value: Dependency?
    unsafe withUnsafeMutablePointer(to: &value) { unsafe form.write(object, to: UnsafeMutableRawPointer($0)) }
    return value
  }

  /// Returns the instance as `Dependency`, the type that it was made as. For an object, this takes less time than
  /// `value`, which needs the metadata of the optional. So does the function for boxes, which is therefore not inlined.
  func exact<Dependency>() -> Dependency { isBox ? unboxed() : object as! Dependency }

  @inline(never)
  private func unboxed<Dependency>() -> Dependency { unsafe value(as: Dependency.self).unsafelyUnwrapped }

  /// The instance or, if it is in a box, the value in the box.
  var anyValue: Any { isBox ? (object as? AnyBox)?.anyValue ?? object : object }

  /// Gives the instance as long as something else holds it.
  var weakly: @Sendable () -> Instance? {
    let entry = withExtendedLifetime(object) { WeakEntry(form) }
    // A closure that captures nothing but an object takes no memory of its own.
    return { entry.object.map { Instance(object: $0, form: entry.form, isBox: $0 is AnyBox) } }
  }

  /// Wraps the words of an optional whose type `holdsReferences`; nil if the optional is nil.
  ///
  /// - Parameters:
  ///   - reference: The address of an object, which is taken over with one count of its references; 0 for nil.
  ///   - words: The other words of the value.
  @unsafe @inline(__always)
  init?(owning reference: UInt, _ words: (UInt, UInt), wordCount: UInt8) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: reference) else { return nil }
    self.init(
      object: unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue(),
      form: StoredForm(address: reference, words: words, wordCount: wordCount), isBox: false)
  }

  /// Does the same for words in memory.
  @unsafe @inline(__always)
  init?(owning memory: UnsafeRawPointer, wordCount: UInt8) {
    let form = unsafe StoredForm(references: memory, size: Int(wordCount) * MemoryLayout<UInt>.size)
    unsafe self.init(owning: form.address, form.words, wordCount: wordCount)
  }

  /// Moves a value out of memory; nil if there is none. This is a separate function, because it needs the optional's
  /// metadata, which must not be looked up for references.
  @unsafe @inline(never)
  init?<Dependency>(moving memory: UnsafeMutablePointer<Dependency?>) {
    guard let value = unsafe memory.move() else { return nil }
    self.init(value)
  }

  /// The number of words of a value, if the type `holdsReferences`; otherwise 0.
  @inline(__always)
  static func words<Dependency>(of type: Dependency.Type) -> UInt8 {
    TypeMetadata(type).holdsReferences ? UInt8(MemoryLayout<Dependency>.size / MemoryLayout<UInt>.size) : 0
  }

  /// Wraps the dependency that `write` writes to memory for an optional of a type; nil if it writes none.
  ///
  /// - Parameter write: Gets the memory, which contains nil.
  static func written(as type: Any.Type, _ write: (InstanceMemory) throws -> Void) rethrows -> Instance? {
    func inOptional<Dependency>(_ type: Dependency.Type) throws -> Instance? {
      var found: Dependency?
      try unsafe withUnsafeMutablePointer(to: &found) { try write(unsafe InstanceMemory(address: $0)) }
      return .wrapping(found)
    }
    let count = Self.words(of: type)
    if count == 0 { return try _openExistential(type, do: inOptional) }
    // In an optional of such a type, the first word is 0 for nil. The metadata of the optional are slow to find.
    var words: (UInt, UInt, UInt) = (0, 0, 0)
    try unsafe withUnsafeMutableBytes(of: &words) {
      try write(unsafe InstanceMemory(address: $0.baseAddress.unsafelyUnwrapped))
    }
    return unsafe Instance(owning: words.0, (words.1, words.2), wordCount: count)
  }

  /// Wraps a dependency.
  @inline(__always)
  init<Dependency>(_ dependency: Dependency) {
    if let form = StoredForm.of(dependency, as: Dependency.self) {
      self.init(object: form.object, form: form, isBox: false)
      withExtendedLifetime(dependency) {}
    } else {
      self.init(object: ValueBox(dependency), form: .none, isBox: true)
    }
  }

  /// Wraps a dependency, if there is one. This is not inlined, for places where size matters more than speed.
  @inline(never)
  static func wrapping<Dependency>(_ dependency: Dependency?) -> Instance? { dependency.map { Instance($0) } }
}

/// An instance that is released on the main actor, if it belongs there.
typealias OwnedInstance = ActorOwned<Instance>

extension OwnedInstance {
  /// - Parameter reach: Where the instance may be used.
  convenience init(_ instance: Instance, _ reach: UDIReach) {
    self.init(instance, by: reach == .mainActor ? MainActor.shared : nil)
  }
}

/// A `ValueBox`, whatever the type of its value.
class AnyBox { var anyValue: Any { preconditionFailure("a box holds something") } }

/// A value that is not a class instance, wrapped in an object.
final class ValueBox<Value>: AnyBox {
  let value: Value

  init(_ value: Value) { self.value = value }

  override var anyValue: Any { value }
}
