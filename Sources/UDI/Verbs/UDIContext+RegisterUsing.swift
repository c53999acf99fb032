/// Registering an initialiser whose parameters are looked up by their types.
extension UDIContext {
  // No form of `register(using:)` takes a trailing closure. The compiler gives that to the first parameter with a
  // function's type, and so to `none`, which no closure fits. Otherwise, it would report each mistake in a factory as a
  // type of `$0` that it cannot infer, because the closure might be for `using:`. It would skip `none` if a later
  // parameter needed a closure; so `make` has a default, which no call can use, because `First` would be unknown.
  //
  // They are disfavored: the compiler leaves them alone as soon as a form for a closure fits. That is a quarter of the
  // time for which it checks `register(_:) { }`.

  /// Registers an initialiser or a function as a factory. Its parameters are looked up by their types.
  ///
  /// ```swift
  /// context.register((any Editor).self, using: Notepad.init(store:clock:))
  /// ```
  ///
  /// A parameter whose type is an optional is nil if there is no such dependency, or no scope for it. It is also nil if
  /// the dependency needs, in a circle, the instance that is being made. All other parameters are required; if one is
  /// missing, the error says which. Lookups begin at the context that a factory would receive, and go up. If a
  /// parameter needs a name, a search or a given value, register a factory instead:
  /// ``register(_:named:lifetime:replaces:isolation:fileID:line:_:)``.
  ///
  /// The initialiser of a type that belongs to a global actor runs on that actor. In the Swift 5 language mode, enable
  /// the upcoming feature `InferSendableFromCaptures`, because otherwise no initialiser is `Sendable`. If the compiler
  /// warns that an initialiser belongs to the main actor, mark the function that registers it `@MainActor`, even if
  /// functions are on the main actor by default.
  ///
  /// - Parameters:
  ///   - type: The type to register the dependency under, normally `(any SomeProtocol).self`; by default the type that
  ///     the initialiser makes.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime``.
  ///   - replaces: Whether this registration replaces one that the context already has under the key. If false, and the
  ///     context has a provider or a live binding there, that one stays, and nothing is registered. If nil, the earlier
  ///     registration is replaced; while ``UDIRecording`` is on, this is reported if that registration is from another
  ///     line (``UDIMisuse/Kind/registeredTwice``).
  ///   - isolation: The actor in whose code this call is written. A function that belongs to no actor counts as the
  ///     main actor's if it is registered in main-actor code. To let it run anywhere, pass nil for `isolation`.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - none: Do not pass this. It keeps trailing closures away from `make`.
  ///   - make: The initialiser, with at least one parameter. An error that it throws is treated like a factory's.
  /// - Returns: A handle to the registration, for example to call `implements` or `unregister` on it.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @_disfavoredOverload @discardableResult
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ none: ((Never) -> Never)? = nil,
    using make: (@Sendable @isolated(any) (First, repeat each More) throws -> Dependency)? = nil
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, isolation, fileID, line)
    return register(Factory(request, make!.isolation, FactoryFunction(lookingUpParametersOf: make!, .anywhere)))
  }

  // MARK: - On the main actor, for types that are not Sendable

  // These forms have the parameter `isolation`, although their closures always belong to the main actor. Without this
  // parameter, they would have fewer default arguments, and the compiler would prefer them to the forms above.
  // Its label says in the compiler's messages, which contain a form's name, why the form belongs to the main actor.

  // Only the second form has `@preconcurrency`. The attribute removes `Sendable` from symbol names, so if both forms
  // had it, they would have the same symbol.

  /// Does the same as ``register(_:named:lifetime:replaces:isolation:fileID:line:_:using:)`` on the main actor, for an
  /// initialiser with a parameter that is not `Sendable`.
  @MainActor @_disfavoredOverload @discardableResult
  public func register<Dependency: Sendable, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, notSendable isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ none: ((Never) -> Never)? = nil,
    using make: (@isolated(any) (First, repeat each More) throws -> Dependency)? = nil
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .anywhere, name, lifetime, replaces, isolation, fileID, line)
    return register(Factory(request, make!.isolation, FactoryFunction(lookingUpParametersOf: make!, .mainActor)))
  }

  /// Does the same as ``register(_:named:lifetime:replaces:isolation:fileID:line:_:using:)`` on the main actor, for a
  /// type that is not `Sendable`.
  @preconcurrency @MainActor @_disfavoredOverload @discardableResult
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    replaces: Bool? = nil, notSendable isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ none: ((Never) -> Never)? = nil,
    using make: (@isolated(any) (First, repeat each More) throws -> Dependency)? = nil
  ) -> UDIRegistration<Dependency> {
    let request = RegisterRequest(type, .mainActor, name, lifetime, replaces, isolation, fileID, line)
    return register(Factory(request, make!.isolation, FactoryFunction(lookingUpParametersOf: make!, .mainActor)))
  }

  // MARK: - Mistakes

  // The compiler considers an unavailable form only if no other form fits, and then its message explains the error.
  // Without the form below, the compiler would say that there are no exact matches. This form accepts what the others
  // reject: an initialiser without parameters, one that makes another type, and a closure after `using:`. No closure
  // fits the type of `none`. Otherwise this form would also accept trailing closures, and its message would hide the
  // errors in them and in calls that are chained to the registration.

  /// Unavailable: if an initialiser has no parameters, there is nothing to look up. Register a factory.
  @available(
    *, unavailable,
    message: "`using:` takes what has parameters and makes the type; with none, write `{ Thing() }`; chain `onClose`"
  )
  @_disfavoredOverload @discardableResult
  public func register<Made, each Parameter>(
    _ type: Any.Type = Any.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil, replaces: Bool? = nil,
    _ none: ((Never, Never, Never) -> Never)? = nil,
    using make: (@isolated(any) (repeat each Parameter) async throws -> Made)? = nil,
    _ close: ((Made) async throws -> Void)? = nil
  ) -> UDIRegistration<Made> { preconditionFailure("unavailable") }

  // MARK: - Parameters

  // The next two functions are separate and not inlined, because only the second one needs the metadata of an optional,
  // which the runtime keeps for each type. If the first one needed it, too, "made, bytes a type" in `Benchmarks/cost`
  // would grow by a fifth.

  /// Looks up a parameter whose type is a class or a class-bound protocol.
  @inline(never)
  fileprivate func reference<Parameter>(_ type: Parameter.Type, _ reach: UDIReach) throws -> Parameter {
    reach.assertIsolation(type)
    // These words serve as the memory of an optional of the type, which is nil if its first word is zero: see
    // `TypeToken.holdsReferences`.
    var words = (0, 0, 0)
    return try unsafe withUnsafeMutableBytes(of: &words) {
      let memory = unsafe $0.baseAddress.unsafelyUnwrapped
      try unsafe _findOrThrow(type, reach, named: nil, search: nil, at: UDICallSite("", 0), for: self, into: memory)
      // If nothing was found, the call above has thrown.
      return unsafe memory.assumingMemoryBound(to: type).move()
    }
  }

  /// Looks up a parameter of any other type. If the type is an optional, the result may be nil.
  @inline(never)
  fileprivate func value<Parameter>(_ type: Parameter.Type, _ reach: UDIReach) throws -> Parameter {
    // `isOptional` is checked first, because it is fast. The cast is not: it searches all conformances in the program.
    if TypeMetadata(type).isOptional, let optional = type as? any AnyOptional.Type {
      return try optional.find(from: self, reach) as! Parameter
    }
    return try lookUpOrThrow(type, reach, named: nil, search: nil)
  }
}

extension FactoryFunction {
  /// Wraps an initialiser in a function that looks up its parameters and calls it.
  fileprivate init<Dependency, First, each More>(
    lookingUpParametersOf make: @escaping @isolated(any) (First, repeat each More) throws -> Dependency,
    _ reach: UDIReach
  ) {
    let make = IsolatedFunction(function: make).isolationErased
    self.init { (context: UDIContext) throws -> Dependency? in
      var position = 0
      let thread = Resolution.current
      // If `listed` is not nil, `Factory.parameterTypes` is only asking for the types.
      if thread.read({ $0.listed != nil }) {
        thread.read { $0.listed = ArgumentPack<First, repeat each More>.types }
        return nil
      }
      let obtained = thread.read { $0.takeParameters() }
      func next<Parameter>(_ type: Parameter.Type) throws -> Parameter {
        position += 1
        if let obtained { return UDI.parameter(type, obtained[position - 1]) }
        do {
          return try TypeToken.of(type).holdsReferences ? context.reference(type, reach) : context.value(type, reach)
        } catch let missing as UDILinkError { throw missing.asked(asParameter: position) }
      }
      return try make(next(First.self), repeat try next((each More).self))
    }
    reachOfParameters = reach
  }
}
