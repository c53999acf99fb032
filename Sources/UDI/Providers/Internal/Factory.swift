/// A provider whose factory takes at most a context.
final class Factory: Provider, @unchecked Sendable {
  // Unchecked: it adds constants and an atomic. `isolation` says where the closures may be called.

  private let function: FactoryFunction?
  private let special: Special?

  /// What only few factories need.
  private final class Special {
    /// The function, instead of the one above, and what is called afterwards, if they belong to an actor and only that
    /// may release them.
    let owned: ActorOwned<Closures>?
    /// What is called afterwards.
    let complete: Completion?
    /// The type that the function makes, if the provider is registered as a subclass of it.
    let madeClass: Any.Type?

    struct Closures {
      let function: FactoryFunction
      let complete: Completion?
    }

    init(owned: ActorOwned<Closures>?, _ complete: Completion?, madeClass: Any.Type?) {
      self.owned = owned
      self.complete = complete
      self.madeClass = madeClass
    }
  }

  typealias Completion = (UDIContext, Instance) -> Void

  /// - Parameter made: The type that the function makes: the type that the provider is registered as, or a superclass
  ///   of that.
  init(
    _ type: Any.Type, _ name: UDIName?, _ lifetime: UDILifetime?, _ metadata: BindRequest.Metadata?, _ site: CallSite,
    _ reach: Reach, _ isolation: Isolation, _ function: FactoryFunction, making made: Any.Type, _ complete: Completion?
  ) {
    let madeClass = made == type ? nil : made
    if let owner = isolation.owner(reach) {
      let closures = Special.Closures(function: function, complete: complete)
      special = Special(owned: ActorOwned(closures, by: owner), nil, madeClass: madeClass)
      self.function = nil
    } else {
      special = complete == nil && madeClass == nil ? nil : Special(owned: nil, complete, madeClass: madeClass)
      self.function = function
    }
    super.init(
      type, name, lifetime, metadata, site, reach, isolation, completes: complete != nil, isFactory: true)
  }

  /// Has the factory make an instance, and writes the instance or nil to memory.
  func write(_ context: UDIContext, _ memory: InstanceMemory) throws {
    guard let special else {
      return try unsafe function.unsafelyUnwrapped.call(context, making: madeType, memory)
    }
    let function = unsafe special.owned?.value.function ?? function.unsafelyUnwrapped
    try function.call(context, making: special.madeClass ?? madeType, memory)
    if let madeClass = special.madeClass { try memory.check(of: madeClass, as: madeType) }
  }

  override func make(_ context: UDIContext, _ arguments: Arguments?) throws -> Instance? {
    if let arguments { throw ProviderFailure.arguments(wanted: [], given: arguments.types) }
    return try makeInstance { try write(context, $0) }
  }

  override func complete(_ instance: Instance, _ context: UDIContext, _ arguments: Arguments?) {
    guard let special else { return }
    if let owned = special.owned {
      owned.value.complete?(context, instance)
    } else {
      special.complete?(context, instance)
    }
  }

  /// The closure to call afterwards, without its type.
  static func completing<Dependency>(
    _ complete: (@isolated(any) (UDIContext, Dependency) -> Void)?
  ) -> Completion? {
    guard let complete else { return nil }
    let plain = IsolatedBlock(complete).isolationErased
    return { context, instance in
      if let dependency = instance.value(as: Dependency.self, isExact: true) { plain(context, dependency) }
    }
  }
}

/// A factory without its type and its isolation. To be called only where `Isolation.isHere` permits it.
///
/// It keeps the function itself, and not a closure around it. That serves the row "register 16 in a new context, each"
/// of the benchmarks, and saves memory for each registration.
///
/// Marked safe, although it casts functions. A function is cast back to one that returns the same optional, or plain
/// words of the same size. It writes its result to where the caller wants it, as all functions with a generic result do,
/// so it does not matter how that is spelled. An isolated function is called like one that is not: its actor is part of
/// what it captures. The standard library's `MainActor.assumeIsolated` does the same.
@safe
struct FactoryFunction {
  private let function: () -> Void
  private let takesContext: Bool
  /// How many words the function returns, if they are a reference to a class instance or nil; otherwise 0.
  private let words: UInt8

  // Functions are cast inside a struct, because a function that is cast alone is wrapped first. The structs that
  // functions are put into are generic over the instance's type: if they were generic over the result's type, the
  // metadata of that optional would be looked up for each registration. This serves the row
  // "register 16 in a new context, each", by a tenth.

  private struct Making<Dependency> {
    let function: @isolated(any) (UDIContext) throws -> Dependency?
  }
  private struct MakingOfNothing<Dependency> {
    let function: @isolated(any) () throws -> Dependency?
  }
  private struct MakingErased<Dependency> {
    let function: (UDIContext) throws -> Dependency?
  }
  private struct Returning<Result> {
    let function: (UDIContext) throws -> Result
  }
  private struct ReturningOfNothing<Result> {
    let function: () throws -> Result
  }
  private struct Erased {
    let function: () -> Void
  }
  private struct TwoWords {
    let first: UInt, second: UInt
  }
  private struct ThreeWords {
    let first: UInt, second: UInt, third: UInt
  }

  init<Dependency>(_ make: @escaping @isolated(any) (UDIContext) throws -> Dependency?) {
    function = unsafe unsafeBitCast(Making(function: make), to: Erased.self).function
    takesContext = true
    words = Self.words(of: Dependency.self)
  }

  init<Dependency>(_ make: @escaping @isolated(any) () throws -> Dependency?) {
    function = unsafe unsafeBitCast(MakingOfNothing(function: make), to: Erased.self).function
    takesContext = false
    words = Self.words(of: Dependency.self)
  }

  init<Dependency>(erased make: @escaping (UDIContext) throws -> Dependency?) {
    function = unsafe unsafeBitCast(MakingErased(function: make), to: Erased.self).function
    takesContext = true
    words = Self.words(of: Dependency.self)
  }

  private static func words<Dependency>(of type: Dependency.Type) -> UInt8 {
    TypeMetadata(type).holdsReferences ? UInt8(MemoryLayout<Dependency>.size / MemoryLayout<UInt>.size) : 0
  }

  /// Calls the factory, and writes what it returns to memory.
  ///
  /// - Parameter type: The type that the factory makes.
  @inline(__always)
  func call(_ context: UDIContext, making type: Any.Type, _ memory: InstanceMemory) throws {
    // For a reference, the metadata of the optional is not needed. That serves the figures "start" and
    // "made, bytes a type" of `Benchmarks/cost`.
    switch words {
    case 1: try call(context, returning: UInt.self, memory)
    case 2: try call(context, returning: TwoWords.self, memory)
    case 3: try call(context, returning: ThreeWords.self, memory)
    default:
      func call<Dependency>(making: Dependency.Type) throws {
        try self.call(context, returning: Dependency?.self, memory)
      }
      try _openExistential(type, do: call)
    }
  }

  @inline(__always)
  private func call<Result>(_ context: UDIContext, returning: Result.Type, _ memory: InstanceMemory) throws {
    let pointer = unsafe memory.address.assumingMemoryBound(to: Result.self)
    let erased = Erased(function: function)
    if takesContext {
      let typed = unsafe unsafeBitCast(erased, to: Returning<Result>.self)
      unsafe pointer.initialize(to: try typed.function(context))
    } else {
      let typed = unsafe unsafeBitCast(erased, to: ReturningOfNothing<Result>.self)
      unsafe pointer.initialize(to: try typed.function())
    }
  }
}

extension Provider {
  /// What a factory makes, without its type.
  ///
  /// - Parameter write: Has the factory write to memory for an optional of the type.
  fileprivate final func makeInstance(_ write: (InstanceMemory) throws -> Void) throws -> Instance? {
    func make<Dependency>(_ type: Dependency.Type) throws -> Instance? {
      let layout = MemoryLayout<Dependency>.self
      // An optional takes at most one byte more than what it wraps. The memory is raw because the runtime would
      // otherwise look up the metadata of the optional. This serves the row
      // "the same by a scope: register 3, make 3, link 2, end it", by a tenth.
      return try unsafe withUnsafeTemporaryAllocation(byteCount: layout.size + 1, alignment: layout.alignment) {
        let memory = unsafe InstanceMemory($0.baseAddress.unsafelyUnwrapped)
        try write(memory)
        return memory.take(as: type)
      }
    }
    return try _openExistential(madeType, do: make)
  }
}

/// Memory for an optional of the type that a factory makes. It exists during the call that gets it. A lookup passes memory
/// that holds nil; `makeInstance` passes raw memory, which the factory initialises before anybody else uses it.
///
/// Marked safe, because it is only made from an optional that lives during the call, and whoever writes or reads it
/// knows its type: a lookup asks a `Factory` only for the type that the provider is registered as
/// (`Entry.isFactory(of:)`), and the same holds for an `ArgumentFactory` (`beginQuick`). That type is the one that the
/// factory makes, or a subclass of it. In the second case `check` makes sure that the instance is of the subclass; the
/// optionals of both classes are one reference.
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
    // The same way as a lookup writes what is bound. This serves the row ".context with one argument, already made": the
    // other way looks up the metadata of the type's optional.
    if isExact, !instance.isBox, instance.form.isComplete {
      unsafe instance.write(to: address)
      return true
    }
    func write<Dependency>(_ type: Dependency.Type) -> Bool { self.write(instance.value(as: type, isExact: isExact)) }
    return _openExistential(type, do: write)
  }

  /// Moves what has been written out of the memory.
  func take<Dependency>(as type: Dependency.Type) -> Instance? {
    guard TypeToken.of(type).holdsReferences else { return takeValue(as: type) }
    // The first word is a reference or nil.
    guard let reference = unsafe address.load(as: UnsafeRawPointer?.self) else { return nil }
    let form = unsafe StoredForm(references: address, size: MemoryLayout<Dependency>.size)
    return unsafe Instance(
      object: Unmanaged<AnyObject>.fromOpaque(reference).takeRetainedValue(), form: form, isBox: false)
  }

  // A function of its own: for a reference, the metadata of the optional is not needed.
  @inline(never)
  private func takeValue<Dependency>(as type: Dependency.Type) -> Instance? {
    unsafe address.assumingMemoryBound(to: Dependency?.self).move().map { Instance($0) }
  }

  /// Writes an object, if it is an instance of the type.
  ///
  /// - Returns: Whether it is.
  func write(_ object: AnyObject, as type: Any.Type) -> Bool {
    func cast<Dependency>(to type: Dependency.Type) -> Bool { write(object as? Dependency) }
    return _openExistential(type, do: cast)
  }

  /// Takes back what was written, if it is not an instance of a subclass.
  ///
  /// - Parameters:
  ///   - made: The type that the factory makes.
  ///   - type: The subclass that the factory is registered as.
  /// - Throws: `ProviderFailure.notConvertible` if the instance was taken back.
  func check(of made: Any.Type, as type: Any.Type) throws {
    func isOther<Actual>(_ made: Actual.Type) -> Bool {
      guard let instance = read(as: made), !isInstance(type, instance as AnyObject) else { return false }
      return !write(Actual?.none)
    }
    if _openExistential(made, do: isOther) { throw ProviderFailure.notConvertible(from: made) }
  }

  /// What has been written.
  func read<Dependency>(as type: Dependency.Type) -> Dependency? {
    unsafe address.assumingMemoryBound(to: Dependency?.self).pointee
  }
}

/// The closures that a verb was given, without their types, and where they may run.
struct FactoryClosures: ~Copyable {
  /// The type that the factory makes. It differs from the type that it is registered as if the metatype of a class was
  /// passed in a variable of its superclass's metatype.
  let type: Any.Type
  let function: FactoryFunction
  let actor: (any Actor)?
  let complete: Factory.Completion?
  let completionActor: (any Actor)?
  /// The actor in whose code the verb was called; nil if the closures stay on the main actor in any case.
  let caller: (any Actor)?
  /// Whether the factory takes something that is not `Sendable`.
  let staysOnMainActor: Bool

  init(
    _ type: Any.Type, _ function: FactoryFunction, _ actor: (any Actor)?,
    _ complete: Factory.Completion?,
    _ completionActor: (any Actor)?, _ caller: (any Actor)?, staysOnMainActor: Bool = false
  ) {
    self.type = type
    self.function = function
    self.actor = actor
    self.complete = complete
    self.completionActor = completionActor
    self.caller = caller
    self.staysOnMainActor = staysOnMainActor
  }
}

/// A provider whose factory also takes arguments.
final class ArgumentFactory: Provider, @unchecked Sendable {
  // Unchecked: it adds constants. `isolation` says where the closures may be called.

  /// Has the factory make an instance from arguments, and writes the instance or nil to memory.
  typealias Write = (UDIContext, Arguments, InstanceMemory) throws -> Void
  /// What is called afterwards.
  typealias Complete = (UDIContext, Instance, Arguments) -> Void

  let write: Write
  private let completion: Complete?

  init(
    _ type: Any.Type, _ name: UDIName?, _ lifetime: UDILifetime?, _ metadata: BindRequest.Metadata?, _ site: CallSite,
    _ reach: Reach, _ isolation: Isolation, _ wanted: any AnyArgumentPack.Type, _ write: @escaping Write,
    _ completion: Complete?
  ) {
    if let owner = isolation.owner(reach) {
      let owned = ActorOwned((write: write, complete: completion), by: owner)
      self.write = { try owned.value.write($0, $1, $2) }
      self.completion = completion == nil ? nil : { owned.value.complete?($0, $1, $2) }
    } else {
      self.write = write
      self.completion = completion
    }
    super.init(type, name, lifetime, metadata, site, reach, isolation, completes: completion != nil, wanted: wanted)
  }

  override func make(_ context: UDIContext, _ arguments: Arguments?) throws -> Instance? {
    guard let arguments else { throw ProviderFailure.arguments(wanted: argumentTypes, given: []) }
    return try makeInstance { try write(context, arguments, $0) }
  }

  override func complete(_ instance: Instance, _ context: UDIContext, _ arguments: Arguments?) {
    if let arguments { completion?(context, instance, arguments) }
  }
}

extension ArgumentFactory {
  /// The form in which a factory is kept: without its types and its isolation.
  static func writing<Dependency, First, each More>(
    _ factory: @escaping @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?
  ) -> Write {
    let make = IsolatedFunction(factory).isolationErased
    return { context, arguments, memory in
      let pack = try arguments.read(as: ArgumentPack<First, repeat each More>.self)
      let pointer = unsafe memory.address.assumingMemoryBound(to: Dependency?.self)
      unsafe pointer.initialize(to: try make(context, pack.first, repeat each pack.more))
    }
  }

  /// The form in which a factory is kept that is registered as a subclass of what it makes.
  fileprivate static func checking(_ write: @escaping Write, of made: Any.Type, as type: Any.Type) -> Write {
    { context, arguments, memory in
      try write(context, arguments, memory)
      try memory.check(of: made, as: type)
    }
  }

  /// The closure to call afterwards, without its types and its isolation.
  static func completing<Dependency, First, each More>(
    _ complete: @escaping @isolated(any) (UDIContext, Dependency, First, repeat each More) -> Void
  ) -> Complete {
    let complete = IsolatedBlock(complete).isolationErased
    return { context, instance, arguments in
      guard let dependency = instance.value(as: Dependency.self, isExact: true) else { return }
      let pack = arguments.readAgain(as: ArgumentPack<First, repeat each More>.self)
      complete(context, dependency, pack.first, repeat each pack.more)
    }
  }
}

/// The closures that a verb was given for a factory with arguments, without their types, and where they may run.
struct ArgumentClosures {
  /// The type that the factory makes, as in `FactoryClosures`.
  let type: Any.Type
  let wanted: any AnyArgumentPack.Type
  let write: ArgumentFactory.Write
  let actor: (any Actor)?
  let complete: ArgumentFactory.Complete?
  let completionActor: (any Actor)?
  /// The actor in whose code the verb was called; nil if the closures stay on the main actor in any case.
  let caller: (any Actor)?

  init(
    _ type: Any.Type, _ wanted: any AnyArgumentPack.Type, _ write: @escaping ArgumentFactory.Write,
    _ actor: (any Actor)?, _ complete: ArgumentFactory.Complete?, _ completionActor: (any Actor)?,
    _ caller: (any Actor)?
  ) {
    self.type = type
    self.wanted = wanted
    self.write = write
    self.actor = actor
    self.complete = complete
    self.completionActor = completionActor
    self.caller = caller
  }

  /// Makes a provider of the closures.
  func provider(
    _ type: Any.Type, _ name: UDIName?, _ lifetime: UDILifetime?, _ metadata: BindRequest.Metadata?, _ site: CallSite,
    _ reach: Reach
  ) -> Provider {
    let isolation =
      reach == .anywhere
      ? Isolation.of(actor, completionActor, in: caller, site) : .onMainActor(actor, completionActor, site)
    let write = type == self.type ? write : ArgumentFactory.checking(write, of: self.type, as: type)
    return ArgumentFactory(type, name, lifetime, metadata, site, reach, isolation, wanted, write, complete)
  }
}
