import Synchronization

/// Scopes: contexts that nobody outside can see into.
extension UDIContext {
  /// Makes a scope and adds it after this context's children.
  ///
  /// A scope is a child that is closed to the outside. No lookup from outside, whatever its search, finds what is in
  /// the scope or below it, and updates from outside do not report it. Lookups from inside find everything above. So
  /// several requests, sessions or windows can exist side by side below one context without access to each other's
  /// dependencies.
  ///
  /// ``descendant(tag:)``, ``children``, paths, ``snapshot()`` and explanations do see what is in a scope.
  ///
  /// - Parameters:
  ///   - tag: The tag of the scope; no other child may have it.
  ///   - search: The direction of its lookups; by default that of this context.
  /// - Returns: The scope, which this context holds strongly. It stays a scope wherever it is moved.
  /// - Throws: ``UDITreeError/duplicateTag(_:parent:)``.
  /// - Complexity: O(1). What is bound in a scope does not enter the index of the contexts above it.
  @discardableResult
  public func makeScope(tag: String, search: UDISearch? = nil) throws(UDITreeError) -> UDIContext {
    try makeChild(tag: tag, search: search, isScope: true)
  }

  /// Runs an operation with a scope below this context, and removes the scope afterwards, however the operation ends.
  ///
  /// ```swift
  /// try await root.withScope(tag: request.id) { scope in
  ///   scope.provide(request.logger)
  ///   return try await Handler().attached(to: scope).handle(request)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - tag: The tag of the scope. If another child has this tag at the time, a number is appended.
  ///   - search: The direction of its lookups; by default that of this context.
  ///   - operation: The operation to run; it stays on the caller's actor.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws.
  nonisolated(nonsending) public func withScope<Result, Failure: Error>(
    tag: String, search: UDISearch? = nil,
    operation: nonisolated(nonsending) (UDIContext) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let scope = makeNumberedScope(tag: tag, search: search)
    defer { scope.removeFromParent() }
    return try await operation(scope)
  }

  /// Runs a synchronous operation with a scope below this context, and removes the scope afterwards.
  ///
  /// - Parameters:
  ///   - tag: The tag of the scope. If another child has this tag at the time, a number is appended.
  ///   - search: The direction of its lookups; by default that of this context.
  ///   - operation: The operation to run.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws.
  public func withScope<Result, Failure: Error>(
    tag: String, search: UDISearch? = nil, operation: (UDIContext) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let scope = makeNumberedScope(tag: tag, search: search)
    defer { scope.removeFromParent() }
    return try operation(scope)
  }

  /// Whether this context is a scope, which nobody outside can see into.
  public var isScope: Bool { change { node, _ in node.treeLocked.isScope } }

  private func makeNumberedScope(tag: String, search: UDISearch?) -> UDIContext {
    if let scope = try? makeScope(tag: tag, search: search) { return scope }
    while true {
      let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
      if let scope = try? makeScope(tag: "\(tag) #\(number)", search: search) { return scope }
    }
  }

  private static let lastNumber = Atomic<UInt>(1)
}
