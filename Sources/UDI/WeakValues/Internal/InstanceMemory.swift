/// Memory for an optional of the type that a lookup asks for, which contains nil until something is written. The memory
/// exists only during the call that it is passed to.
///
/// Marked safe for two reasons. It is made only from memory that exists during the call, and all code that writes or
/// reads the memory uses the right type.
@safe
struct InstanceMemory {
  let address: UnsafeMutableRawPointer

  /// Writes a value of a form. The dependency from which the form was made must be known to be alive.
  @inline(__always)
  func write(_ form: StoredForm) { unsafe form.write(to: address) }

  /// Writes an instance or nil.
  ///
  /// - Returns: Whether there is an instance.
  func write<Dependency>(_ instance: Dependency?) -> Bool {
    unsafe address.assumingMemoryBound(to: Dependency?.self).pointee = instance
    return instance != nil
  }

  /// Writes an instance, with a cast if necessary.
  ///
  /// - Returns: Whether the instance is of the type.
  func write(_ instance: consuming Instance, isExact: Bool, as type: Any.Type) -> Bool {
    // A shortcut: the instance is written directly, as a lookup writes a bound instance. The general path below looks
    // up the metadata of the type's optional, which is slow.
    if isExact, !instance.isBox, instance.form.isComplete {
      unsafe instance.form.write(instance.object, to: address)
      return true
    }
    func write<Dependency>(_ type: Dependency.Type) -> Bool { self.write(instance.value(as: type, isExact: isExact)) }
    return _openExistential(type, do: write)
  }

  /// Writes an object if it is an instance of the type, and nil otherwise.
  ///
  /// - Returns: Whether the object is an instance of the type.
  func write(_ object: AnyObject, as type: Any.Type) -> Bool {
    func cast<Dependency>(to type: Dependency.Type) -> Bool { write(object as? Dependency) }
    return _openExistential(type, do: cast)
  }
}
