/// Contexts for the time of an operation.
extension UDIContext {
  /// Runs an operation with a child of this context, and removes the child afterwards, however the operation ends.
  ///
  /// ```swift
  /// try await root.withChild(tag: request.id, search: .ancestors) { context in
  ///   context.provide(request.logger)
  ///   return try await Handler().attached(to: context).handle(request)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - tag: The tag of the child; no other child may have it.
  ///   - search: The direction of its lookups; by default that of this context.
  ///   - operation: What to run; it stays on the caller's actor.
  /// - Returns: What `operation` returns.
  /// - Throws: ``UDITreeError/duplicateTag(_:parent:)``, and what `operation` throws.
  nonisolated(nonsending) public func withChild<Result>(
    tag: String, search: UDISearch? = nil, operation: nonisolated(nonsending) (UDIContext) async throws -> Result
  ) async throws -> Result {
    let child = try makeChild(tag: tag, search: search)
    defer { child.removeFromParent() }
    return try await operation(child)
  }

  /// Runs an operation that is not asynchronous with a child of this context, and removes the child afterwards.
  ///
  /// - Parameters:
  ///   - tag: The tag of the child; no other child may have it.
  ///   - search: The direction of its lookups; by default that of this context.
  ///   - operation: What to run.
  /// - Returns: What `operation` returns.
  /// - Throws: ``UDITreeError/duplicateTag(_:parent:)``, and what `operation` throws.
  public func withChild<Result>(
    tag: String, search: UDISearch? = nil, operation: (UDIContext) throws -> Result
  ) throws -> Result {
    let child = try makeChild(tag: tag, search: search)
    defer { child.removeFromParent() }
    return try operation(child)
  }
}
