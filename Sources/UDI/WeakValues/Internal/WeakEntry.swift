/// A weak reference to an object, together with the information that is needed to return the object as the type that it
/// was stored under.
///
/// Entries are objects, so that an index can point at them. The two properties are constants, so copies of a dictionary
/// can share entries, and any thread may read them.
package class WeakEntry: CustomReflectable, @unchecked Sendable {
  // Unchecked: the object need not be `Sendable`. Code that returns the object makes sure that the caller may use it:
  // contexts by the isolation of their verbs, and `WeakValueDictionary` by being `Sendable` only if its values are.
  weak let object: AnyObject?
  let form: StoredForm

  /// - Parameters:
  ///   - form: The form of an object. If the entry holds the object weakly, it must be alive during the call.
  ///   - isWeak: Whether the entry holds the object weakly. Otherwise it holds none.
  init(_ form: StoredForm, isWeak: Bool = true) {
    object = isWeak ? form.borrowed.read { $0 } : nil
    self.form = form
  }

  /// The object as `Value`, the type that it was stored under; nil if the object has been released.
  final func load<Value>(as type: Value.Type) -> Value? {
    object.flatMap { Instance(object: $0, form: form, isBox: false).value(as: type) }
  }

  /// An empty mirror, because a mirror can be made on any thread, and the object may belong to the main actor.
  package final var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}
