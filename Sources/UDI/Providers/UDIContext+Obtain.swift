/// Looking up dependencies that another actor has to make.
extension UDIContext {
  /// Looks up a dependency that must be there. If its factory has to make it, this waits for the actor that the factory
  /// belongs to.
  ///
  /// ```swift
  /// let library = try await context.obtain((any Library).self)
  /// ```
  ///
  /// If the dependency is there already, it is returned without leaving the caller's actor, as by
  /// ``require(_:named:search:)``. Only the factory of this dependency is waited for: if the factory in turn looks up
  /// something that belongs to a third actor, obtain that first.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first match in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none or it cannot be made, or what its factory throws.
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) async throws -> Dependency {
    try await obtain(type, name, search, nil)
  }

  /// Looks up a dependency whose factory takes arguments. If the factory has to make it, this waits for the actor that
  /// the factory belongs to; see ``obtain(_:named:search:)``.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: The first match in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none or it cannot be made, or what its factory throws.
  nonisolated(nonsending) public func obtain<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) async throws -> Dependency {
    try await obtain(type, name, search, KeptArguments(ArgumentPack(argument, repeat each more)))
  }

  nonisolated(nonsending) func obtain<Dependency: Sendable>(
    _ type: Dependency.Type, _ name: UDIName?, _ search: UDISearch?, _ arguments: KeptArguments?
  ) async throws -> Dependency {
    var error: any Error
    do { return try get(type, name, search, arguments) } catch let thrown { error = thrown }
    // Each actor is tried only once. There can be several, because the provider might be replaced in the meantime by
    // one that belongs to another actor.
    var tried: [any Actor] = []
    while let actor = actorThatMayGive(after: error, type, search), !tried.contains(where: { $0 === actor }) {
      tried.append(actor)
      do { return try await get(type, name, search, arguments, on: actor) } catch let thrown { error = thrown }
    }
    throw explained(error, type, name, .anywhere, search)
  }

  /// The actor on which a lookup that has failed here might succeed: the factory's actor, or the main actor if set-up
  /// blocks have to run there. Nil if there is no such actor.
  private func actorThatMayGive(after error: any Error, _ type: Any.Type, _ search: UDISearch?) -> (any Actor)? {
    switch error as? ProviderFailure {
    case .isolatedElsewhere(let isolation): isolation.actor
    case .nothing where !MainActorCheck.isOnMainActor && withNode({ $0.mustRunSetUps(search) }): MainActor.shared
    default: nil
    }
  }

  private func get<Dependency: Sendable>(
    _ type: Dependency.Type, _ name: UDIName?, _ search: UDISearch?, _ arguments: KeptArguments?
  ) throws -> Dependency {
    defer { withExtendedLifetime(arguments) {} }
    return try provided(type, name, .anywhere, search, arguments?.arguments)
  }

  /// Looks up on a given actor. Meanwhile the thread remembers the actor, so that factories of that actor may run.
  private func get<Dependency: Sendable>(
    _ type: Dependency.Type, _ name: UDIName?, _ search: UDISearch?, _ arguments: KeptArguments?,
    on actor: isolated any Actor
  ) throws -> Dependency {
    let resolution = PerThread.resolution.object
    let outer = resolution.actor
    resolution.actor = actor
    defer { resolution.actor = outer }
    return try get(type, name, search, arguments)
  }

  // MARK: - On the main actor, for types that are not Sendable

  /// The same as ``obtain(_:named:search:)`` for a type that is not `Sendable`, on the main actor.
  @preconcurrency @MainActor
  public func obtain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) async throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search)
  }

  /// The same as ``obtain(_:named:search:with:_:)`` for a type or arguments that are not `Sendable`, on the main actor.
  @preconcurrency @MainActor
  public func obtain<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) async throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more))
  }
}
