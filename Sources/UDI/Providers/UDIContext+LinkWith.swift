/// Linking what a provider makes in other ways than by type alone: with arguments, fresh, by key, on the main actor. Each verb
/// stands here twice, see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Looks up a dependency whose factory takes arguments; a live binding comes first here, too.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The others.
  /// - Returns: What the provider makes of the arguments, or keeps for them; nil, and reported, if it wants others.
  @inlinable
  public func link<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search, .packed(argument, repeat each more), isFresh: false)
  }

  /// Looks up a dependency that must be there and whose factory takes arguments.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The others.
  /// - Returns: What the provider makes of the arguments, or keeps for them.
  /// - Throws: ``UDILinkError`` if there is none, or it cannot be made; what its factory throws.
  @inlinable
  public func require<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .anywhere, search, .packed(argument, repeat each more), isFresh: false)
  }

  /// Has a provider make another instance of a dependency, whatever its lifetime: `link((any Editor).self, fresh: true)`. What the
  /// provider keeps stays, and bindings do not count.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - fresh: Whether to make another instance; false for an ordinary lookup.
  /// - Returns: A new instance; nil if the context that a lookup ends at has no provider.
  @inlinable
  public func link<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? {
    fresh ? lookUp(type, name, .anywhere, search, [], isFresh: true) : lookUp(type, name, .anywhere, search)
  }

  /// Has a provider make another instance of a dependency with arguments; what it keeps stays, and bindings do not count.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - fresh: Whether to make another instance; false for an ordinary lookup.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The others.
  /// - Returns: A new instance; nil if the context that a lookup ends at has no provider.
  @inlinable
  public func link<Dependency: Sendable, First: Sendable, each More: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .anywhere, search, .packed(argument, repeat each more), isFresh: fresh)
  }

  /// Looks up a dependency by its key.
  ///
  /// - Parameters:
  ///   - key: What it is registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: What comes first in search order, bound, kept or made now; nil if there is nothing.
  @inlinable
  public func link<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(Dependency.self, key.name, .anywhere, search)
  }

  /// Looks up a dependency that must be there by its key.
  ///
  /// - Parameters:
  ///   - key: What it is registered under.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: What comes first in search order, bound, kept or made now.
  /// - Throws: ``UDILinkError`` if there is none, or it cannot be made; what its factory throws.
  @inlinable
  public func require<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, key.name, .anywhere, search)
  }
}

// MARK: - On the main actor, for types that are not Sendable

extension UDIContext {
  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:with:_:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search, .packed(argument, repeat each more), isFresh: false)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``require(_:named:search:with:_:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) throws -> Dependency {
    try lookUpOrThrow(type, name, .mainActor, search, .packed(argument, repeat each more), isFresh: false)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:fresh:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? {
    fresh ? lookUp(type, name, .mainActor, search, [], isFresh: true) : lookUp(type, name, .mainActor, search)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:named:search:fresh:with:_:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    with argument: First, _ more: repeat each More
  ) -> Dependency? {
    lookUp(type, name, .mainActor, search, .packed(argument, repeat each more), isFresh: fresh)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``link(_:search:)``.
  @inlinable @preconcurrency @MainActor
  public func link<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? {
    lookUp(Dependency.self, key.name, .mainActor, search)
  }

  /// The same for a type that is not `Sendable`, on the main actor; see ``require(_:search:)``.
  @inlinable @preconcurrency @MainActor
  public func require<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) throws -> Dependency {
    try lookUpOrThrow(Dependency.self, key.name, .mainActor, search)
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIContext {
  @usableFromInline
  func lookUp<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: [Any], isFresh: Bool,
    _ asker: Asker? = nil
  ) -> Dependency? {
    reach.assertIsolation(type)
    guard
      let (found, isExact) = try? provide(type, name, reach, search, arguments, isFresh: isFresh, reports: true, asker)
    else { return nil }
    return found.value(as: type, isExact: isExact)
  }

  @usableFromInline
  func lookUpOrThrow<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: [Any], isFresh: Bool
  ) throws -> Dependency {
    reach.assertIsolation(type)
    do {
      let (found, isExact) = try provide(type, name, reach, search, arguments, isFresh: isFresh, reports: false)
      guard let dependency = found.value(as: type, isExact: isExact) else { throw Provider.nothing }
      return dependency
    } catch { throw explained(error, type, name, reach, search) { $0 is Dependency } }
  }

  /// Looks for the provider that a lookup ends at, and has it make, or find, what the arguments say.
  ///
  /// - Parameter reports: Whether a failure goes to the reporter.
  /// - Returns: The instance, and whether it was made as the very type.
  /// - Throws: `ProviderFailure`, or what a factory throws.
  func provide(
    _ type: Any.Type, _ name: UDIName?, _ reach: Reach, _ search: UDISearch?, _ arguments: [Any], isFresh: Bool,
    reports: Bool, _ asker: Asker? = nil
  ) throws -> (Made, isExact: Bool) {
    let key = KeyIdentity.of(.of(type), name)
    defer { withExtendedLifetime(key) {} }
    while true {
      let target = withNode { node in
        node.wake(self, search, for: key.id)
        return node.nearestTarget(key.id, type, reach, search, skipsBindings: isFresh)
      }
      switch target {
      case nil: throw ProviderFailure.nothing
      // It is gone now, and behind it may be a set-up block that was not reached before.
      case .dead: continue
      case .bound(let object): return (Made(object: object, form: .none, isBox: false), false)
      case .refused(let entry):
        if reports { report(ProviderFailure.notSendable, entry, type, search, asker) }
        throw ProviderFailure.notSendable
      case .substituted(let made, let isExact): return (made, isExact)
      case .provider(let provider):
        do {
          try provider.rejectArguments(arguments, of: reach)
          if let made = try provider.obtain(self, arguments, isFresh: isFresh) { return (made, provider.makes(type)) }
        } catch {
          if reports { report(error, provider, type, search, asker) }
          throw error
        }
      }
    }
  }
}

extension Node {
  /// What arguments can be given to.
  enum Target {
    /// A live instance, which needs none.
    case bound(AnyObject)
    /// The lookup is for a `Sendable` type, and this was registered without `Sendable`.
    case refused(Entry)
    /// What a test has put there, which needs none either.
    case substituted(Made, isExact: Bool)
    case provider(Provider)
    /// A binding was found dead, and withdrawn: to be looked up again.
    case dead
  }

  /// The live binding or the provider that a lookup ends at.
  func nearestTarget(
    _ key: UInt64, _ type: Any.Type, _ reach: Reach, _ search: UDISearch?, skipsBindings: Bool
  ) -> Target? {
    Tree.change { garbage in
      guard let entry = nearestEntry(key, direction(of: search))?.object else { return nil }
      garbage.add(entry)
      if entry.registered.isRefused(to: reach) { return .refused(entry) }
      switch entry.kind {
      case .provider, .graphProvider: return (entry as? Provider).map(Target.provider)
      case .observed, .owned, .boxed:
        if let substitute = entry as? Substitute {
          return substitute.made.map { .substituted($0, isExact: substitute.makes(type)) }
        }
        return (entry as? MadeEntry).map { .provider($0.maker) }
      case .binding:
        guard let object = entry.object else {
          entry.withdraw(&garbage)
          return .dead
        }
        guard skipsBindings else { return .bound(object) }
        Schedule.reached(.loadedToLook)
        garbage.add(object, of: entry)
        guard let behind = entry.node?.provider(key) else { return nil }
        garbage.add(behind)
        return behind.registered.isRefused(to: reach) ? .refused(behind) : .provider(behind)
      case .setUp: return nil
      }
    }
  }
}
