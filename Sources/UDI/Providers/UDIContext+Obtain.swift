/// Looking up dependencies whose making has to be awaited.
extension UDIContext {
  /// Looks up a dependency that must be there. If its factory has to make it, this waits for the factory, if it is
  /// asynchronous, and for the actor that the factory belongs to.
  ///
  /// ```swift
  /// let library = try await context.obtain((any Library).self)
  /// ```
  ///
  /// If the dependency is there already, it is returned without leaving the caller's actor, as by
  /// ``require(_:named:search:)``. If a synchronous factory requires something that only an asynchronous one can make,
  /// this makes that first, and then runs the synchronous factory again. For that, what it requires has to be kept. If
  /// a factory looks up something that belongs to another actor, obtain that first.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first match in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none or it cannot be made, `CancellationError` if the current task is
  ///   cancelled while it waits, or what the factory throws.
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
  /// - Throws: ``UDILinkError`` if there is none or it cannot be made, `CancellationError` if the current task is
  ///   cancelled while it waits, or what the factory throws.
  nonisolated(nonsending) public func obtain<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) async throws -> Dependency {
    try await obtain(type, name, search, KeptArguments(ArgumentPack(argument, repeat each more)))
  }

  /// Looks up a dependency that must be there, by its key; see ``obtain(_:named:search:)``.
  ///
  /// - Parameters:
  ///   - key: The key it is registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first match in search order, whether it is bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none or it cannot be made, `CancellationError` if the current task is
  ///   cancelled while it waits, or what the factory throws.
  nonisolated(nonsending) public func obtain<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) async throws -> Dependency {
    try await obtain(Dependency.self, key.name, search, nil)
  }

  nonisolated(nonsending) func obtain<Dependency: Sendable>(
    _ type: Dependency.Type, _ name: UDIName?, _ search: UDISearch?, _ arguments: KeptArguments?
  ) async throws -> Dependency {
    if arguments == nil, let found = present(type, name, .anywhere, search) { return found }
    return try await obtainAtLength(type, name, .anywhere, search, arguments)
  }

  /// Finds what is there already and can be written without a cast.
  private func present<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?
  ) -> Dependency? {
    var found: Dependency?
    unsafe findPresent(type, name, reach, search, in: &found)
    return found
  }

  nonisolated(nonsending) private func obtainAtLength<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: KeptArguments?
  ) async throws -> Dependency {
    let instance = try await Obtaining(
      context: self, type: type, name: name, reach: reach, search: search, arguments: arguments
    ).run()
    // `run` returns an instance of exactly this type.
    return unsafe instance.value(as: type, isExact: true).unsafelyUnwrapped
  }

  // MARK: - On the main actor, for types that are not Sendable

  /// The same as ``obtain(_:named:search:)`` for a type that is not `Sendable`, on the main actor.
  @preconcurrency @MainActor
  public func obtain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) async throws -> Dependency {
    try await obtainOnMainActor(type, name, search, nil)
  }

  /// The same as ``obtain(_:search:)`` for a type that is not `Sendable`, on the main actor.
  @preconcurrency @MainActor
  public func obtain<Dependency>(_ key: UDIKey<Dependency>, search: UDISearch? = nil) async throws -> Dependency {
    try await obtainOnMainActor(Dependency.self, key.name, search, nil)
  }

  /// The same as ``obtain(_:named:search:with:_:)`` for a type or arguments that are not `Sendable`, on the main actor.
  @preconcurrency @MainActor
  public func obtain<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) async throws -> Dependency {
    try await obtainOnMainActor(
      type, name, search, KeptArguments(ArgumentPack(argument, repeat each more)))
  }

  @MainActor
  func obtainOnMainActor<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ search: UDISearch?, _ arguments: KeptArguments?
  ) async throws -> Dependency {
    if arguments == nil, let found = present(type, name, .mainActor, search) { return found }
    return try await obtainAtLength(type, name, .mainActor, search, arguments)
  }
}
