/// A provider whose factory takes the context alone.
final class Factory: Provider, @unchecked Sendable {
  // Unchecked: it adds constants. Where the closures may be called is what `isolation` says.

  /// Has the factory make an instance, and writes it to memory, or nil.
  typealias Write = (UDIContext, InstanceMemory) throws -> Void

  let write: Write
  private let completion: ((UDIContext, Made) -> Void)?

  init(
    _ description: consuming Description, _ write: @escaping Write, _ completion: ((UDIContext, Made) -> Void)?
  ) {
    if let owner = description.owner {
      let owned = ActorOwned((write: write, complete: completion), by: owner)
      self.write = { try owned.value.write($0, $1) }
      self.completion = completion == nil ? nil : { owned.value.complete?($0, $1) }
    } else {
      self.write = write
      self.completion = completion
    }
    super.init(description, argumentTypes: nil, isFactory: true)
  }

  override func make(_ context: UDIContext, _ arguments: [Any]) throws -> Made? {
    guard arguments.isEmpty else { throw ProviderFailure.arguments(wanted: [], given: arguments.map { type(of: $0) }) }
    func make<Dependency>(_ type: Dependency.Type) throws -> Made? {
      var found: Dependency?
      try unsafe withUnsafeMutablePointer(to: &found) { try unsafe write(context, InstanceMemory($0)) }
      return found.map { Made($0) }
    }
    return try _openExistential(madeType, do: make)
  }

  override func complete(_ made: Made, _ context: UDIContext, _ arguments: [Any]) { completion?(context, made) }
}

extension Factory {
  /// What a factory is kept as, without its type.
  static func writing<Dependency>(_ make: @escaping (UDIContext) throws -> Dependency?) -> Write {
    { context, memory in
      let place = unsafe memory.address.assumingMemoryBound(to: Dependency?.self)
      unsafe place.initialize(to: try make(context))
    }
  }

  /// The same for a factory that needs no context.
  static func writing<Dependency>(_ make: @escaping () throws -> Dependency?) -> Write {
    { _, memory in
      let place = unsafe memory.address.assumingMemoryBound(to: Dependency?.self)
      unsafe place.initialize(to: try make())
    }
  }

  /// What a factory is kept as that is registered as a subclass of what it makes.
  static func checking(_ write: @escaping Write, of made: Any.Type, as type: Any.Type) -> Write {
    { context, memory in
      try write(context, memory)
      func isOther<Made>(_ made: Made.Type) -> Bool {
        guard let instance = memory.read(as: made), !isInstance(type, instance as AnyObject) else { return false }
        return !memory.write(Made?.none)
      }
      if _openExistential(made, do: isOther) { throw ProviderFailure.notConvertible(from: made) }
    }
  }

  /// What is called afterwards, without its type.
  static func completing<Dependency>(
    _ complete: (@isolated(any) (UDIContext, Dependency) -> Void)?
  ) -> ((UDIContext, Made) -> Void)? {
    guard let complete else { return nil }
    let plain = IsolatedBlock(complete).isolationErased
    return { context, made in
      if let dependency = made.value(as: Dependency.self, isExact: true) { plain(context, dependency) }
    }
  }
}

/// Memory for an optional of the type that a factory makes. It holds nil, and is there during the call that gets it.
///
/// Marked safe, because it is only made of an optional that lives during the call, and whoever writes or reads knows its type: a lookup asks a
/// `Factory` only for the type that it was registered as (`Entry.isFactory(of:)`). That is the type that it makes, or a subclass of that, of which
/// its instances then are (`checking`); the optionals of both are one reference.
@safe
struct InstanceMemory {
  let address: UnsafeMutableRawPointer

  @unsafe
  init(_ address: UnsafeMutableRawPointer) { unsafe self.address = address }

  @unsafe
  init<Dependency>(_ optional: UnsafeMutablePointer<Dependency?>) { unsafe address = UnsafeMutableRawPointer(optional) }

  /// Writes an instance, or nil.
  ///
  /// - Returns: Whether there is an instance.
  @discardableResult
  func write<Dependency>(_ instance: Dependency?) -> Bool {
    let isThere = if case .some = instance { true } else { false }
    unsafe address.assumingMemoryBound(to: Dependency?.self).pointee = instance
    return isThere
  }

  /// Writes an object, if it is an instance of the type.
  ///
  /// - Returns: Whether it is.
  func write(_ object: AnyObject, as type: Any.Type) -> Bool {
    func cast<Dependency>(to type: Dependency.Type) -> Bool { write(object as? Dependency) }
    return _openExistential(type, do: cast)
  }

  /// What has been written.
  func read<Dependency>(as type: Dependency.Type) -> Dependency? {
    unsafe address.assumingMemoryBound(to: Dependency?.self).pointee
  }
}

/// The closures that a verb was given, without their types, and where they belong.
struct FactoryClosures {
  /// The type that the factory makes. Another one than that which it is registered as, where a class's metatype was given by a variable of its
  /// superclass's.
  let type: Any.Type
  let write: Factory.Write
  let actor: (any Actor)?
  let complete: ((UDIContext, Made) -> Void)?
  let completionActor: (any Actor)?
  /// The actor in whose code the verb was called; not told where the closures stay on the main actor in any case.
  let caller: (any Actor)?
  /// Whether the factory takes something that is not `Sendable`.
  let staysOnMainActor: Bool

  init(
    _ type: Any.Type, _ write: @escaping Factory.Write, _ actor: (any Actor)?,
    _ complete: ((UDIContext, Made) -> Void)?,
    _ completionActor: (any Actor)?, _ caller: (any Actor)?, staysOnMainActor: Bool = false
  ) {
    self.type = type
    self.write = write
    self.actor = actor
    self.complete = complete
    self.completionActor = completionActor
    self.caller = caller
    self.staysOnMainActor = staysOnMainActor
  }
}

/// A provider whose factory takes arguments, too.
final class ArgumentFactory: Provider, @unchecked Sendable {
  // Unchecked: it adds constants. Where the closures may be called is what `isolation` says.
  private let factory: (UDIContext, [Any]) throws -> Made?
  private let completion: ((UDIContext, Made, [Any]) -> Void)?

  init(
    _ description: consuming Description, _ erased: ErasedFactory,
    _ completion: ((UDIContext, Made, [Any]) -> Void)?
  ) {
    if let owner = description.owner {
      let owned = ActorOwned((make: erased.make, complete: completion), by: owner)
      self.factory = { try owned.value.make($0, $1) }
      self.completion = completion == nil ? nil : { owned.value.complete?($0, $1, $2) }
    } else {
      factory = erased.make
      self.completion = completion
    }
    super.init(description, argumentTypes: erased.argumentTypes, isFactory: false)
  }

  override func make(_ context: UDIContext, _ arguments: [Any]) throws -> Made? { try factory(context, arguments) }

  override func complete(_ made: Made, _ context: UDIContext, _ arguments: [Any]) {
    completion?(context, made, arguments)
  }
}
