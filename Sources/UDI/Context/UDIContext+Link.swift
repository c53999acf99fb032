/// Linking: asking for a dependency. Each verb stands here twice, see `UDIContext+Bind.swift`.
///
/// Of the forms of `require` that leave the type to the place, the one for places that are not optional is disfavored: the
/// compiler would otherwise take an optional place for one that asks for an optional.
extension UDIContext {
  /// Looks up a dependency.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under; one without a name is not found by name, nor the other way round.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: What comes first in search order, bound, kept or made now; nil if there is nothing.
  /// - Complexity: O(1) in any tree, for a hit in this context or below it; O(levels that are climbed) for one above, and for a miss. And what
  ///   factories and set-up blocks take, where they run.
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
  /// - Returns: What comes first in search order, bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or it cannot be made; what its factory throws.
  /// - Complexity: As ``link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .anywhere, search)
  }

  /// Looks up a dependency that must be there, of the type that the place it is for has:
  /// `Editor(store: context.require())`.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: What comes first in search order, bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or it cannot be made; what its factory throws.
  /// - Complexity: As ``link(_:named:search:)``.
  @_disfavoredOverload
  @inlinable
  public func require<Dependency: Sendable>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .anywhere, search)
  }

  /// Looks up a dependency that must be there, for a place that is optional: it is not the optional that is asked for.
  ///
  /// - Parameters:
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: What comes first in search order, bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or it cannot be made; what its factory throws.
  /// - Complexity: As ``link(_:named:search:)``.
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
  /// - Returns: What is bound, kept or made now, in search order; within a context in the order of registration.
  /// - Complexity: O(contexts that lead to one, and levels above), whatever else the tree holds; where dependencies of the type have names,
  ///   also O(keys at this context and at those above it).
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, nil, .anywhere, search, ofAnyName: true)
  }

  /// Looks up every live dependency of a type with one name, or, for a name of nil, without one.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - name: Their name.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: What is bound, kept or made now, in search order; at most one of each context.
  /// - Complexity: O(contexts that lead to one, and levels above), whatever else the tree holds.
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, name, .anywhere, search, ofAnyName: false)
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``require(_:named:search:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``require(named:search:)``.
  @_disfavoredOverload
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search)
  }

  /// The same for a type that is not `Sendable` and an optional place, on the main actor; see ``require(named:search:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(named name: UDIName? = nil, search: UDISearch? = nil) throws -> Dependency? {
    try lookUpOrThrow(Dependency.self, name, .mainActor, search)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``linkAll(_:search:)``.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(_ type: Dependency.Type, search: UDISearch? = nil) -> [Dependency] {
    lookUpAll(type, nil, .mainActor, search, ofAnyName: true)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``linkAll(_:named:search:)``.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, name, .mainActor, search, ofAnyName: false)
  }
}
