/// An instance that a provider made, without its type.
@safe
struct Instance: @unchecked Sendable {
  // Unchecked: the verbs make and hand out what is not `Sendable` only on the main actor.

  /// The instance, or a `ValueBox` that contains it.
  let object: AnyObject
  /// The form of the instance; incomplete for a box.
  let form: StoredForm
  let isBox: Bool

  init(object: AnyObject, form: StoredForm, isBox: Bool) {
    self.object = object
    self.form = form
    self.isBox = isBox
  }

  /// Wraps a dependency.
  @inline(__always)
  init<Dependency>(_ dependency: Dependency) {
    if let form = StoredForm.of(dependency, as: Dependency.self) {
      object = form.object
      self.form = form
      isBox = false
      withExtendedLifetime(dependency) {}
    } else {
      object = ValueBox(dependency)
      form = .none
      isBox = true
    }
  }

  /// The instance as `Dependency`, with a cast if necessary.
  ///
  /// - Parameter isExact: Whether it was made as this very type.
  func value<Dependency>(as type: Dependency.Type, isExact: Bool) -> Dependency? {
    if isBox { return (object as? ValueBox<Dependency>)?.value ?? anyValue as? Dependency }
    guard isExact, form.isComplete else { return object as? Dependency }
    var value: Dependency?
    unsafe withUnsafeMutablePointer(to: &value) { unsafe write(to: UnsafeMutableRawPointer($0)) }
    return value
  }

  func write(to memory: UnsafeMutableRawPointer) { unsafe form.write(object, to: memory) }

  var anyValue: Any { isBox ? (object as? AnyBox)?.anyValue ?? object : object }
}

class AnyBox {
  init() {}
  var anyValue: Any { preconditionFailure("a box holds something") }
}

/// A value that is not a class instance, wrapped in an object.
final class ValueBox<Value>: AnyBox {
  let value: Value

  init(_ value: Value) {
    self.value = value
    super.init()
  }

  override var anyValue: Any { value }
}
