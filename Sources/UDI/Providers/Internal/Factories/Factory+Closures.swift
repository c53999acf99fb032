/// Makes factories, which store closures without their types, from the typed closures that the verbs take.
extension Factory {
  // Some parameters are `__shared` here and in the inlined initialisers of `FactoryFunction`, and some `consuming`. So
  // the factory's closure is retained once instead of three times. Otherwise `register` would take a seventh longer
  // ("register 16 in a new context, each" in `Benchmarks/compare`). With `borrowing` parameters, the compiler (Swift
  // 6.3) crashes.

  /// Makes a factory whose closure takes no arguments.
  ///
  /// - Parameters:
  ///   - parameters: The reach with which the parameters of an initialiser are looked up; by default that of the
  ///     dependency. A `Sendable` dependency may be made from parameters that are not `Sendable`.
  ///   - caller: The actor in whose code the verb was called.
  ///   - actor: The actor that the closure belongs to, if any.
  convenience init<Dependency>(
    _ type: Dependency.Type, _ reach: UDIReach, named name: UDIName?, lifetime: UDILifetime?,
    metadata: BindRequest.Metadata?, at site: UDICallSite, parameters: UDIReach? = nil,
    in caller: __shared (any Actor)?, actor: __shared (any Actor)?, function: consuming FactoryFunction,
    onCreate complete: (@isolated(any) (UDIContext, Dependency) -> Void)?
  ) {
    self.init(
      type, reach, named: name, lifetime: lifetime, metadata: metadata, at: site,
      isolation: .of(actor, complete?.isolation, reach: parameters ?? reach, in: caller, at: site), function: function,
      completion: Self.completion(complete))
  }

  /// Makes a factory whose closure takes a context and arguments.
  convenience init<Dependency, First, each More>(
    _ type: Dependency.Type, _ reach: UDIReach, named name: UDIName?, lifetime: UDILifetime?,
    metadata: BindRequest.Metadata?, at site: UDICallSite, in caller: __shared (any Actor)?,
    function factory: @escaping @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?,
    onCreate complete: IsolatedFunction<Void, UDIContext, Dependency, First, repeat each More>?
  ) {
    let completion = complete.map { complete -> Completion in
      let plain = complete.isolationErased
      return { context, instance, arguments in
        // The arguments can be read, because the factory has read them.
        guard let pack = try? arguments?.read(as: ArgumentPack<First, repeat each More>.self),
          let dependency = instance.value(as: Dependency.self, isExact: true)
        else { return }
        try? plain(context, dependency, pack.first, repeat each pack.more)
      }
    }
    self.init(
      type, reach, named: name, lifetime: lifetime, metadata: metadata, at: site,
      isolation: .of(factory.isolation, complete?.actor, reach: reach, in: caller, at: site),
      function: FactoryFunction(factory), wanted: ArgumentPack<First, repeat each More>.self, completion: completion)
  }

  /// Makes a factory that always returns the same value.
  convenience init<Dependency>(
    _ type: Dependency.Type, _ reach: UDIReach, named name: UDIName?, lifetime: UDILifetime,
    metadata: BindRequest.Metadata?, at site: UDICallSite, giving value: Dependency
  ) {
    self.init(
      type, reach, named: name, lifetime: lifetime, metadata: metadata, at: site,
      isolation: reach == .anywhere ? .anywhere : .mainActor, function: FactoryFunction { _ -> Dependency? in value },
      completion: nil)
  }

  /// Erases the types of a completion.
  private static func completion<Dependency>(
    _ complete: (@isolated(any) (UDIContext, Dependency) -> Void)?
  ) -> Completion? {
    guard let complete else { return nil }
    let plain = IsolatedFunction(complete).isolationErased
    return { context, instance, _ in
      if let dependency = instance.value(as: Dependency.self, isExact: true) { try? plain(context, dependency) }
    }
  }
}
