/// A weak reference to an object, and what it takes to hand the object out as the type it was stored under.
///
/// Entries are objects so that an index can point at them, and immutable, so that copies of a dictionary can share them
/// and any thread may read them.
class WeakEntry: @unchecked Sendable {
  // Unchecked: the object need not be `Sendable`. Whoever hands it out answers for that: a context by its verbs'
  // isolation, a `WeakValueDictionary` by being `Sendable` only where its values are.
  weak let object: AnyObject?
  let form: StoredForm

  init(_ dependency: CapturedDependency) {
    object = dependency.object
    form = dependency.form
  }

  /// The object as `Value`, the type it was captured as, or nil when it is dead.
  final func load<Value>(as type: Value.Type) -> Value? {
    guard let object else { return nil }
    guard form.isComplete else { return object as? Value }
    return unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
      let address = unsafe memory.baseAddress.unsafelyUnwrapped
      unsafe form.write(object, to: UnsafeMutableRawPointer(address))
      return unsafe address.move()
    }
  }
}

/// A dependency taken apart: its object, and the form in which the type it is registered under stores it.
@usableFromInline
struct CapturedDependency {
  @usableFromInline let object: AnyObject
  @usableFromInline let form: StoredForm

  @usableFromInline
  init(object: AnyObject, form: StoredForm) {
    self.object = object
    self.form = form
  }

  /// Takes `dependency` apart.
  ///
  /// - Returns: Nil if it is no class instance: a value of a struct or an enum, an Optional among them, cannot be held weakly.
  @inlinable
  static func of<Dependency>(_ dependency: Dependency) -> CapturedDependency? {
    // Not `as AnyObject`, which succeeds for every value by boxing it.
    guard let metatype = Swift.type(of: dependency as Any) as? AnyClass else { return nil }
    let object = dependency as AnyObject
    if ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(metatype) {
      return CapturedDependency(object: object, form: StoredForm.of(dependency, object))
    }
    // An instance stored as `any Error` sits in a box, and `as AnyObject` gives that.
    guard let unboxed = self.object(in: dependency, of: metatype) else { return nil }
    return CapturedDependency(object: unboxed, form: StoredForm.of(dependency, unboxed))
  }

  @usableFromInline
  static func object(in value: Any, of metatype: AnyClass) -> AnyObject? {
    func cast<Class: AnyObject>(to _: Class.Type) -> AnyObject? { value as? Class }
    return cast(to: metatype)
  }
}

/// The words in which a value of a protocol or class type stores a reference to an object.
///
/// An existential is the reference and, behind it, what the compiler knows of the object's type: witness tables, and for a protocol
/// that is not bound to classes the metadata, at the end of a three-word buffer of which only the first word is in use.
/// (Type Layout, "Existential Containers", in the Swift repository: docs/ABI/TypeLayout.rst.) To hand out a value again
/// it is enough to write those words around a new strong reference; a cast would look up the conformance each time, at
/// twice to four times the cost of the whole lookup.
///
/// Why that is sound: the words are those of a value of the same type with the same object, recorded while it was
/// alive, and all but the reference itself are constants of the object's dynamic type. Only a value whose dynamic type is a
/// class gets here, so the type is a class, or an existential that holds the reference in its first word; the one
/// exception is `any Error`, which boxes. The first word is compared with the object's address, and where that or the
/// size is not as expected the form is incomplete and a cast is used.
@usableFromInline
@safe
struct StoredForm {
  /// The first word is the object's address: to recognise the object by, never to reach it.
  @usableFromInline let address: UInt
  @usableFromInline let rest: (UInt, UInt, UInt, UInt)
  /// How many words a value has, or 0 where they do not suffice to rebuild one.
  @usableFromInline let count: UInt8

  @usableFromInline
  init(address: UInt, rest: (UInt, UInt, UInt, UInt), count: UInt8) {
    self.address = address
    self.rest = rest
    self.count = count
  }

  @usableFromInline var isComplete: Bool { count != 0 }

  @inlinable
  static func of<Dependency>(_ dependency: Dependency, _ object: AnyObject) -> StoredForm {
    let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    let word = MemoryLayout<UInt>.size
    let count = MemoryLayout<Dependency>.size / word
    guard MemoryLayout<Dependency>.size == count * word, 1...5 ~= count else {
      return StoredForm(address: address, rest: (0, 0, 0, 0), count: 0)
    }
    return unsafe withUnsafeBytes(of: dependency) { bytes in
      func load(_ index: Int) -> UInt {
        unsafe index < count ? bytes.loadUnaligned(fromByteOffset: index * word, as: UInt.self) : 0
      }
      let rest = (load(1), load(2), load(3), load(4))
      return StoredForm(address: address, rest: rest, count: load(0) == address ? UInt8(count) : 0)
    }
  }

  /// Makes a value of the captured type at `memory`, which then owns `object`.
  ///
  /// - Parameter memory: Uninitialised memory for a value of the type that the form was captured from.
  @inline(__always)
  func write(_ object: consuming AnyObject, to memory: UnsafeMutableRawPointer) {
    let words = unsafe memory.assumingMemoryBound(to: UInt.self)
    unsafe words[0] = UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
    switch count {
    case 1: break
    case 2: unsafe words[1] = rest.0
    default:
      unsafe words[1] = rest.0
      unsafe words[2] = rest.1
      if count > 3 { unsafe words[3] = rest.2 }
      if count > 4 { unsafe words[4] = rest.3 }
    }
  }
}
