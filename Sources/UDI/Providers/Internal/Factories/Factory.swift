/// A provider with a synchronous factory.
final class Factory: Provider, @unchecked Sendable {
  // Unchecked: this class adds constants, and `isolation` says where the closures may be called.

  /// A closure to call at the end of the outermost link, with the arguments that the factory was given.
  typealias Completion = (UDIContext, Instance, Arguments?) -> Void

  private let function: FactoryFunction?
  private let special: Special?

  /// Properties that only a few factories need.
  private final class Special {
    /// The function and the completion, if they have to be released on an actor. Otherwise they are in
    /// `Factory.function` and `complete`.
    let owned: ActorOwned<(function: FactoryFunction, complete: Completion?)>?
    /// The completion, if it may be released on any thread.
    let complete: Completion?

    init(owned: ActorOwned<(function: FactoryFunction, complete: Completion?)>?, _ complete: Completion?) {
      self.owned = owned
      self.complete = complete
    }
  }

  /// - Parameters:
  ///   - type: The type that the provider is registered as.
  ///   - isolation: Where the closures may be called.
  ///   - wanted: The types of the arguments that the function takes, if any.
  init(
    _ type: Any.Type, _ name: UDIName?, _ lifetime: UDILifetime?, _ metadata: BindRequest.Metadata?,
    _ site: UDICallSite,
    _ reach: UDIReach, _ isolation: Isolation, _ function: consuming FactoryFunction,
    wanted: (any AnyArgumentPack.Type)? = nil, _ complete: Completion?
  ) {
    reach.assertIsolation(type)
    if let owner = isolation.owner(reach) {
      special = Special(owned: ActorOwned((function: function, complete: complete), by: owner), nil)
      self.function = nil
    } else {
      special = complete.map { Special(owned: nil, $0) }
      self.function = consume function
    }
    super.init(
      type, name, lifetime, metadata, site, reach, isolation, completes: complete != nil, wanted: wanted,
      isSimpleFactory: wanted == nil)
  }

  /// Calls the function, and writes the instance or nil to `memory`.
  func write(_ context: UDIContext, _ memory: InstanceMemory) throws {
    try callable.call(context, making: madeType, memory)
  }

  /// Calls a function that takes arguments, and writes the instance or nil to `memory`.
  func write(_ context: UDIContext, _ arguments: Arguments, _ memory: InstanceMemory) throws {
    try callable.call(context, arguments, memory)
  }

  /// The function, wherever it is stored.
  private var callable: FactoryFunction { unsafe special?.owned?.value.function ?? function.unsafelyUnwrapped }

  override func make(_ context: UDIContext, _ arguments: Arguments?) throws -> Instance? {
    guard (arguments != nil) == (wanted != nil) else {
      throw ProviderFailure.arguments(wanted: argumentTypes, given: arguments?.types ?? [])
    }
    func make<Dependency>(_ type: Dependency.Type) throws -> Instance? {
      let layout = MemoryLayout<Dependency>.self
      // This memory is enough, because an optional takes at most one byte more than the type it wraps. Memory of the
      // optional's type would need the metadata of the optional; looking that up would make the benchmark "the same by
      // a scope: register 3, make 3, link 2, end it" take a tenth longer.
      return try unsafe withUnsafeTemporaryAllocation(byteCount: layout.size + 1, alignment: layout.alignment) {
        let memory = unsafe InstanceMemory($0.baseAddress.unsafelyUnwrapped)
        if let arguments { try write(context, arguments, memory) } else { try write(context, memory) }
        return memory.take(as: type)
      }
    }
    return try _openExistential(madeType, do: make)
  }

  override func complete(_ instance: Instance, _ context: UDIContext, _ arguments: Arguments?) {
    guard let special else { return }
    let complete = if let owned = special.owned { owned.value.complete } else { special.complete }
    complete?(context, instance, arguments)
  }
}
