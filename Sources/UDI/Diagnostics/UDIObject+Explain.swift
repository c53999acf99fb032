/// Verbs that explain lookups on behalf of an object: from its effective context. Each has two overloads, see
/// `UDIContext+Explain.swift`.
extension UDIObject {
  /// Explains what a lookup from the object's effective context finds, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: As ``UDIContext/explain(_:named:search:)``.
  public func explain<Dependency: Sendable>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    _attachedContext.explain(owner: Swift.type(of: self), type, name, search) {
      $0.explain(type, named: name, search: search)
    }
  }

  /// Explains what a lookup with arguments from the object's effective context finds, and why.
  ///
  /// - Parameters:
  ///   - type: The type that is looked up.
  ///   - name: The name it is registered under, if any.
  ///   - search: The direction to take; by default the context's.
  ///   - argument: The factory's first argument after the context.
  ///   - more: The others.
  /// - Returns: A value whose description begins with the cause.
  /// - Complexity: As ``UDIContext/explain(_:named:search:)``.
  public func explain<Dependency: Sendable, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> UDIExplanation {
    _attachedContext.explain(owner: Swift.type(of: self), type, name, search) {
      $0.explain(type, named: name, search: search, with: argument, repeat each more)
    }
  }
}

// MARK: - For types that are not Sendable

extension UDIObject {
  /// The same for a type that is not `Sendable`; see ``explain(_:named:search:)``.
  public func explain<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> UDIExplanation {
    _attachedContext.explain(owner: Swift.type(of: self), type, name, search) {
      $0.explain(type, named: name, search: search)
    }
  }

  /// The same for a type that is not `Sendable`; see ``explain(_:named:search:with:_:)``.
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
    switch state {
    case .attached(let context): explain(context)
    case .none: explain(AppContext).blaming(unattached: owner)
    case .gone: UDIExplanation(type, name, search ?? lastSearch, .contextGone)
    }
  }

  /// The error of a lookup by this attachment's object, which may be attached to nothing.
  @usableFromInline
  @inline(never)
  func explained(_ error: any Error, _ asker: Asker) -> any Error {
    guard let error = error as? UDILinkError else { return error }
    // A longer chain means that a factory asked, and so the lookup began at the factory's context.
    guard case .none = state, error.chain.count == 1 else { return error.seen(by: asker) }
    let explanation = error.explanation.blaming(unattached: type(of: asker.object))
    return UDILinkError(explanation: explanation, chain: error.chain).seen(by: asker)
  }
}
