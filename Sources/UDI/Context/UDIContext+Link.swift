/// Linking: asking for a dependency. Each verb stands here twice, see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Looks up a dependency.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under; one without a name is not found by name, nor the other way round.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live instance that comes first in search order, or nil.
  /// - Complexity: O(1), for a hit and for a miss and in any tree; `.ancestors` O(levels up to the hit).
  @inlinable
  public func link<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(type, name, search)
  }

  /// Looks up a dependency that is not `Sendable`, on the main actor; otherwise the same.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under; one without a name is not found by name, nor the other way round.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live instance that comes first in search order, or nil.
  /// - Complexity: O(1), for a hit and for a miss and in any tree; `.ancestors` O(levels up to the hit).
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ type: Dependency.Type = Dependency.self, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(type, name, search)
  }

  /// Looks up a dependency that must be there.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live instance that comes first in search order.
  /// - Throws: ``UDILinkError`` if there is none.
  /// - Complexity: As ``link(_:named:search:)``.
  @inlinable
  public func require<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws(UDILinkError) -> Dependency {
    guard let found = lookUp(type, name, search) else { throw linkError(type, name, search) }
    return found
  }

  /// Looks up a dependency that must be there and is not `Sendable`, on the main actor; otherwise the same.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live instance that comes first in search order.
  /// - Throws: ``UDILinkError`` if there is none.
  /// - Complexity: As ``link(_:named:search:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) throws(UDILinkError) -> Dependency {
    guard let found = lookUp(type, name, search) else { throw linkError(type, name, search) }
    return found
  }

  /// Looks up every live dependency of a type, whatever its name.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live instances in search order, those of one context in the order in which they were bound.
  /// - Complexity: O(contexts that lead to one), whatever else the tree holds; where dependencies of the type have names, also
  ///   O(keys at this context, and for `.ancestors` at those above it).
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, nil, search, ofAnyName: true)
  }

  /// Looks up every live dependency of a type that is not `Sendable`, on the main actor; otherwise the same.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live instances in search order, those of one context in the order in which they were bound.
  /// - Complexity: O(contexts that lead to one), whatever else the tree holds; where dependencies of the type have names, also
  ///   O(keys at this context, and for `.ancestors` at those above it).
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(_ type: Dependency.Type, search: UDISearch? = nil) -> [Dependency] {
    lookUpAll(type, nil, search, ofAnyName: true)
  }

  /// Looks up every live dependency of a type with one name, or, for a name of nil, without one.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - name: Their name.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live instances in search order, at most one of each context.
  /// - Complexity: O(contexts that lead to one), whatever else the tree holds.
  @inlinable
  public func linkAll<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, name, search, ofAnyName: false)
  }

  /// Looks up every live dependency with one name and of a type that is not `Sendable`, on the main actor.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - name: Their name; nil for those without one.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: The live instances in search order, at most one of each context.
  /// - Complexity: O(contexts that lead to one), whatever else the tree holds.
  @inlinable @preconcurrency @MainActor
  public func linkAll<Dependency>(
    _ type: Dependency.Type, named name: UDIName?, search: UDISearch? = nil
  ) -> [Dependency] {
    lookUpAll(type, name, search, ofAnyName: false)
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIContext {
  @inlinable
  @inline(__always)
  func lookUp<Dependency>(_ type: Dependency.Type, _ name: UDIName?, _ search: UDISearch?) -> Dependency? {
    guard let name else { return unsafe receive(type) { unsafe answer(type, search, into: $0) } }
    return unsafe receive(type) { unsafe answer(type, named: name, search, into: $0) }
  }

  @usableFromInline
  func answer(_ type: Any.Type, _ search: UDISearch?, into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    withNode { unsafe $0.answer(.of(type), search, into: memory) }
  }

  @usableFromInline
  func answer(
    _ type: Any.Type, named name: UDIName, _ search: UDISearch?, into memory: UnsafeMutableRawPointer
  ) -> LookupAnswer {
    withNode { unsafe $0.answer(type, named: name, search, into: memory) }
  }

  @inlinable
  func lookUpAll<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ search: UDISearch?, ofAnyName: Bool
  ) -> [Dependency] {
    let found = allDependencies(type, name, search, ofAnyName: ofAnyName)
    if found.count == 0 { return [] }
    return unsafe Array(unsafeUninitializedCapacity: found.count) { buffer, count in
      for _ in 0..<found.count {
        let place = unsafe buffer.baseAddress.unsafelyUnwrapped + count
        switch unsafe found.next(into: UnsafeMutableRawPointer(place)) {
        case .written: count += 1
        case .object(let object):
          guard let dependency = object as? Dependency else { continue }
          unsafe place.initialize(to: dependency)
          count += 1
        case .nothing, .dead: break
        }
      }
    }
  }

  @usableFromInline
  func allDependencies(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, ofAnyName: Bool
  ) -> FoundDependencies {
    withNode { $0.allDependencies(type, name, search, ofAnyName: ofAnyName) }
  }

  @usableFromInline
  func linkError(_ type: Any.Type, _ name: UDIName?, _ search: UDISearch?) -> UDILinkError {
    UDILinkError(
      typeName: TypeIdentity.of(type).name, name: name, contextPath: change { node, _ in node.fullPath },
      search: search ?? self.search)
  }
}

/// Gives a lookup memory for the dependency, and makes a value of its type from the answer.
///
/// Compiled in the caller's module, where the type is known: a cast, where one is needed at all, is then specialised.
///
/// The answer is written where the optional is: an optional of a class or protocol type is laid out as the type itself, with nil in
/// place of a null reference (Type Layout, "Single-Payload Enums", in the Swift repository: docs/ABI/TypeLayout.rst), and
/// only values of such types are ever written. A value that is first moved into an optional costs as much as the lookup's lock.
@inlinable
@inline(__always)
func receive<Dependency>(
  _ type: Dependency.Type, _ lookUp: (UnsafeMutableRawPointer) -> LookupAnswer
) -> Dependency? {
  var found: Dependency?
  // Nothing has to be destroyed before it is overwritten: nil owns nothing.
  let answer = unsafe withUnsafeMutablePointer(to: &found) { unsafe lookUp(UnsafeMutableRawPointer($0)) }
  if case .object(let object) = answer { return object as? Dependency }
  return found
}
