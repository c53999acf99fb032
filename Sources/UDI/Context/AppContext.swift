/// The root of the tree, and the context of every object that is not attached to a context.
///
/// Inside ``withAppContext(_:operation:)``, this is the context that was passed to it. Otherwise it is the process's
/// root, which ``replaceAppContext(with:)`` replaces. A test, or any part of a program, can therefore run code with a
/// separate tree, without that code knowing.
public var AppContext: UDIContext { roots.current }

/// Whether ``withAppContext(_:operation:)`` has set the current ``AppContext``.
package var hasAppContextOfTask: Bool { roots.ofTask.get() != nil }

/// Runs an operation with the given context as ``AppContext``.
///
/// The context also applies in tasks that the operation starts, except detached tasks. If the operation begins to
/// follow a dependency, with `follow` or ``Followed``, the context also applies where this dependency is followed.
/// Objects that are already attached keep their context. Code that leaves the task, through Dispatch, a thread or a
/// detached task, sees the process's `AppContext`.
///
/// - Parameters:
///   - context: The root during the operation.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
public func withAppContext<Result, Failure: Error>(
  _ context: UDIContext, operation: () throws(Failure) -> Result
) throws(Failure) -> Result { try roots.with(context, operation) }

/// Runs an asynchronous operation with the given context as ``AppContext``.
///
/// - Parameters:
///   - context: The root during the operation.
///   - operation: The operation to run; it stays on the caller's actor.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func withAppContext<Result, Failure: Error>(
  _ context: UDIContext, operation: nonisolated(nonsending) () async throws(Failure) -> Result
) async throws(Failure) -> Result { try await roots.with(context, operation) }

/// Replaces the process's ``AppContext``, which applies to code outside ``withAppContext(_:operation:)``: for example,
/// in Dispatch queues, threads and detached tasks.
///
/// Objects that are already attached keep their context.
///
/// - Parameter context: The new root.
/// - Returns: The previous root, so that the caller can restore it.
@discardableResult
public func replaceAppContext(with context: UDIContext) -> UDIContext { roots.replaceProcess(with: context) }

/// Leak audits are not notified of the process's initial root, because it stays from its first use until the process
/// ends, unless it is replaced.
let roots = {
  if isRecording { reportSecondCopy() }
  return Scoped(UDIContext(unaudited: "App"))
}()

/// Reports that the process has more than one copy of the library, if this is not the first one: the runtime knows the
/// types of that one under their names.
private func reportSecondCopy() {
  if _typeByName("3UDI10UDIContextC") == UDIContext.self { return }
  // A reporter may use `AppContext`, which is being made now.
  Task {
    let message =
      "This process has more than one copy of UDI. They share nothing: link all with `UDIDynamic` in place of `UDI`."
    UDIReporter.current.report(UDIMisuse(kind: .secondCopy, message: message, fileID: "", line: 0))
  }
}
