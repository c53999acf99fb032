/// Linking: looking up a dependency. Each verb is declared twice, see `UDIContext+Bind.swift`.
///
/// Some forms of `require` infer the type from where the result is used. Of these, the form whose result is not
/// optional is disfavoured. Otherwise the compiler would also choose this form where an optional is expected, and would
/// look up the optional type.
extension UDIContext {
  /// Looks up a dependency.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under. A lookup with a name finds no dependency without one, and a lookup
  ///     without a name finds no dependency with one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order: one that is bound or kept, or one that is made now; nil if there
  ///   is none.
  /// - Complexity: O(1) in any tree for a hit in this context or below it; O(levels climbed) for a hit above, and for a
  ///   miss; plus the time of factories and set-up blocks that run.
  @inlinable
  public func link<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search)
  }

  /// Looks up a dependency that must be there.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order: one that is bound or kept, or one that is made now.
  /// - Throws: ``UDILinkError`` if there is none, or if it cannot be made; or what its factory throws.
  /// - Complexity: As for ``link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .anywhere, search)
  }

  /// Looks up a dependency that must be there, and infers its type from where the result is used.
  ///
  /// For example, `Editor(store: context.require())` looks up the type of the parameter `store`.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order: one that is bound or kept, or one that is made now.
  /// - Throws: ``UDILinkError`` if there is none, or if it cannot be made; or what its factory throws.
  /// - Complexity: As for ``link(_:named:search:)``.
  @_disfavoredOverload
  @inlinable
  public func require<Dependency: Sendable>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search)
  }

  /// Looks up a dependency that must be there, for a place where an optional is expected. The type that is looked up is
  /// the wrapped one.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The first dependency in search order: one that is bound or kept, or one that is made now.
  /// - Throws: ``UDILinkError`` if there is none, or if it cannot be made; or what its factory throws.
  /// - Complexity: As for ``link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency?
  {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search)
  }

  /// Looks up every live dependency of a type, whatever its name.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: All that are bound or kept, or are made now, in search order; within one context, in the order of
  ///   registration.
  /// - Complexity: O(contexts that lead to a dependency, and levels above), whatever else the tree holds. If
  ///   dependencies of the type have names, also O(keys at this context and at those above it).
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, nil, .anywhere, search, ofAnyName: true)
  }

  /// Looks up every live dependency of a type with one name or, if the name is nil, without a name.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - name: Their name.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: All that are bound or kept, or are made now, in search order; at most one from each context.
  /// - Complexity: O(contexts that lead to a dependency, and levels above), whatever else the tree holds.
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, name, .anywhere, search, ofAnyName: false)
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// Does the same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search)
  }

  /// Does the same for a type that is not `Sendable`, on the main actor; see ``require(_:named:search:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search)
  }

  /// Does the same for a type that is not `Sendable`, on the main actor; see ``require(named:search:)``.
  @_disfavoredOverload
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search)
  }

  /// Does the same for a type that is not `Sendable`, where an optional is expected, on the main actor; see
  /// ``require(named:search:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search)
  }

  /// Does the same for a type that is not `Sendable`, on the main actor; see ``linkAll(_:search:)``.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(_ type: Dependency.Type, search: UDISearch? = nil) -> [Dependency] {
    lookUpAll(type, nil, .mainActor, search, ofAnyName: true)
  }

  /// Does the same for a type that is not `Sendable`, on the main actor; see ``linkAll(_:named:search:)``.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, name, .mainActor, search, ofAnyName: false)
  }
}
