// The standard library's `withValue` loses the type of an error that it rethrows. So here the operation's outcome is
// passed through `withValue` as a value.

extension TaskLocal {
  /// Sets the task-local value during an operation.
  func set<Result, Failure: Error>(
    _ value: Value, during operation: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outcome = withValue(value) { () -> Swift.Result<Result, Failure> in
      do throws(Failure) { return .success(try operation()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }

  /// Sets the task-local value during an asynchronous operation.
  nonisolated(nonsending) func set<Result, Failure: Error>(
    _ value: Value, during operation: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let outcome = await withValue(value) { () async -> Swift.Result<Result, Failure> in
      do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }
}
