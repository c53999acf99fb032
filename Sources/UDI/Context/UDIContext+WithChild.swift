import Synchronization

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
  ///   - tag: The tag of the child. If another child has it at the time, a number is put behind it.
  ///   - search: The direction of its lookups; by default that of this context.
  ///   - operation: What to run; it stays on the caller's actor.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws.
  nonisolated(nonsending) public func withChild<Result, Failure: Error>(
    tag: String, search: UDISearch? = nil,
    operation: nonisolated(nonsending) (UDIContext) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let child = makeNumberedChild(tag: tag, search: search)
    defer { child.removeFromParent() }
    return try await operation(child)
  }

  /// Runs an operation that is not asynchronous with a child of this context, and removes the child afterwards.
  ///
  /// - Parameters:
  ///   - tag: The tag of the child. If another child has it at the time, a number is put behind it.
  ///   - search: The direction of its lookups; by default that of this context.
  ///   - operation: What to run.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws.
  public func withChild<Result, Failure: Error>(
    tag: String, search: UDISearch? = nil, operation: (UDIContext) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let child = makeNumberedChild(tag: tag, search: search)
    defer { child.removeFromParent() }
    return try operation(child)
  }

  private func makeNumberedChild(tag: String, search: UDISearch?) -> UDIContext {
    if let child = try? makeChild(tag: tag, search: search) { return child }
    while true {
      let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
      if let child = try? makeChild(tag: "\(tag) #\(number)", search: search) { return child }
    }
  }

  private static let lastNumber = Atomic<UInt>(1)
}
