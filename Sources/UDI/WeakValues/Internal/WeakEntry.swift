/// A weak reference to an object, together with the information that is needed to return the object as the type that it
/// was stored under.
///
/// Entries are objects, so that an index can point at them. They are immutable, so that copies of a dictionary can
/// share them, and any thread may read them.
@usableFromInline
class WeakEntry: @unchecked Sendable {
  // Unchecked: the object need not be `Sendable`. Code that returns the object makes sure that the caller may use it:
  // contexts by the isolation of their verbs, and `WeakValueDictionary` by being `Sendable` only if its values are.
  weak let object: AnyObject?
  let form: StoredForm

  /// - Parameters:
  ///   - form: The form of an object. If the entry holds the object weakly, it must be alive during the call.
  ///   - isWeak: Whether the entry holds the object weakly. Otherwise it holds none.
  @usableFromInline
  init(_ form: StoredForm, isWeak: Bool = true) {
    object = isWeak ? form.borrowed.read { $0 } : nil
    self.form = form
  }

  /// The object as `Value`, the type that it was stored under; nil if the object has been released.
  // Clients compile this method themselves, but the method that it calls does all the work. The library does not know
  // the type, so it would have to look up the metadata of the type's optional, and a read of a property that is linked
  // weakly ("@Linked(keeps: .weakly), after the first read" in `Benchmarks/compare`) would take twice as long.
  @inlinable
  @inline(__always)
  final func load<Value>(as type: Value.Type) -> Value? {
    var value: Value?
    unsafe withUnsafeMutablePointer(to: &value) { unsafe load(as: type, into: UnsafeMutableRawPointer($0)) }
    return value
  }

  /// If the object is alive, writes it to memory as the type that it was stored under.
  ///
  /// - Parameter memory: The memory of an optional of the type. It must contain nil.
  @usableFromInline
  final func load(as type: Any.Type, into memory: UnsafeMutableRawPointer) {
    guard let object else { return }
    if form.isComplete { return unsafe form.write(object, to: memory) }
    func cast<Value>(to type: Value.Type) {
      unsafe memory.assumingMemoryBound(to: Value?.self).pointee = object as? Value
    }
    _openExistential(type, do: cast)
  }
}

extension WeakEntry: CustomReflectable {
  /// An empty mirror, because a mirror can be made on any thread, and the object may belong to the main actor.
  @usableFromInline final var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}
