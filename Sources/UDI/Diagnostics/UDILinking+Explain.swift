/// Verbs that explain lookups: they predict the result of a lookup, and make no instance.
///
/// Each verb has two overloads, for `Sendable` types and for all others. Their answers differ: a lookup for a
/// `Sendable` type does not find a dependency that was registered under a type that is not `Sendable`. Both overloads
/// may be called from anywhere.
extension UDILinking {
  /// Explains the result of a lookup: the dependency that it finds, or the reason why it finds nothing.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name that the dependency is registered under, if any.
  ///   - search: The direction of the lookup; by default the context's search.
  ///   - arguments: The arguments that the lookup passes to the factory after the context, if any.
  /// - Returns: The explanation. Its description begins with the cause.
  /// - Complexity: O(contexts that are looked at, and their keys). An explanation looks at all contexts up to the level
  ///   of the answer. If there is no answer, it looks at all contexts that the search covers and, to find the
  ///   dependency elsewhere, at the whole tree. Do not use this in hot paths.
  public func explain<Dependency: Sendable, each Argument>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, with arguments: repeat each Argument
  ) -> UDIExplanation {
    _origin.explanation(
      LookupRequest(type, .anywhere, named: name, search: search), ArgumentPack(repeat each arguments).values)
  }

  // MARK: - For types that are not Sendable

  /// Does the same as ``explain(_:named:search:with:)``, for a type that is not `Sendable`.
  public func explain<Dependency, each Argument>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, with arguments: repeat each Argument
  ) -> UDIExplanation {
    _origin.explanation(
      LookupRequest(type, .mainActor, named: name, search: search), ArgumentPack(repeat each arguments).values)
  }
}

// MARK: - From typed verbs to the untyped core

extension UDIOrigin {
  fileprivate func explanation(_ request: LookupRequest, _ arguments: [Any]) -> UDIExplanation {
    switch self {
    case .context(let context): return context.explanation(of: request, with: arguments)
    case .object(let attachment, let owner):
      let (context, isGone) = attachment.state
      if let context { return context.explanation(of: request, with: arguments) }
      if isGone { return attachment.explanationOfAbsence(request) }
      return AppContext.explanation(of: request, with: arguments).blaming(unattached: Swift.type(of: owner))
    }
  }
}

extension UDIContext {
  /// - Parameters:
  ///   - arguments: The arguments that the lookup would pass to the factory.
  ///   - limit: The largest number of contexts to look at.
  ///   - failure: The reason why the lookup failed, if the lookup has already found it out.
  @inline(never) func explanation(
    of request: LookupRequest, with arguments: [Any] = [], limit: Int = .max, failure: UDIExplanation.Cause? = nil
  ) -> UDIExplanation {
    let key = request.key
    let survey = change { node, _ in Survey(key, from: node, request.search, limit: limit) }
    defer { survey.release() }
    var explanation = survey.explanation
    explanation.cause = failure ?? survey.cause(of: request, with: arguments)
    return explanation
  }

  // MARK: - For `UDIInspector`

  /// Explains a lookup on the main actor.
  package func explanation(of key: KeyIdentity, _ search: UDISearch?) -> UDIExplanation {
    explanation(of: LookupRequest(key.type.firstType, .mainActor, named: key.name, search: search))
  }

  /// Returns the error that a factory's lookup in this context would throw, if it named nothing but a type.
  ///
  /// - Parameter cause: The reason why there is no instance. If nothing was found, pass `notRegistered`: the error then
  ///   finds out more.
  package func error(of cause: UDIExplanation.Cause, _ type: Any.Type) -> UDILinkError {
    let request = LookupRequest(type, .mainActor, search: .ancestors)
    var error = linkError(cause == .notRegistered ? .nothing : .explained(cause), request)
    error.explanation.isInFactory = true
    return error
  }
}
