/// Verbs that explain lookups. An explanation predicts what a lookup finds: it runs the set-up blocks that the lookup
/// would run, but makes nothing.
///
/// Each verb has two overloads, for `Sendable` types and for all others, because a lookup for a `Sendable` type does
/// not find what was registered without `Sendable`. Both overloads may be called from anywhere.
extension UDIContext {
  /// Explains what a lookup finds, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: O(contexts looked at and their keys), up to the level of the answer, or in the whole tree if there
  ///   is no answer. Not for hot paths.
  public func explain<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    explanation(type, name, search, .anywhere) { $0 is Dependency }
  }

  /// Explains what a lookup with arguments finds, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The others.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: O(contexts looked at and their keys), up to the level of the answer, or in the whole tree if there
  ///   is no answer. Not for hot paths.
  public func explain<Dependency: Sendable, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> UDIExplanation {
    explanation(type, name, search, .anywhere, arguments: ArgumentPack(argument, repeat each more).values) {
      $0 is Dependency
    }
  }
}

// MARK: - For types that are not Sendable

extension UDIContext {
  /// The same for a type that is not `Sendable`; see ``explain(_:named:search:)``.
  public func explain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    explanation(type, name, search, .mainActor) { $0 is Dependency }
  }

  /// The same for a type that is not `Sendable`; see ``explain(_:named:search:with:_:)``.
  public func explain<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> UDIExplanation {
    explanation(type, name, search, .mainActor, arguments: ArgumentPack(argument, repeat each more).values) {
      $0 is Dependency
    }
  }
}
