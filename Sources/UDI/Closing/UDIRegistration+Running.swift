/// Instances that run as long as their context owns them.
extension UDIRegistration where Dependency: Sendable {
  /// Sets an operation that runs for each instance that the context owns.
  ///
  /// Use it for services that run until the context is closed.
  ///
  /// ```swift
  /// context.register(JobQueue.self) { JobQueue() }
  ///   .onClose { queue in try await queue.flush() }
  ///   .running { queue in try await queue.run() }
  /// ```
  ///
  /// The operation begins when the instance has been made, at the end of the outermost link. For instances that were
  /// passed to `provide` or exist already, it begins at once, except for those of scopes that are not in the tree now.
  /// It runs in a task of its own, without the task-local values of the code that asked for the instance. Closing the
  /// context cancels the operation, awaits its end, and only then calls `onClose`: see ``UDIContext/close()``. If the
  /// instance is dropped without having been closed, the operation is cancelled, and that is reported as
  /// ``UDIMisuse/Kind/unclosed``; closing still awaits its end.
  ///
  /// If the operation throws an error, or ends before its context is closed, ``UDIContext/untilClosed()`` throws this
  /// failure. If no caller waits there, the failure is reported as ``UDIMisuse/Kind/operationFailed``, and closing
  /// throws it, too.
  ///
  /// - Parameters:
  ///   - mayEnd: Whether the operation may end by itself, without an error, before its context is closed.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  ///   - operation: The operation. It receives the instance, and runs on its own actor. It should end when its task is
  ///     cancelled.
  /// - Returns: The same registration, for chaining.
  /// - Precondition: This is the registration of a provider under a lifetime by which a context owns the instances: not
  ///   `.unique`, `.graph` or `.weak`, and not one with a storage of your own.
  /// - Complexity: O(1); under ``UDILifetime/scope``, O(contexts in the tree).
  @discardableResult
  public func running(
    mayEnd: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ operation: @escaping @Sendable @isolated(any) (Dependency) async throws -> Void
  ) -> UDIRegistration { run(Closer.body(operation, isExact: makesExactType), mayEnd, at: UDICallSite(fileID, line)) }
}

extension UDIRegistration {
  /// Does the same as the form for `Sendable` types on the main actor, for a type that is not `Sendable`.
  @preconcurrency @MainActor @discardableResult
  public func running(
    mayEnd: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
    _ operation: @escaping @isolated(any) (Dependency) async throws -> Void
  ) -> UDIRegistration {
    let site = UDICallSite(fileID, line)
    return run(Closer.bodyOnMainActor(operation, isExact: makesExactType, site), mayEnd, at: site)
  }

  private func run(_ body: Closer.Body, _ mayEnd: Bool, at site: UDICallSite) -> UDIRegistration {
    let keepers = changeClosers("running", at: site) { $0.operation = (body, mayEnd) }
    for keeper in keepers { keeper.beginOperations() }
    return self
  }
}
