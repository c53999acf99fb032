/// The root of the tree, and the context of every object that is not attached to a context.
///
/// Inside ``withAppContext(_:operation:)``, this is the context that was passed to it. Otherwise it is the process's
/// root, which ``replaceAppContext(with:)`` replaces. A test, or any part of a program, can therefore run code with a
/// separate tree, without that code knowing.
public var AppContext: UDIContext {
  RootContext.ofTask ?? RootContext.ofProcess
}

/// Whether ``withAppContext(_:operation:)`` has set the current ``AppContext``.
package var hasAppContextOfTask: Bool { RootContext.ofTask != nil }

/// Runs an operation with the given context as ``AppContext``.
///
/// The context also applies in tasks that the operation starts, except detached tasks. Objects that are already
/// attached keep their context. Code that leaves the task, through Dispatch, a thread or a detached task, sees the
/// process's `AppContext`.
///
/// - Parameters:
///   - context: The root during the operation.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
public func withAppContext<Result, Failure: Error>(
  _ context: UDIContext, operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try RootContext.$ofTask.set(context, during: operation)
}

/// Runs an asynchronous operation with the given context as ``AppContext``.
///
/// - Parameters:
///   - context: The root during the operation.
///   - operation: The operation to run; it stays on the caller's actor.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func withAppContext<Result, Failure: Error>(
  _ context: UDIContext, operation: nonisolated(nonsending) () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  try await RootContext.$ofTask.set(context, during: operation)
}

/// Replaces the process's ``AppContext``, which applies to code outside ``withAppContext(_:operation:)``: for example,
/// in Dispatch queues, threads and detached tasks.
///
/// Objects that are already attached keep their context.
///
/// - Parameter context: The new root.
/// - Returns: The previous root, so that the caller can put it back.
@discardableResult
public func replaceAppContext(with context: UDIContext) -> UDIContext {
  RootContext.replace(with: context)
}

private enum RootContext {
  @TaskLocal static var ofTask: UDIContext?

  private static let lock = Lock()
  /// The process's root context, guarded by `lock`. Leak audits are not notified of the initial one, because it stays
  /// from its first use until the process ends, unless it is replaced.
  private nonisolated(unsafe) static var process = UDIContext(unaudited: "App")

  static var ofProcess: UDIContext { lock.withLock { unsafe process } }

  static func replace(with context: UDIContext) -> UDIContext {
    // The old context is returned, so it is not released under the lock.
    lock.withLock {
      let old = unsafe process
      unsafe process = context
      return old
    }
  }
}
