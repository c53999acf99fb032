/// The root of the tree, and the context of every object that is attached to nothing.
///
/// Inside ``withAppContext(_:operation:)`` it is the context given there; otherwise it is the process's, which
/// ``replaceAppContext(with:)`` exchanges. So a test, or any scope of work, has a tree of its own without the code it calls
/// knowing.
public var AppContext: UDIContext {
  RootContext.ofTask ?? RootContext.ofProcess
}

/// Whether ``AppContext`` is one that ``withAppContext(_:operation:)`` has set.
package var hasAppContextOfTask: Bool { RootContext.ofTask != nil }

/// Runs an operation in which ``AppContext`` is another context: in it and in the tasks it starts, but detached ones.
///
/// Objects that are attached already keep their context. Code that leaves the task, through Dispatch, a thread or a
/// detached task, sees the process's `AppContext`.
///
/// - Parameters:
///   - context: The root for the time of the operation.
///   - operation: What to run.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
public func withAppContext<Result, Failure: Error>(
  _ context: UDIContext, operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
  // The standard library's `withValue` rethrows without a type; the outcome travels as a value.
  let outcome = RootContext.$ofTask.withValue(context) { () -> Swift.Result<Result, Failure> in
    do throws(Failure) { return .success(try operation()) } catch { return .failure(error) }
  }
  return try outcome.get()
}

/// Runs an asynchronous operation in which ``AppContext`` is another context.
///
/// - Parameters:
///   - context: The root for the time of the operation.
///   - operation: What to run; it stays on the caller's actor.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func withAppContext<Result, Failure: Error>(
  _ context: UDIContext, operation: nonisolated(nonsending) () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let outcome = await RootContext.$ofTask.withValue(context) { () async -> Swift.Result<Result, Failure> in
    do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
  }
  return try outcome.get()
}

/// Exchanges the process's ``AppContext``, for code that leaves the task: Dispatch, threads, detached tasks.
///
/// Objects that are attached already keep their context.
///
/// - Parameter context: The root from now on.
/// - Returns: The one until now, to put back.
@discardableResult
public func replaceAppContext(with context: UDIContext) -> UDIContext {
  RootContext.replace(with: context)
}

private enum RootContext {
  @TaskLocal static var ofTask: UDIContext?

  private static let lock = Lock()
  /// Guarded by `lock`. Leak audits are not told of it: it is made when it is first used, and stays.
  private nonisolated(unsafe) static var process = UDIContext(unaudited: "App")

  static var ofProcess: UDIContext { lock.withLock { unsafe process } }

  static func replace(with context: UDIContext) -> UDIContext {
    // The old one leaves with the result and is not released under the lock.
    lock.withLock {
      let old = unsafe process
      unsafe process = context
      return old
    }
  }
}
