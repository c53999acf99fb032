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
    unsafe withUnsafeMutablePointer(to: &value) { unsafe form.write(object, to: UnsafeMutableRawPointer($0)) }
    return value
  }

  var anyValue: Any { isBox ? (object as? AnyBox)?.anyValue ?? object : object }
}

extension Instance {
  /// Wraps the words of an optional whose type `holdsReferences`; nil if the optional is nil.
  ///
  /// - Parameters:
  ///   - reference: The address of an object, which is taken over with one count of its references; 0 for nil.
  ///   - words: The other words of the value.
  @unsafe
  @inline(__always)
  init?(owning reference: UInt, _ words: (UInt, UInt), wordCount: UInt8) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: reference) else { return nil }
    self.init(
      object: unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue(),
      form: StoredForm(address: reference, words: words, wordCount: wordCount), isBox: false)
  }

  /// Does the same for words in memory.
  @unsafe
  @inline(__always)
  init?(owning memory: UnsafeRawPointer, wordCount: UInt8) {
    let word = MemoryLayout<UInt>.size
    func load(_ index: UInt8) -> UInt {
      index < wordCount ? unsafe memory.load(fromByteOffset: Int(index) * word, as: UInt.self) : 0
    }
    unsafe self.init(owning: load(0), (load(1), load(2)), wordCount: wordCount)
  }

  /// Moves a value out of memory; nil if there is none. This is a separate function, because it needs the optional's
  /// metadata, which must not be looked up for references.
  @unsafe
  @inline(never)
  init?<Dependency>(moving memory: UnsafeMutablePointer<Dependency?>) {
    guard let value = unsafe memory.move() else { return nil }
    self.init(value)
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

// MARK: - What a lookup gets

/// Memory for an optional of the type that a lookup asks for, which contains nil. The memory exists only during the
/// call that it is passed to.
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

// MARK: - What a provider keeps

/// The entry for an instance that a provider keeps. Slots refer to this entry instead of to the provider.
class InstanceEntry: Entry, @unchecked Sendable {
  // Unchecked: this class adds only properties that stay constant until `deinit`.

  /// The instance, or the box that contains it, if the entry holds it strongly; nil if it holds it weakly.
  final var owned: AnyObject? { unsafe uncheckedOwned }
  /// Written only in `init` and `deinit`.
  @exclusivity(unchecked) private final var uncheckedOwned: AnyObject?
  private let provider: Unretained<Provider>

  /// - Parameter isWeak: Whether to hold the instance weakly, because its users keep it alive.
  init(_ instance: borrowing Instance, _ provider: Provider, isWeak: Bool) {
    self.provider = Unretained(provider)
    unsafe uncheckedOwned = isWeak ? nil : instance.object
    super.init(
      isWeak ? .observed : instance.isBox ? .boxed : .owned, instance.form, isWeak: isWeak, key: provider.key,
      isExact: provider.makesExactType, provider.reach, provider.site)
  }

  deinit {
    // The context that owns this entry can be released on any thread, but an instance that is not `Sendable` must be
    // released on the main actor.
    guard reach == .mainActor, let owned = unsafe uncheckedOwned.take() else { return }
    releaseOnMainActor(consume owned)
  }

  /// The instance, or nil if it has been released.
  final var instance: Instance? {
    (owned ?? object).map { Instance(object: $0, form: form, isBox: kind == .boxed) }
  }

  override func withdraw(_ garbage: inout Garbage) {
    provider.object.forget(self, &garbage)
  }

  /// The provider that made the instance. Call this only under a lock that guards a slot that refers to this entry. As
  /// long as the slot refers to the entry, the provider is alive.
  final var maker: Provider { provider.object }

  override func instance(for context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    instance
  }
}
