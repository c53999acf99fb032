/// A value that the whole process has, and that a task can replace during an operation.
final class Scoped<Value: Sendable>: Sendable {
  /// The value that a task has of its own.
  let ofTask = TaskLocal<Value?>(wrappedValue: nil)
  private let lock = Lock()
  /// Guarded by `lock`.
  private nonisolated(unsafe) var ofProcess: Value

  init(_ value: Value) { unsafe ofProcess = value }

  /// The value for the current code: the task's, or that of the process if the task has none.
  var current: Value { ofTask.get() ?? process }

  /// The value for all code whose task has none.
  var process: Value {
    get { lock.withLock { unsafe ofProcess } }
    set { _ = replaceProcess(with: newValue) }
  }

  /// Replaces the value of the process. Returns the old one, so that it is not released under the lock.
  func replaceProcess(with value: Value) -> Value { lock.withLock { unsafe exchange(&ofProcess, with: value) } }

  // The standard library's `withValue` loses the type of an error that it rethrows. So the operation's outcome is
  // passed through it as a value.

  /// Runs an operation with a value for its task, and for the tasks that it starts.
  func with<Result, Failure: Error>(
    _ value: Value, _ operation: () throws(Failure) -> Result
  ) throws(Failure) -> Result { try ofTask.withValue(value) { Swift.Result(catching: operation) }.get() }

  /// Runs an asynchronous operation with a value for its task, and for the tasks that it starts.
  nonisolated(nonsending) func with<Result, Failure: Error>(
    _ value: Value, _ operation: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let outcome = await ofTask.withValue(value) { () async -> Swift.Result<Result, Failure> in
      do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }
}
