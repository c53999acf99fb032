/// Makes factories, which store closures without their types, from the typed closures that the verbs take.
extension Factory {
  // Some parameters are `__shared` here and in the inlined initialisers of `FactoryFunction`, and some `consuming`. So
  // the factory's closure is retained once instead of three times. Otherwise `register` would take a seventh longer
  // ("register 16 in a new context, each" in `Benchmarks/compare`). With `borrowing` parameters, the compiler (Swift
  // 6.3) crashes.

  /// Makes a factory.
  ///
  /// - Parameters:
  ///   - parameters: The reach with which the parameters of an initialiser are looked up; by default that of the
  ///     dependency. A `Sendable` dependency may be made from parameters that are not `Sendable`.
  ///   - actor: The actor that the closure belongs to, if any.
  ///   - wanted: The types of the arguments that the closure takes, if any.
  convenience init(
    _ request: borrowing RegisterRequest, parameters: UDIReach? = nil, _ actor: __shared (any Actor)?,
    _ function: consuming FactoryFunction, wanted: (any AnyArgumentPack.Type)? = nil
  ) {
    let isolation = Isolation.of(actor, reach: parameters ?? request.reach, request)
    self.init(request, isolation: isolation, function: function, wanted: wanted)
  }

  /// Makes a factory that always returns the same value.
  convenience init<Dependency>(_ request: borrowing RegisterRequest, giving value: Dependency) {
    let isolation = request.reach == .anywhere ? Isolation.anywhere : .mainActor
    self.init(request, isolation: isolation, function: FactoryFunction { _ -> Dependency? in value })
  }
}
