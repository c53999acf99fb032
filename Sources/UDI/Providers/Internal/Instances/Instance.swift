/// An instance that a provider made, without its static type.
@safe
struct Instance: @unchecked Sendable {
  // Unchecked: an instance that is not `Sendable` is made and used only on the main actor; the verbs see to that.

  /// The instance, or a `ValueBox` that contains it.
  let object: AnyObject
  /// How the instance is stored in an existential; incomplete for a box.
  let form: StoredForm
  let isBox: Bool

  /// Returns the instance as `Dependency`, with a cast if necessary.
  ///
  /// - Parameter isExact: Whether the instance was made as exactly this type.
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

extension Instance {
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
