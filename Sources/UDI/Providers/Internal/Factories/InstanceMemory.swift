/// Memory for an optional of the type that a factory makes. The memory exists only during the call that it is passed
/// to. A lookup passes memory that contains nil. `Factory.call` passes raw memory, which the factory initialises before
/// any code reads it.
///
/// Marked safe for two reasons. It is made only from memory that exists during the call, and all code that writes or
/// reads the memory uses the right type.
@safe
struct InstanceMemory {
  let address: UnsafeMutableRawPointer

  @unsafe
  init(_ address: UnsafeMutableRawPointer) { unsafe self.address = address }

  @unsafe
  init<Dependency>(_ optional: UnsafeMutablePointer<Dependency?>) { unsafe address = UnsafeMutableRawPointer(optional) }

  /// Writes an instance or nil.
  ///
  /// - Returns: Whether there is an instance.
  @discardableResult
  func write<Dependency>(_ instance: Dependency?) -> Bool {
    let isThere = if case .some = instance { true } else { false }
    unsafe address.assumingMemoryBound(to: Dependency?.self).pointee = instance
    return isThere
  }

  /// Writes an instance, with a cast if necessary.
  ///
  /// - Returns: Whether the instance is of the type.
  func write(_ instance: Instance, isExact: Bool, as type: Any.Type) -> Bool {
    // A shortcut: the instance is written directly, as a lookup writes a bound instance. The general path below looks
    // up the metadata of the type's optional, which is slow.
    if isExact, !instance.isBox, instance.form.isComplete {
      unsafe instance.write(to: address)
      return true
    }
    func write<Dependency>(_ type: Dependency.Type) -> Bool { self.write(instance.value(as: type, isExact: isExact)) }
    return _openExistential(type, do: write)
  }

  /// Moves the instance out of the memory; nil if there is none.
  func take<Dependency>(as type: Dependency.Type) -> Instance? {
    guard TypeMetadata(type).holdsReferences else { return takeValue(as: type) }
    // The first word is a reference, or zero for nil.
    guard let reference = unsafe address.load(as: UnsafeRawPointer?.self) else { return nil }
    let form = unsafe StoredForm(references: address, size: MemoryLayout<Dependency>.size)
    return unsafe Instance(
      object: Unmanaged<AnyObject>.fromOpaque(reference).takeRetainedValue(), form: form, isBox: false)
  }

  // This is a separate function, because it needs the optional's metadata, which `take` must not look up for
  // references.
  @inline(never)
  private func takeValue<Dependency>(as type: Dependency.Type) -> Instance? {
    unsafe address.assumingMemoryBound(to: Dependency?.self).move().map { Instance($0) }
  }

  /// Writes an object if it is an instance of the type, and nil otherwise.
  ///
  /// - Returns: Whether the object is an instance of the type.
  func write(_ object: AnyObject, as type: Any.Type) -> Bool {
    func cast<Dependency>(to type: Dependency.Type) -> Bool { write(object as? Dependency) }
    return _openExistential(type, do: cast)
  }
}
