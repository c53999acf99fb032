/// A weak reference to an object, and what is needed to hand the object out as the type that it was stored under.
///
/// Entries are objects so that an index can point at them, and immutable, so that copies of a dictionary can share them
/// and any thread may read them.
@usableFromInline
class WeakEntry: @unchecked Sendable {
  // Unchecked: the object need not be `Sendable`. Whoever hands it out makes sure that this is allowed: a context by
  // the isolation of its verbs, a `WeakValueDictionary` by being `Sendable` only if its values are.
  weak let object: AnyObject?
  let form: StoredForm

  /// - Parameter form: The form of a dependency that is alive during the call.
  @usableFromInline
  init(_ form: StoredForm) {
    object = form.borrowed.read { $0 }
    self.form = form
  }

  /// An entry that refers to nothing.
  init(without form: StoredForm) {
    object = nil
    self.form = form
  }

  /// The object as `Value`, the type that it was stored under, or nil if it is dead.
  // Clients compile this method themselves, because they know the type, but all the work is in the method that it
  // calls. If this method were compiled in the library, where the type is not known, the runtime would have to look up
  // the metadata of the type's optional, and the benchmark "@WeaklyLinked, after the first read" would take twice as
  // long.
  @inlinable
  @inline(__always)
  final func load<Value>(as type: Value.Type) -> Value? {
    var value: Value?
    unsafe withUnsafeMutablePointer(to: &value) { unsafe load(as: type, into: UnsafeMutableRawPointer($0)) }
    return value
  }

  /// Writes the object, if it is alive, as a value of the type that it was stored under.
  ///
  /// - Parameter memory: The address of an optional of the type, which is nil.
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
