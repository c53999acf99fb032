/// Registering by an initialiser, whose parameters are looked up by their types.
extension UDIContext {
  // All forms are disfavoured: a trailing closure that takes a context would match them as well as a factory.

  /// Registers an initialiser, or a function, as a factory: each parameter is looked up by its type.
  ///
  /// ```swift
  /// context.register((any Editor).self, using: Notepad.init(store:clock:))
  /// ```
  ///
  /// A parameter that is an optional may be missing: it is looked up with `link`. All others are required, and the error of one that is
  /// missing says which one it is. Parameters are looked up from the context that a factory would get, and upwards. One that needs a name, a
  /// value of its own or a search is for a factory to give: ``register(_:named:lifetime:metadata:isolation:fileID:line:_:onCreate:)``.
  ///
  /// The initialiser of a type that belongs to a global actor runs on that actor. In the Swift 5 language mode enable the upcoming feature `InferSendableFromCaptures`, without
  /// which no initialiser is `Sendable` there; and where the compiler warns that an initialiser belongs to the main actor, write `@MainActor` at the
  /// function that registers it, even where that is the default.
  ///
  /// - Parameters:
  ///   - type: The type to register it under, normally `(any SomeProtocol).self`; by default what the initialiser makes.
  ///   - name: Tells apart several dependencies of one type.
  ///   - lifetime: How long an instance is kept; by default as ``defaultLifetime`` says.
  ///   - metadata: Anything to find the registration by: see ``registrations(of:search:)``.
  ///   - isolation: The actor in whose code this is called. A function that belongs to no actor, and is registered in main-actor code, counts as
  ///     the main actor's; pass nil if it can be called anywhere.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - make: The initialiser, with one parameter at least. What it throws is treated as what a factory throws.
  ///   - onCreate: Called at the end of the outermost link, when everything that was made can be seen.
  /// - Returns: A handle: to serve other types from it, or to take it back.
  /// - Precondition: If both closures belong to an actor, it is the same one.
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
    let closures = FactoryClosures(
      Dependency.self, FactoryFunction(erased: lookingUpParameters(of: make, .anywhere)), make.isolation,
      Factory.completing(onCreate),
      onCreate?.isolation, isolation)
    return .of(
      register(type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, closures), .anywhere)
  }

  // MARK: - On the main actor, for types that are not Sendable

  // They have the parameter `isolation` only because the compiler prefers the form with fewer defaults: a closure belongs to the main actor here.

  // Without `@preconcurrency`, which the form after it has: it strips `Sendable` from symbols, and theirs would be the same.

  /// The same as ``register(_:named:lifetime:metadata:isolation:fileID:line:using:onCreate:)`` where a parameter is not `Sendable`, on the main actor.
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
    let closures = FactoryClosures(
      Dependency.self, FactoryFunction(erased: lookingUpParameters(of: make, .mainActor)), make.isolation,
      Factory.completing(onCreate), onCreate?.isolation, nil, staysOnMainActor: true)
    return .of(
      register(type, name, lifetime, .of(metadata), CallSite(fileID, line), .anywhere, closures), .anywhere)
  }

  /// The same as ``register(_:named:lifetime:metadata:isolation:fileID:line:using:onCreate:)`` for a type that is not `Sendable`, on the main actor.
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
    Reach.mainActor.assertIsolation(type)
    let closures = FactoryClosures(
      Dependency.self, FactoryFunction(erased: lookingUpParameters(of: make, .mainActor)), make.isolation,
      Factory.completing(onCreate), onCreate?.isolation, nil, staysOnMainActor: true)
    return .of(
      register(type, name, lifetime, .of(metadata), CallSite(fileID, line), .mainActor, closures), .mainActor)
  }
}

/// The factory that an initialiser is registered as.
func lookingUpParameters<Dependency, First, each More>(
  of make: @escaping @isolated(any) (First, repeat each More) throws -> Dependency, _ reach: Reach
) -> (UDIContext) throws -> Dependency? {
  let make = IsolatedFunction(make).isolationErased
  return { context in
    var parameters = Parameters(context, reach)
    let first = try parameters.next(First.self)
    return try make(first, repeat parameters.next((each More).self))
  }
}

/// The parameters of an initialiser, to be looked up one after the other.
struct Parameters {
  private let context: UDIContext
  private let reach: Reach
  /// The place of the one that was looked up last, from 1.
  private var position = 0

  init(_ context: UDIContext, _ reach: Reach) {
    self.context = context
    self.reach = reach
  }

  mutating func next<Parameter>(_ type: Parameter.Type) throws -> Parameter {
    position += 1
    if isOptional(type), let optional = type as? any OptionalParameter.Type,
      let found = optional.lookUp(from: context, reach) as? Parameter
    {
      return found
    }
    do { return try context.lookUpOrThrow(type, nil, reach, nil) } catch let missing as UDILinkError {
      throw missing.asked(asParameter: position)
    }
  }
}

/// Whether a type is an optional, without looking for its conformances, which would go through those of the whole program.
///
/// The first word of a type's metadata is its kind, 514 for optionals (Type Metadata, "Common Metadata Layout", in the Swift repository:
/// docs/ABI/TypeMetadata.rst).
private func isOptional(_ type: Any.Type) -> Bool {
  unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee == 514
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
