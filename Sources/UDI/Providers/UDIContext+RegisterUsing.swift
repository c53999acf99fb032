/// Registering an initialiser, whose parameters are looked up by their types.
extension UDIContext {
  // All forms are disfavoured, because a trailing closure that takes a context would match them as well as a factory.

  /// Registers an initialiser or a function as a factory whose parameters are looked up by their types.
  ///
  /// ```swift
  /// context.register((any Editor).self, using: Notepad.init(store:clock:))
  /// ```
  ///
  /// A parameter whose type is an optional may be missing: it is looked up with `link`. All others are required; if one
  /// is missing, the error says which. Parameters are looked up from the context that a factory would get, and upwards.
  /// If a parameter needs a name, a search or a value of its own, register a factory instead:
  /// ``register(_:named:lifetime:metadata:isolation:fileID:line:_:onCreate:)``.
  ///
  /// The initialiser of a type that belongs to a global actor runs on that actor. In the Swift 5 language mode, enable
  /// the upcoming feature `InferSendableFromCaptures`: without it, no initialiser is `Sendable` there. If the compiler
  /// warns that an initialiser belongs to the main actor, mark the function that registers it `@MainActor`, even if
  /// that is the default.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; by default the type that the
  ///     initialiser makes.
  ///   - name: Distinguishes several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default ``defaultLifetime``.
  ///   - metadata: Any value by which to find the registration: see ``registrations(of:search:)``.
  ///   - isolation: The actor in whose code this is called. A function that belongs to no actor counts as the main
  ///     actor's if it is registered in main-actor code; pass nil if it can be called anywhere.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - make: The initialiser, with at least one parameter. What it throws is treated like what a factory throws.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made is visible.
  /// - Returns: A handle, to serve other types from the registration or to take it back.
  /// - Precondition: If both closures belong to actors, it is the same actor.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @_disfavoredOverload
  @discardableResult
  public func register<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    using make: @escaping @Sendable @isolated(any) (First, repeat each More) throws -> Dependency,
    @_inheritActorContext onCreate: (@Sendable @isolated(any) (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .anywhere, parameters: .anywhere, in: isolation,
        using: make,
        onCreate))
  }

  // MARK: - On the main actor, for types that are not Sendable

  // They have the parameter `isolation` only because the compiler prefers the form with fewer defaults. Here a closure
  // belongs to the main actor.

  // The first form lacks `@preconcurrency`, which the second one has: it strips `Sendable` from symbols, so both would
  // have the same symbol.

  /// The same as ``register(_:named:lifetime:metadata:isolation:fileID:line:using:onCreate:)`` if a parameter is not
  /// `Sendable`, on the main actor.
  @_disfavoredOverload
  @MainActor
  @discardableResult
  public func register<Dependency: Sendable, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    using make: @escaping @isolated(any) (First, repeat each More) throws -> Dependency,
    onCreate: (@isolated(any) (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .anywhere, parameters: .mainActor,
        in: isolation, using: make,
        onCreate))
  }

  /// The same as ``register(_:named:lifetime:metadata:isolation:fileID:line:using:onCreate:)`` for a type that is not
  /// `Sendable`, on the main actor.
  @_disfavoredOverload
  @preconcurrency @MainActor
  @discardableResult
  public func register<Dependency, First, each More>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, lifetime: UDILifetime? = nil,
    metadata: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    using make: @escaping @isolated(any) (First, repeat each More) throws -> Dependency,
    onCreate: (@isolated(any) (UDIContext, Dependency) -> Void)? = nil
  ) -> UDIRegistration<Dependency> {
    register(
      Factory(
        type, name, lifetime, .ifAny(metadata), CallSite(fileID, line), .mainActor, parameters: .mainActor,
        in: isolation, using: make,
        onCreate))
  }
}

/// The factory that stands for an initialiser.
func lookingUpParameters<Dependency, First, each More>(
  of make: @escaping @isolated(any) (First, repeat each More) throws -> Dependency, _ reach: Reach
) -> (UDIContext) throws -> Dependency? {
  let make = IsolatedFunction(make).isolationErased
  return { context in
    var position = 0
    func next<Parameter>(_ type: Parameter.Type) throws -> Parameter {
      position += 1
      return try context.parameter(type, at: position, reach)
    }
    let first = try next(First.self)
    return try make(first, repeat try next((each More).self))
  }
}

extension UDIContext {
  /// Looks up a parameter of an initialiser.
  ///
  /// - Parameter position: Counted from 1.
  fileprivate func parameter<Parameter>(
    _ type: Parameter.Type, at position: Int, _ reach: Reach
  ) throws -> Parameter {
    // This is checked first, because the cast looks for the type's conformances in the whole program.
    if TypeMetadata(type).isOptional, let optional = type as? any OptionalParameter.Type,
      let found = optional.lookUp(from: self, reach) as? Parameter
    {
      return found
    }
    do { return try lookUpOrThrow(type, nil, reach, nil) } catch let missing as UDILinkError {
      throw missing.asked(asParameter: position)
    }
  }
}

/// An optional, as the type of a parameter that may be missing.
private protocol OptionalParameter {
  static func lookUp(from context: UDIContext, _ reach: Reach) -> Self
}

extension Optional: OptionalParameter {
  fileprivate static func lookUp(from context: UDIContext, _ reach: Reach) -> Wrapped? {
    context.lookUp(Wrapped.self, nil, reach, nil)
  }
}
