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
  ///   - actor: The actor that the closure belongs to, if any.
  convenience init<Dependency>(
    _ request: borrowing RegisterRequest, parameters: UDIReach? = nil, _ actor: __shared (any Actor)?,
    _ function: consuming FactoryFunction, _ complete: (@isolated(any) (UDIContext, Dependency) -> Void)?
  ) {
    let isolation = Isolation.of(actor, complete?.isolation, reach: parameters ?? request.reach, request)
    var completion: Completion?
    if let complete {
      let plain = IsolatedFunction(complete).isolationErased
      completion = { context, instance, _ in
        if let dependency = instance.value(as: Dependency.self, isExact: true) { try? plain(context, dependency) }
      }
    }
    self.init(request, isolation: isolation, function: function, completion: completion)
  }

  /// Makes a factory whose closure takes a context and arguments.
  convenience init<Dependency, First, each More>(
    _ request: borrowing RegisterRequest,
    _ factory: @escaping @isolated(any) (UDIContext, First, repeat each More) throws -> Dependency?,
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
    let isolation = Isolation.of(factory.isolation, complete?.actor, reach: request.reach, request)
    self.init(
      request, isolation: isolation, function: FactoryFunction(factory),
      wanted: ArgumentPack<First, repeat each More>.self, completion: completion)
  }

  /// Makes a factory that always returns the same value.
  convenience init<Dependency>(_ request: borrowing RegisterRequest, giving value: Dependency) {
    let isolation = request.reach == .anywhere ? Isolation.anywhere : .mainActor
    self.init(
      request, isolation: isolation, function: FactoryFunction { _ -> Dependency? in value }, completion: nil)
  }
}
