/// Lookups from an object that state more than a type: arguments, a fresh instance, or a key. Each verb has two forms:
/// see `UDIContext+Bind.swift`.
extension UDIObject {
  /// Looks up a dependency whose factory takes arguments, for immediate use. As in any lookup, a live binding takes
  /// precedence.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The instance that the provider makes from the arguments, or keeps for them; nil if there is no
  ///   dependency. If the factory takes other arguments, the result is nil, and the mistake is reported.
  @inlinable
  public func linkInLine<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(
      type, name, .anywhere, search, with: ArgumentPack(argument, repeat each more), isFresh: false,
      CallSite(fileID, line))
  }

  /// Looks up a dependency whose factory takes arguments, and throws if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The instance that the provider makes from the arguments, or keeps for them.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  @inlinable
  public func require<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try lookUpOrThrow(
      type, name, .anywhere, search, with: ArgumentPack(argument, repeat each more), CallSite(fileID, line))
  }

  /// Makes a new instance of a dependency, whatever its lifetime, for immediate use: `linkInLine((any Editor).self,
  /// fresh: true)`. The provider does not keep the new instance, and does not drop the one that it keeps. If the lookup
  /// ends at a binding, the provider in the same context makes the instance.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fresh: Whether to make a new instance; if false, this is an ordinary lookup.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: A new instance; nil if the context at which the lookup ends has no provider.
  @inlinable
  public func linkInLine<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    guard fresh else { return lookUp(type, name, .anywhere, search, CallSite(fileID, line)) }
    return lookUpFresh(type, name, .anywhere, search, CallSite(fileID, line))
  }

  /// Makes a new instance of a dependency whose factory takes arguments, for immediate use. The provider does not keep
  /// the new instance, and does not drop any that it keeps. If the lookup ends at a binding, the provider in the same
  /// context makes the instance.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  ///   - search: The direction to take; by default the context's.
  ///   - fresh: Whether to make a new instance; if false, this is an ordinary lookup.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: A new instance; nil if the context at which the lookup ends has no provider.
  @inlinable
  public func linkInLine<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    fileID: StaticString = #fileID, line: UInt = #line,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(
      type, name, .anywhere, search, with: ArgumentPack(argument, repeat each more), isFresh: fresh,
      CallSite(fileID, line))
  }

  /// Looks up a dependency by its key, for immediate use.
  ///
  /// - Parameters:
  ///   - key: The key that the dependency is registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call; nil if there is none.
  @inlinable
  public func linkInLine<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    lookUp(Dependency.self, key.name, .anywhere, search, CallSite(fileID, line))
  }

  /// Looks up a dependency by its key, and throws if there is none.
  ///
  /// - Parameters:
  ///   - key: The key that the dependency is registered under.
  ///   - search: The direction to take; by default the context's.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The first dependency in search order, which may be made by this call.
  /// - Throws: ``UDILinkError`` if there is no dependency or it cannot be made; or the error that its factory throws.
  @inlinable
  public func require<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, key.name, .anywhere, search, CallSite(fileID, line))
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIObject {
  /// Does the same as ``linkInLine(_:named:search:fileID:line:with:_:)`` on the main actor, for a type that is not
  /// `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func linkInLine<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(
      type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more), isFresh: false,
      CallSite(fileID, line))
  }

  /// Does the same as ``require(_:named:search:fileID:line:with:_:)`` on the main actor, for a type that is not
  /// `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try lookUpOrThrow(
      type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more), CallSite(fileID, line))
  }

  /// Does the same as ``linkInLine(_:named:search:fresh:fileID:line:)`` on the main actor, for a type that is not
  /// `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func linkInLine<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    guard fresh else { return lookUp(type, name, .mainActor, search, CallSite(fileID, line)) }
    return lookUpFresh(type, name, .mainActor, search, CallSite(fileID, line))
  }

  /// Does the same as ``linkInLine(_:named:search:fresh:fileID:line:with:_:)`` on the main actor, for a type that is
  /// not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func linkInLine<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    fileID: StaticString = #fileID, line: UInt = #line,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(
      type, name, .mainActor, search, with: ArgumentPack(argument, repeat each more), isFresh: fresh,
      CallSite(fileID, line))
  }

  /// Does the same as ``linkInLine(_:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func linkInLine<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Dependency? {
    lookUp(Dependency.self, key.name, .mainActor, search, CallSite(fileID, line))
  }

  /// Does the same as ``require(_:search:fileID:line:)`` on the main actor, for a type that is not `Sendable`.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, key.name, .mainActor, search, CallSite(fileID, line))
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIObject {
  @inlinable
  func lookUp<Dependency, Pack: AnyArgumentPack>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, with arguments: Pack,
    isFresh: Bool, _ site: CallSite
  ) -> Dependency? {
    context(for: type, name, site)?
      .lookUp(type, name, reach, search, with: arguments, isFresh: isFresh, Asker(self, site))
  }

  @inlinable
  func lookUpFresh<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ site: CallSite
  ) -> Dependency? {
    context(for: type, name, site)?.lookUpFresh(type, name, reach, search, Asker(self, site))
  }

  @inlinable
  func lookUpOrThrow<Dependency, Pack: AnyArgumentPack>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, with arguments: Pack,
    _ site: CallSite
  ) throws -> Dependency {
    guard let context = context(for: type, name, site, "require", isRequired: true) else {
      throw _attachedContext.goneError(type, name, search, Asker(self, site))
    }
    do { return try context.lookUpOrThrow(type, name, reach, search, with: arguments, Asker(self, site)) } catch {
      throw _attachedContext.explained(error, Asker(self, site))
    }
  }

  @usableFromInline
  func context(
    for type: Any.Type, _ name: UDIName?, _ site: CallSite, _ verb: String = "link", isRequired: Bool? = false
  ) -> UDIContext? {
    _attachedContext.contextForLink(verb, isRequired: isRequired, type, name, site, self)
  }
}
