/// Verbs that explain an object's lookups, which begin in the object's effective context. Each verb has two overloads,
/// see `UDIContext+Explain.swift`.
extension UDIObject {
  /// Explains the result of a lookup that begins in the object's effective context.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name that the dependency is registered under, if any.
  ///   - search: The direction of the lookup; by default the context's search.
  /// - Returns: The explanation. Its description begins with the cause.
  /// - Complexity: The same as for ``UDIContext/explain(_:named:search:)``.
  public func explain<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    explanation(type, name, search, .anywhere)
  }

  /// Explains the result of a lookup by a key that begins in the object's effective context.
  ///
  /// - Parameters:
  ///   - key: The type that is looked up, and the name.
  ///   - search: The direction of the lookup; by default the context's search.
  /// - Returns: The explanation. Its description begins with the cause.
  /// - Complexity: The same as for ``UDIContext/explain(_:named:search:)``.
  public func explain<Dependency: Sendable>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> UDIExplanation {
    explanation(Dependency.self, key.name, search, .anywhere)
  }

  /// Explains the result of a lookup with arguments that begins in the object's effective context.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name that the dependency is registered under, if any.
  ///   - search: The direction of the lookup; by default the context's search.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: The explanation. Its description begins with the cause.
  /// - Complexity: The same as for ``UDIContext/explain(_:named:search:)``.
  public func explain<Dependency: Sendable, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> UDIExplanation {
    explanation(type, name, search, .anywhere, ArgumentPack(argument, repeat each more).values)
  }
}

// MARK: - For types that are not Sendable

extension UDIObject {
  /// Does the same as ``explain(_:named:search:)``, for a type that is not `Sendable`.
  public func explain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    explanation(type, name, search, .mainActor)
  }

  /// Does the same as ``explain(_:search:)``, for a type that is not `Sendable`.
  public func explain<Dependency>(_ key: UDIKey<Dependency>, search: UDISearch? = nil) -> UDIExplanation {
    explanation(Dependency.self, key.name, search, .mainActor)
  }

  /// Does the same as ``explain(_:named:search:with:_:)``, for a type that is not `Sendable`.
  public func explain<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> UDIExplanation {
    explanation(type, name, search, .mainActor, ArgumentPack(argument, repeat each more).values)
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIObject {
  private func explanation(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, _ reach: Reach, _ arguments: [Any] = []
  ) -> UDIExplanation {
    switch _attachedContext.state {
    case .attached(let context): context.explanation(type, name, search, reach, arguments)
    case .none: AppContext.explanation(type, name, search, reach, arguments).blaming(unattached: Swift.type(of: self))
    case .gone: UDIExplanation(type, name, search ?? _attachedContext.lastSearch, .contextGone)
    }
  }
}
