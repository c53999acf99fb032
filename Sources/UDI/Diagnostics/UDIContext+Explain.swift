/// Asking why. An explanation predicts what a lookup gives: it runs the set-up blocks that one would run, but makes nothing.
extension UDIContext {
  /// Explains what a lookup gives, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: O(contexts looked at and their keys), up to the level of the answer. Not for hot paths.
  public func explain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    explanation(type, name, search) { $0 is Dependency }
  }

  /// Explains what a lookup with arguments gives, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default this context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The others.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: O(contexts looked at and their keys), up to the level of the answer. Not for hot paths.
  public func explain<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> UDIExplanation {
    var arguments: [Any] = [argument]
    for other in repeat each more { arguments.append(other) }
    return explanation(type, name, search, arguments: arguments) { $0 is Dependency }
  }

  /// Explains what a lookup by a key gives, and why.
  ///
  /// - Parameters:
  ///   - key: What is looked up.
  ///   - search: The direction to take; by default this context's.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: O(contexts looked at and their keys), up to the level of the answer. Not for hot paths.
  public func explain<Dependency>(_ key: UDIKey<Dependency>, search: UDISearch? = nil) -> UDIExplanation {
    explanation(Dependency.self, key.name, search) { $0 is Dependency }
  }
}

extension UDIObject {
  /// Explains what a lookup from the object's effective context gives, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: As ``UDIContext/explain(_:named:search:)``.
  public func explain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    _attachedContext.explain(owner: Swift.type(of: self), type, name, search) {
      $0.explain(type, named: name, search: search)
    }
  }

  /// Explains what a lookup with arguments from the object's effective context gives, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The others.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: As ``UDIContext/explain(_:named:search:)``.
  public func explain<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> UDIExplanation {
    _attachedContext.explain(owner: Swift.type(of: self), type, name, search) {
      $0.explain(type, named: name, search: search, with: argument, repeat each more)
    }
  }
}

extension UDIAttachment {
  fileprivate func explain(
    owner: Any.Type, _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?,
    _ explain: (UDIContext) -> UDIExplanation
  ) -> UDIExplanation {
    switch place {
    case .attached(let context): explain(context)
    case .none: explain(AppContext).blaming(unattached: owner)
    case .gone: UDIExplanation(type, name, search, .contextGone)
    }
  }

  /// The error of a lookup by this attachment's object, which may be attached to nothing.
  @usableFromInline
  func explained(_ error: any Error, _ type: Any.Type, _ name: UDIName?, owner: Any.Type) -> any Error {
    // What a factory asked for was looked up from its context.
    guard let error = error as? UDILinkError, case .none = place,
      error.explanation.typeName == TypeIdentity.of(type).name, error.explanation.name == name?.description
    else { return error }
    return UDILinkError(explanation: error.explanation.blaming(unattached: owner))
  }
}
