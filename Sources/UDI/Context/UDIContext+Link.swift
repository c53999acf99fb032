/// Linking: looking up a dependency. Each verb is declared twice (see `UDIContext+Bind.swift`).
///
/// Some forms of `require` infer the type from the place where the result is used. Of these, the form that does not
/// return an optional is disfavoured. Otherwise the compiler would choose it even where an optional is expected, and
/// would look up the optional type.
extension UDIContext {
  /// Looks up a dependency.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one. A lookup with a name finds only dependencies with that name, and a
  ///     lookup without a name finds only dependencies without one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call; nil if there is none.
  /// - Complexity: O(1) in any tree for a hit in this context or below it; O(levels climbed) for a hit above, and for a
  ///   miss; plus the time of factories that run.
  @inlinable
  public func link<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search)
  }

  /// Looks up a dependency, and throws if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .anywhere, search)
  }

  /// Looks up a dependency, and throws if there is none. The dependency's type is inferred from the place where the
  /// result is used.
  ///
  /// For example, `Editor(store: context.require())` looks up the type of the parameter `store`.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``link(_:named:search:)``.
  @_disfavoredOverload
  @inlinable
  public func require<Dependency: Sendable>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search)
  }

  /// Looks up a dependency, and throws if there is none. The compiler chooses this form where an optional is expected.
  /// This form looks up the type that the optional wraps.
  ///
  /// - Parameters:
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  /// - Complexity: As for ``link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency?
  {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search)
  }

  /// Looks up all dependencies of the given type, whatever their names.
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The dependencies in search order, those of one context in the order of registration. Some may be made
  ///   by this call.
  /// - Complexity: O(contexts that have a dependency of the type or lead to one, and levels above), whatever else the
  ///   tree contains. If dependencies of the type have names, also O(keys at this context and at those above it).
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, nil, .anywhere, search, ofAnyName: true)
  }

  /// Looks up all dependencies of the given type that have the given name or, if that is nil, that have no name.
  ///
  /// - Parameters:
  ///   - type: The type that the dependencies are registered under.
  ///   - name: Their name.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The dependencies in search order, at most one from each context. Some may be made by this call.
  /// - Complexity: O(contexts that have such a dependency or lead to one, and levels above), whatever else the tree
  ///   contains.
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, name, .anywhere, search, ofAnyName: false)
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// Does the same as ``link(_:named:search:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search)
  }

  /// Does the same as ``require(_:named:search:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search)
  }

  /// Does the same as ``require(named:search:)`` on the main actor, for a type that is not `Sendable`.
  @_disfavoredOverload
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search)
  }

  /// Does the same as ``require(named:search:)`` on the main actor, for a type that is not `Sendable`, where an
  /// optional is expected.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search)
  }

  /// Does the same as ``linkAll(_:search:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(_ type: Dependency.Type, search: UDISearch? = nil) -> [Dependency] {
    lookUpAll(type, nil, .mainActor, search, ofAnyName: true)
  }

  /// Does the same as ``linkAll(_:named:search:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, name, .mainActor, search, ofAnyName: false)
  }
}
