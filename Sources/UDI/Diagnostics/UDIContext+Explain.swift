/// Verbs that explain lookups. An explanation predicts what a lookup would find. It runs the set-up blocks that the
/// lookup would run, but makes no instance.
///
/// Each verb has two overloads, for `Sendable` types and for all others, because a lookup for a `Sendable` type does
/// not find what was registered without `Sendable`. Both overloads may be called from anywhere.
extension UDIContext {
  /// Explains what a lookup finds, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name that the dependency is registered under, if any.
  ///   - search: The direction of the lookup; by default this context's search.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: O(contexts looked at and their keys). These are all contexts up to the level of the answer; if there
  ///   is no answer, all contexts that the search covers and, to find the dependency elsewhere, the whole tree. Do not
  ///   use this in hot paths.
  public func explain<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    explanation(type, name, search, .anywhere)
  }

  /// Explains what a lookup with arguments finds, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name that the dependency is registered under, if any.
  ///   - search: The direction of the lookup; by default this context's search.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The factory's other arguments.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: The same as for ``explain(_:named:search:)``.
  public func explain<Dependency: Sendable, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> UDIExplanation {
    explanation(type, name, search, .anywhere, ArgumentPack(argument, repeat each more).values)
  }
}

// MARK: - For types that are not Sendable

extension UDIContext {
  /// The same for a type that is not `Sendable`; see ``explain(_:named:search:)``.
  public func explain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    explanation(type, name, search, .mainActor)
  }

  /// The same for a type that is not `Sendable`; see ``explain(_:named:search:with:_:)``.
  public func explain<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> UDIExplanation {
    explanation(type, name, search, .mainActor, ArgumentPack(argument, repeat each more).values)
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIContext {
  /// - Parameters:
  ///   - reach: Where the caller may use the dependency.
  ///   - arguments: The arguments that the factory would be given.
  ///   - limit: The maximum number of contexts to look at.
  ///   - failure: Why the lookup failed, if the lookup itself knows.
  func explanation(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, _ reach: Reach, _ arguments: [Any] = [],
    limit: Int = .max, failure: UDIExplanation.Cause? = nil
  ) -> UDIExplanation {
    let key = KeyIdentity.of(.of(type), name)
    var survey = withNode { node in
      node.runPendingSetUps(self, search, for: key.id)
      return change { node, _ in Survey(key, from: node, search, limit: limit) }
    }
    defer { survey.release() }
    return survey.explanation(failure ?? survey.cause(type, reach, arguments))
  }
}

extension UDIExplanation {
  /// Makes an explanation that states only the cause.
  init(_ type: Any.Type, _ name: UDIName?, _ search: UDISearch, _ cause: Cause) {
    self = Survey(.of(.of(type), name), search).explanation(cause)
  }

  /// If the cause is that nothing is registered, returns the same explanation with another cause: the object that asks
  /// is attached to nothing.
  func blaming(unattached owner: Any.Type) -> UDIExplanation {
    cause == .notRegistered ? with(.unattached("\(owner)")) : self
  }

  /// The same explanation with another cause.
  func with(_ cause: Cause) -> UDIExplanation {
    UDIExplanation(
      typeName: typeName, name: name, contextPath: contextPath, search: search, cause: cause, contexts: contexts,
      emptyCount: emptyCount, omittedCount: omittedCount, isAbridged: isAbridged, nearestOutside: nearestOutside,
      equallyNear: equallyNear, equallyNearCount: equallyNearCount, wasRecording: wasRecording,
      isInFactory: isInFactory)
  }
}
